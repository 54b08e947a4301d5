# Communicators of every making, many of them, from several threads, with every topology, and of several jobs.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

for mpi in $mpis; do
  for program in comm_made comm_many comm_neighbors comm_threads comm_spawn; do
    mpi_build $mpi $program
  done
  for ranks in 1 2 3 4; do
    mpi_run $mpi $ranks "$work/comm_made-$mpi"
    mpi_run $mpi $ranks "$work/comm_neighbors-$mpi"
  done
  mpi_run $mpi 2 "$work/comm_many-$mpi"
  mpi_run $mpi 3 "$work/comm_many-$mpi" 200 20
  mpi_run $mpi 2 "$work/comm_threads-$mpi"
  mpi_run $mpi 3 "$work/comm_threads-$mpi" 10
done

# Debian's MPICH cannot spawn.
case $mpis in *openmpi*) mpi_run openmpi 2 "$work/comm_spawn-openmpi" ;; esac
