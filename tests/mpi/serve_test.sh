# Every type with every operator. Random calls of every collective, types and layouts, compared over all the memory around them; and legal calls at the
# edge of what tutti takes. (Calls of one rank are MPI's own.) TUTTI_TEST_LONG=1: many seeds, and calls of gigabytes.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

seeds=1 trials=300 large=
if [ -n "${TUTTI_TEST_LONG:-}" ]; then seeds=$(seq 40) trials=600 large=large; fi

for mpi in $mpis; do
  mpi_build $mpi serve_edges
  mpi_build $mpi serve_ops
  for ranks in 3 ${long:+2}; do
    mpi_run $mpi $ranks env TUTTI_STATS="$work/ops.json" "$work/serve_ops-$mpi" taken
    grep -q '"native": 1[.,}]' "$work/ops.json" || { cat "$work/ops.json" && exit 1; }
    mpi_run $mpi $ranks "$work/serve_ops-$mpi" refused
  done
  "mpicc.$mpi" -std=gnu11 -D_GNU_SOURCE -O1 -g -w -o "$work/random-$mpi" "$TUTTI_SOURCE"/tests/mpi/random/*.c
  for ranks in 2 3 5; do
    mpi_run $mpi $ranks "$work/serve_edges-$mpi"
    for seed in $seeds; do
      mpi_run $mpi $ranks "$work/random-$mpi" $seed $trials
    done
  done
  if [ -n "$large" ]; then mpi_run $mpi 2 "$work/serve_edges-$mpi" $large; fi
done
