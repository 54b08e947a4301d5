# Many ranks on one machine: sums, errors and deaths reach all of them, and what a rank needs for it does not grow with
# their number: descriptors, and system calls as far as they do not depend on time.
set -eu
. "$TUTTI_SOURCE/tests/support/installed.sh"
ulimit -c 0
many=256 few=128 # ranks, and descriptors that they and the launcher are allowed
[ -z "$sanitize" ] || many=112 few=100
cc -std=gnu11 -Wall -Wextra -Werror ${sanitize:+-fsanitize=$sanitize} "$TUTTI_SOURCE/tests/system/many.c" \
  -o "$work/many" $(pkg-config --cflags --libs tutti)

# start RANKS HOW: what they print is in $work/out; the status is that of the job
start() {
  timeout -k 5 600 "$TUTTI_BIN/tutti" run -n "$1" "$work/many" "$2" >"$work/out" 2>&1
}

fail() {
  echo "$*:"
  head -n 20 "$work/out"
  exit 1
}

# expect_lines COUNT TEXT WHAT
expect_lines() {
  lines=$(grep -c "$2" "$work/out" || true)
  [ "$lines" = "$1" ] || fail "$3: $lines of $1 lines have '$2'"
}

descriptors_with() {
  start "$1" sums || fail "sums of $1 ranks"
  expect_lines "$1" "^descriptors" "sums of $1 ranks"
  sort -u "$work/out"
}
of_few=$(descriptors_with 6)
of_more=$(descriptors_with 50)
[ "$of_few" = "$of_more" ] || fail "6 ranks have $of_few, 50 have $of_more"

(
  ulimit -Sn 48
  start 72 sums || fail "72 ranks under ulimit -Sn 48"
)
expect_lines 72 "of 48\$" "72 ranks under ulimit -Sn 48"
(
  ulimit -n "$few" # for good: not all ranks find a place with the launcher
  start "$many" sums || fail "$many ranks under ulimit -n $few"
)
expect_lines "$many" "of $few\$" "$many ranks under ulimit -n $few"

if [ -n "${TUTTI_TEST_LONG:-}" ] && [ -z "$sanitize" ]; then
  (
    ulimit -n 1024
    start 1024 sums || fail "1024 ranks under ulimit -n 1024"
  )
  expect_lines 1024 "of 1024\$" "1024 ranks"
fi

start 72 differ || fail "72 ranks that differ"
expect_lines 72 "rank 71 called barrier" "72 ranks that differ"
start 72 part || fail "72 ranks with two roots"
grep -q "rank 1 called broadcast" "$work/out" || fail "72 ranks with two roots"
! start 72 die || fail "72 ranks, of which one dies"
expect_lines 71 "rank 5 (rank 5 of the job) died" "72 ranks, of which one dies"

# calls_of RANKS: of each, in hundredths, without those by which it waits and looks around
calls_of() {
  time='!futex,membarrier,sched_yield,poll,ppoll,epoll_wait,wait4,fcntl,clock_gettime,clock_getres,restart_syscall'
  ASAN_OPTIONS=detect_leaks=0 timeout -k 5 600 strace -f -c -o "$work/calls" -e trace="$time" \
    "$TUTTI_BIN/tutti" run -n "$1" "$work/many" none >"$work/out" 2>&1 || fail "$1 ranks under strace"
  awk -v ranks="$1" '$NF == "total" { print int(100 * $4 / ranks) }' "$work/calls"
}
command -v strace >/dev/null || { echo "strace is not installed: ranks' system calls were not counted"; exit 1; }
of_few=$(calls_of 24)
of_more=$(calls_of 96)
echo "system calls of each rank in a job of 24: $of_few / 100, of 96: $of_more / 100"
[ "$of_more" -le $((of_few * 12 / 10)) ] || fail "system calls of a rank grow with the ranks"
