# A collective in a process that a rank has forked is an error there, and nowhere else.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

for mpi in $mpis; do
  mpi_build $mpi fork_calls
  mpi_run $mpi 3 "$work/fork_calls-$mpi" >"$work/output" 2>&1 || { cat "$work/output"; exit 1; }
  grep -q 'all is well' "$work/output" || { cat "$work/output"; exit 1; }
done
