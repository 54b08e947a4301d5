# `tutti mpirun` finds launcher and library, passes on arguments, variables and exit codes, and says what is wrong.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # Open MPI 4; 5
before=${before:-}
preload=${before%:}

fail() {
  echo "$1"
  cat "$work/said"
  exit 1
}

# expect CODE TEXT ARGUMENTS...: of tutti mpirun
expect() {
  wanted=$1 text=$2
  shift 2
  code=0
  LD_PRELOAD=$preload timeout -k 5 120 "$TUTTI_BIN/tutti" mpirun "$@" >"$work/said" 2>&1 || code=$?
  [ $code = "$wanted" ] || fail "tutti mpirun $*: exit code $code, not $wanted"
  grep -q -e "$text" "$work/said" || fail "tutti mpirun $*: no '$text' in"
}

# Whether the MPI's launcher starts two programs at once: PRRTE 3.0.8 crashes.
takes_two() {
  mpi_plain $1 1 true : -n 1 true >"$work/said" 2>&1 || { echo "$1: its launcher cannot start two programs"; false; }
}

for mpi in $mpis; do
  mpi_build $mpi mpirun
  program=$work/mpirun-$mpi
  expect 0 "^2 ranks, 2 with tutti, 0 with another" -n 2 "$program"
  ! takes_two $mpi || expect 0 "^3 ranks, 3 with tutti" --mpi $mpi -n 1 "$program" : -n 2 "$program"
  expect 0 "all .* 100.00%" --mpi $mpi --stats -n 2 sh -c "$program" # which does not say
  expect 0 "^2 ranks, 2 with tutti" --off -n 2 "$program"
  expect 0 "TUTTI_MPI.always" --always --show -n 2 "$program"
  expect 7 "^1 ranks" -n 1 "$program" 7
  OMPI_MPI_THREAD_LEVEL=3 MPIR_CVAR_DEFAULT_THREAD_LEVEL=MPI_THREAD_MULTIPLE expect 0 "level 3" -n 2 "$program"
  expect 0 "genv TUTTI_MPI_ONLY bcast\|-x TUTTI_MPI_ONLY=bcast" --only bcast --show -n 2 "$program"
  other=$(find /usr/lib /usr/local/lib -name 'libcmocka.so*' 2>/dev/null | head -n 1)
  preload=$before$other
  expect 0 "^2 ranks, 2 with tutti, 2 with another" -n 2 "$program"
  preload=$before$(printf '%5000s' "" | tr ' ' :)$other
  expect 0 "::$other:[^:]*libtutti" --show -n 2 "$program"
  preload=${before%:}
done
case $mpis in
*openmpi*)
  for option in --app -app; do # after which its launcher would start ranks without tutti
    expect 2 "ignores all options beside $option;" --mpi openmpi --stats $option "$work/list"
  done
  expect 0 " --app\$" --mpi openmpi --show -n 1 true --app # the program's
  if [ "$(id -u)" = 0 ]; then # the launcher's error, and where its option goes
    unset OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM
    expect 1 "Add --allow-run-as-root after" -n 1 "$work/mpirun-openmpi"
    expect 0 "^1 ranks, 1 with tutti" --allow-run-as-root -n 1 "$work/mpirun-openmpi"
    if grep -q "unless you allow it" "$work/said"; then fail "it is said though root is allowed"; fi
  fi
  ;;
esac
expect 0 " 'it'[\\]''s'\$" --mpi ${mpis##* } --show -n 1 true "it's"
expect 2 "neither openmpi nor mpich" --mpi lam -n 1 true
expect 2 "the program is missing" --stats
expect 127 "launcher '/none' not found" --mpirun /none -n 1 true
expect 127 "cannot tell which MPI" --mpirun true -n 1 true
expect 0 "^usage: tutti mpirun" --help
case $mpis in
*openmpi*mpich*) expect 127 "is a program of MPICH, but mpirun.openmpi is the launcher of Open MPI" \
  --mpirun mpirun.openmpi -n 1 "$work/mpirun-mpich" ;;
esac
