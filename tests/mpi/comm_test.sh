# Communicators of every making, children of children, many of them, from several threads, with every topology, and of
# several jobs.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

loops=3000 # communicators, more than MPICH can have at a time
[ -z "$long" ] || loops=10000

for mpi in $mpis; do
  for program in comm_made comm_family comm_many comm_neighbors comm_threads comm_spawn; do
    mpi_build $mpi $program
  done
  for ranks in 1 2 3 4; do
    mpi_run $mpi $ranks "$work/comm_made-$mpi"
    mpi_run $mpi $ranks "$work/comm_neighbors-$mpi"
  done
  for ranks in 2 3 4; do
    for nodes in "" 1,$((ranks - 1)); do
      TUTTI_NODES=$nodes mpi_run $mpi $ranks "$work/comm_family-$mpi" $ranks
    done
  done
  mpi_run $mpi 2 "$work/comm_many-$mpi" $loops
  mpi_run $mpi 3 "$work/comm_many-$mpi" 200 20
  mpi_run $mpi 2 "$work/comm_threads-$mpi"
  mpi_run $mpi 3 "$work/comm_threads-$mpi" 10
done

# Debian's MPICH cannot spawn.
case $mpis in *openmpi*) mpi_run openmpi 2 "$work/comm_spawn-openmpi" ;; esac
