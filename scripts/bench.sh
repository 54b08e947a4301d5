#!/bin/sh
# All measurements: every collective beside Open MPI and MPICH with 2, 4 and 8 ranks, then the programs of bench/.
set -eu
cd "$(dirname "$0")/.."
for ranks in 2 4 8; do
  build/bin/tutti bench allreduce broadcast allgather reduce-scatter barrier -n $ranks --against openmpi,mpich
done
for program in build/bin/bench_*; do
  [ -x "$program" ] || continue
  echo "== $program"
  "$program"
done
