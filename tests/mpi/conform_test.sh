# Every collective, by a suite that knows nothing of tutti: all right, and 95 % of the calls on tutti.
# TUTTI_TEST_LONG=1: all combinations instead of a sample, up to 9 ranks, and the suite itself on the MPIs alone.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"
export TUTTI_STATS="$work/stats.json"

for mpi in $mpis; do
  "mpicc.$mpi" -std=gnu11 -D_GNU_SOURCE -O2 -w -o "$work/conform-$mpi" "$TUTTI_SOURCE"/tests/mpi/conform/*.c
  for ranks in 1 2 3 5 8 ${long:+4 6 7 9}; do
    cases="--cases 100 --seed $ranks"
    if [ -n "${TUTTI_TEST_LONG:-}" ]; then cases="--passes 1"; fi
    mpi_run $mpi $ranks "$work/conform-$mpi" $cases
    mpi_served "$TUTTI_STATS"
  done
  if [ -n "${TUTTI_TEST_LONG:-}" ]; then mpi_plain $mpi 2 "$work/conform-$mpi" --plain 1 --cases 2000; fi
done
