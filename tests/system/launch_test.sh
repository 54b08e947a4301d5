# Programs start under each launcher that is here: contexts one after the other, ranks that never come, ranks that end
# early, programs that use MPI too, and words for what is wrong with a launcher's connection.
set -eu
. "$TUTTI_SOURCE/tests/support/installed.sh"
case $sanitize in
*thread*) echo "launchers' libraries under the thread sanitizer"; exit 77 ;;
# launchers' libraries leak, and libpmix 5.0 compares names that it has freed while it waits for several ranks
*address*)
  echo "interceptor_via_fun:PMIx_Check_nspace" >"$work/known"
  export ASAN_OPTIONS="detect_leaks=0:suppressions=$work/known"
  ;;
esac
ulimit -c 0
export SLURM_KILL_BAD_EXIT=1 # the others end with one that fails, as everywhere else
export BED="launch.$$"
bed() { sh "$TUTTI_SOURCE/tests/cluster/bed.sh" "$@"; }
slurm=no
trap 'bed down; rm -rf "$work"' EXIT

# build NAME COMPILER FLAGS...
build() {
  name=$1
  shift
  "$@" -std=gnu11 -Wall -Wextra -Werror ${sanitize:+-fsanitize=$sanitize} "$TUTTI_SOURCE/tests/system/launch.c" \
    -o "$work/$name" $(pkg-config --cflags --libs tutti)
}
build launch cc

# start LAUNCHER RANKS COMMAND...: what it prints, and the ranks, is in $work/out
start() {
  launcher=$1 ranks=$2
  shift 2
  case $launcher in
  tutti) set -- "$TUTTI_BIN/tutti" run -n "$ranks" "$@" ;;
  openmpi) set -- mpirun.openmpi --allow-run-as-root --oversubscribe -n "$ranks" "$@" ;;
  prrte) set -- prterun --allow-run-as-root --map-by :oversubscribe -n "$ranks" "$@" ;;
  mpich) set -- mpiexec.mpich -n "$ranks" "$@" ;;
  pmi2 | pmix) set -- sh "$TUTTI_SOURCE/tests/cluster/bed.sh" srun "$launcher" "$ranks" "$ranks" "$@" ;;
  esac
  timeout -k 5 120 "$@" >"$work/out" 2>&1
}

fail() {
  echo "$*:"
  cat "$work/out"
  exit 1
}

# end_early LAUNCHER HOW: rank 2 of 3 is absent or dead; the launcher ends by itself, with a failure
end_early() {
  status=0
  TUTTI_CREATE_TIMEOUT=3 start "$1" 3 "$work/launch" 3 "$2" 2 || status=$?
  case $status in
  0 | 124 | 137) fail "$1: rank 2 is $2: status $status" ;;
  esac
}

# Whether tutti was built for PMIx.
has_pmix() { grep -q "^PMIX_FOUND:INTERNAL=1" "$(dirname "$TUTTI_BIN")/CMakeCache.txt"; }

is_here() {
  case $1 in
  tutti) ;;
  openmpi) has_pmix && command -v mpirun.openmpi ;;
  prrte) has_pmix && command -v prterun ;;
  mpich) command -v mpiexec.mpich ;;
  pmi2) [ $slurm = yes ] ;;
  pmix) [ $slurm = yes ] && has_pmix ;;
  esac >/dev/null
}

if bed up 1 1 0 && bed slurm; then slurm=yes; fi

# check LAUNCHER MISSING: the words for a rank 2 that is missing
check() {
  launcher=$1
  is_here "$launcher" || { echo "$launcher: not here, not tested"; return 0; }
  for ranks in 1 3; do
    start "$launcher" $ranks "$work/launch" $ranks 3 || fail "$launcher: $ranks ranks"
    [ "$(grep -c '^rank [0-2]: right$' "$work/out")" = $((3 * ranks)) ] || fail "$launcher: $ranks ranks"
  done
  end_early "$launcher" absent
  grep -Eq "gave up waiting for ranks: $2" "$work/out" || fail "$launcher: rank 2 is absent"
  end_early "$launcher" dead
  echo "$launcher: right"
}
unknown='unknown \(PMI does not say which\)'
check tutti '(.*, )?2'
check openmpi '(.*, )?2'
check prrte '(.*, )?2'
check mpich "$unknown"
check pmix '(.*, )?2'
check pmi2 "$unknown"

