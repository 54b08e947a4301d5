# A call that one rank refuses is an error there, on those that wait for it too, and on no later call: on one machine and
# across machines that are only said to be some; programs that know nothing of tutti.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

for mpi in $mpis; do
  mpi_build $mpi refused
  for ranks in 2 5 ${long:+3}; do
    mpi_run $mpi $ranks "$work/refused-$mpi" 0 2>"$work/said" || { cat "$work/said" && exit 1; }
    mpi_run $mpi $ranks "$work/refused-$mpi" 1 2>"$work/said" || { cat "$work/said" && exit 1; }
  done
  for refuser in 0 3; do
    TUTTI_NODES=2x2 mpi_run $mpi 4 "$work/refused-$mpi" $refuser 2>"$work/said" || { cat "$work/said" && exit 1; }
  done
done
