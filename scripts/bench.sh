#!/bin/sh
# All measurements: every collective beside Open MPI and MPICH with 2, 4 and 8 ranks, the cost of bits that do not depend
# on placement, MPI programs with tutti and without and what they take to start, what computation hides, then the programs
# of bench/.
set -eu
cd "$(dirname "$0")/.."
tutti=build/bin/tutti
for ranks in 2 4 8; do
  $tutti bench all -n $ranks --against openmpi,mpich
  $tutti bench all-to-allv -n $ranks --sparse --against openmpi,mpich
  $tutti bench allreduce reduce reduce-scatter scan -n $ranks --reproducible
  for mpi in openmpi mpich; do
    $tutti bench allreduce broadcast allgather reduce-scatter all-to-all -n $ranks --sizes 8..16M \
      --library $mpi+tutti --against $mpi,tutti
  done
done
$tutti bench allreduce -n 2 --sizes 64K..16M --overlap --against openmpi,mpich
python3 scripts/bench_start.py
TUTTI_PROGRESS=thread $tutti bench allreduce -n 2 --sizes 64K..16M --overlap
$tutti run -n 2 --bind none build/bin/bench_overlap
$tutti run -n 8 build/bin/bench_comms
scripts/bench_comms.py
for program in kernels plans transport wait; do
  echo "== bench_$program"
  build/bin/bench_$program
done
