# A variable of the environment that is named like an option and is none is said, once for a job.
set -eu
. "$TUTTI_SOURCE/tests/support/expect.sh"

# said COUNT: so many warnings in what the last command said
said() {
  lines=$(grep -c "is not a variable of tutti" "$work/out" || true)
  [ "$lines" = "$1" ] && return
  echo "$lines warnings for $1:"
  cat "$work/out"
  exit 1
}

expect 0 "TUTTI_VERFIY is not a variable of tutti; did you mean TUTTI_VERIFY?" \
  env TUTTI_VERFIY=1 "$TUTTI_BIN/tutti" run -n 3 "$TUTTI_BIN/examples/hello"
said 1
expect 0 "TUTTI_BANANA is not a variable of tutti (" \
  env TUTTI_BANANA= TUTTI_TIMEOUTS=3 "$TUTTI_BIN/tutti" run -n 3 "$TUTTI_BIN/examples/hello"
said 2
expect 0 "rank 0 of 3" env TUTTI_BANANA=1 TUTTI_LOG=0 "$TUTTI_BIN/tutti" run -n 3 "$TUTTI_BIN/examples/hello"
said 0
expect 0 "rank 0 of 3" env TUTTI_MPI_ONLY=1 TUTTI_STATS=1 TUTTI_TEST_SEED=1 TUTTIFOO=1 TUTTI_VERIFY=0 TUTTI_SPIN=1 \
  "$TUTTI_BIN/tutti" run -n 3 "$TUTTI_BIN/examples/hello"
said 0
