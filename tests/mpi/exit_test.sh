# A rank that ends in the middle of a job ends it, with its exit code, also where other ranks find first that it is dead:
# they leave it to the launcher. MPICH's ends all ranks then, and tells the code of whom it reaps first; on a loaded
# machine a launcher may come too late. So what is expected is seen in one of a few tries.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

# try RANKS ARGUMENTS...: $code, and $work/said
try() {
  ranks=$1 code=0
  shift
  mpi_run $mpi $ranks "$work/exit_calls-$mpi" "$@" >"$work/said" 2>&1 || code=$?
  [ $code != 0 ] && [ $code != 124 ]
}

gives_code() { try 2 && [ $code = 3 ]; }
leaves_it() { try $1 late && ! grep -q 'Fatal error\|MPI_ERRORS_ARE_FATAL' "$work/said"; }

# once COMMAND...: in one of ten tries
once() {
  for _ in 1 2 3 4 5 6 7 8 9 10; do
    if "$@"; then return; fi
  done
  echo "$mpi: $*: exit code $code"
  cat "$work/said"
  exit 1
}

for mpi in $mpis; do
  mpi_build $mpi exit_calls
  once gives_code
  once leaves_it 2
  once leaves_it 3
done