# Whether an Open MPI begins in a process that speaks PMIx already, with no tutti in it: 4.1 does, 5.0 does not.
begins_late() {
  printf '%s\n' '#include <mpi.h>' '#include <pmix.h>' 'int main(void) {' '  pmix_proc_t self;' \
    '  if (PMIx_Init(&self, NULL, 0) != PMIX_SUCCESS) return 1;' '  MPI_Init(NULL, NULL);' '  MPI_Finalize();' \
    '  return PMIx_Finalize(NULL, 0) != PMIX_SUCCESS;' '}' >"$work/late.c"
  mpicc.openmpi "$work/late.c" -o "$work/late" $(pkg-config --cflags --libs pmix) && start openmpi 2 "$work/late"
}

# check_mpi MPI LAUNCHER WHEN...
check_mpi() {
  mpi=$1 launcher=$2
  if ! is_here "$launcher" || ! command -v "mpicc.$mpi" >/dev/null; then return 0; fi
  build "launch-$mpi" "mpicc.$mpi" -DWITH_MPI
  shift 2
  if [ "$mpi" = openmpi ] && ! begins_late; then
    echo "openmpi under $launcher: this Open MPI does not begin in a process that has begun PMIx: not tested before it"
    set -- amid amid,after
  fi
  for when in "$@"; do
    start "$launcher" 2 "$work/launch-$mpi" 2 "$when" || fail "$mpi under $launcher, $when"
    echo "$mpi under $launcher, $when: right"
  done
}
check_mpi openmpi openmpi amid before,amid,after
check_mpi mpich mpich amid before,amid
check_mpi openmpi pmix before,amid
check_mpi mpich pmix before,amid

# says TEXT ENVIRONMENT...: a rank in that environment fails with these words
says() {
  text=$1
  shift
  env "$@" "$work/launch" 1 1 >"$work/out" 2>&1 && fail "$*"
  grep -q "$text" "$work/out" || fail "$*: not '$text'"
}
says "PMI_FD is 'x'" PMI_FD=x
says 'PMI_RANK is not in the environment' PMI_FD=5
says 'PMI_RANK is 5, which is not a rank of a job of 3' PMI_FD=5 PMI_RANK=5 PMI_SIZE=3
says 'PMI_FD is 99, but that is not a socket' PMI_FD=99 PMI_RANK=0 PMI_SIZE=2
says PMIX_RANK PMIX_RANK=0 PMIX_NAMESPACE=nobody
for tasks in SLURM_STEP_NUM_TASKS PMI_SIZE MPI_LOCALNRANKS; do
  env $tasks=2 "$work/launch" 1 1 >"$work/out" 2>&1 || fail "$tasks"
  grep -q "$tasks is 2, but .* a job of its own" "$work/out" || fail "$tasks"
done

# A launcher in a shell that another one has started: the outer one's variables count.
for tasks in SLURM_STEP_NUM_TASKS PMI_SIZE OMPI_COMM_WORLD_SIZE WORLD_SIZE; do
  start tutti 1 env $tasks=2 "$work/launch" 1 1 || fail "$tasks in tutti run"
  grep -q "$tasks is 2, but by TUTTI_BOOT, .* a job of one rank" "$work/out" || fail "$tasks in tutti run"
  start tutti 2 env $tasks=2 "$work/launch" 2 1 || fail "$tasks in tutti run of two"
  ! grep -q "$tasks is" "$work/out" || fail "$tasks in tutti run of two"
done
