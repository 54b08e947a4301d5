# kill -9 of a rank while others read its memory by the shared heap: they get an error that names it, nobody dies of it, and
# nothing is left. TUTTI_TEST_LONG=1: 100 kills.
set -eu
lib=$(dirname "$TUTTI_BIN")/lib
if grep -q '^TUTTI_SANITIZE:.*=.' "$lib/../CMakeCache.txt"; then echo "the heap is off in programs with a sanitizer"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
kills=3 ranks=3
if [ -n "${TUTTI_TEST_LONG:-}" ]; then kills=100; fi

cc -std=gnu11 -O1 -Wall -I"$TUTTI_SOURCE/include" -o "$work/kills" "$TUTTI_SOURCE/tests/heap/programs/kills.c" \
  -L"$lib" -ltutti -Wl,-rpath,"$lib"
for seed in $(seq $kills); do
  code=0
  timeout -k 5 120 "$TUTTI_BIN/tutti" run --shared-heap -n $ranks "$work/kills" "$seed" >"$work/said" 2>&1 || code=$?
  # The code is that of whoever `tutti run` hears of first.
  if [ $code != 137 -a $code != 3 ] || [ "$(grep -c 'it was named' "$work/said")" != $((ranks - 1)) ]; then
    echo "seed $seed: exit code $code"
    cat "$work/said"
    exit 1
  fi
done
