# bench_comms counts what one machine's shared memory holds, over at least one call: it says what it cannot do.
set -eu
tutti=$TUTTI_BIN/tutti
. "$TUTTI_SOURCE/tests/support/expect.sh"

for count in 0 -1 1x nonsense 1000001; do
  expect 2 "COUNT '$count': 1 to 1000000" "$tutti" run -n 2 "$TUTTI_BIN/bench_comms" "$count"
done
expect 1 'all ranks must be on one machine' env TUTTI_NODES=2x1 "$tutti" run -n 2 "$TUTTI_BIN/bench_comms" 1
expect 0 '^then 800 KB' "$tutti" run -n 2 "$TUTTI_BIN/bench_comms" 1
