#!/bin/sh
# How long a job of many ranks on one machine takes to come up, to add its numbers and to end, beside processes that are
# linked with libtutti and do nothing, in turns; and how many system calls a rank makes for it. Under `ulimit -n 1024`.
# bench_many.sh [ROUNDS]
set -eu
cd "$(dirname "$0")/.."
rounds=${1:-9}
tutti=build/bin/tutti hello=build/bin/examples/hello
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ulimit -n 1024
cat >"$work/bare.c" <<'PROGRAM'
#include <tutti/tutti.h>
int main(void) { return *tutti_status_name(TUTTI_OK) == '\0'; }
PROGRAM
cc -Iinclude "$work/bare.c" -o "$work/bare" -Lbuild/lib -ltutti -Wl,-rpath,"$PWD/build/lib"

# timed NAME RANKS PROGRAM: seconds, of the user and of the system, are added to $work/NAME
timed() {
  bash -c 'TIMEFORMAT="%R %U %S"; time "$0" run -n "$1" "$2" >/dev/null' "$tutti" "$2" "$3" 2>>"$work/$1" || {
    tail -n 5 "$work/$1" >&2
    exit 1
  }
}

# median NAME FIELD
median() { cut -d' ' -f"$2" "$work/$1" | sort -n | sed -n "$(((rounds + 1) / 2))p"; }

echo "ranks   seconds  user  system   bare  (medians of $rounds)"
for ranks in 128 512 1024; do
  rm -f "$work/hello" "$work/none"
  for round in $(seq "$rounds"); do
    timed hello "$ranks" "$hello"
    timed none "$ranks" "$work/bare"
  done
  printf '%5d %9.2f %5.2f %7.2f %6.2f\n' "$ranks" "$(median hello 1)" "$(median hello 2)" "$(median hello 3)" \
    "$(median none 1)"
done
for ranks in 64 128; do
  strace -f -c -o "$work/calls" "$tutti" run -n "$ranks" "$hello" >/dev/null
  awk -v ranks="$ranks" '$NF == "total" { printf "%d ranks: %.1f system calls each\n", ranks, $4 / ranks }' "$work/calls"
done
