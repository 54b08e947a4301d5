# Builds MPI programs and runs them under the interposers that were built. For tests in sh, which source this: $mpis are
# the MPIs, $work is a folder, gone afterwards.
library=$(dirname "$TUTTI_BIN")/lib
mpis=
for mpi in openmpi mpich; do
  if [ -e "$library/libtutti-$mpi.so" ]; then mpis="$mpis $mpi"; fi
done
if [ -z "$mpis" ]; then echo "no MPI"; exit 77; fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
ulimit -c 0
long= # does more
if [ -n "${TUTTI_TEST_LONG:-}" ]; then long=yes; fi

# Libraries with sanitizers need theirs before them. MPIs leak; the thread sanitizer does not see how they lock.
sanitize=$(grep -o '^TUTTI_SANITIZE:.*' "$(dirname "$TUTTI_BIN")/CMakeCache.txt" | cut -d= -f2)
case $sanitize in
*thread*) echo "MPI under the thread sanitizer"; exit 77 ;;
*address*) before=$(cc -print-file-name=libasan.so): ASAN_OPTIONS=detect_leaks=0 ;;
esac
export ASAN_OPTIONS
export OMPI_MCA_btl_tcp_if_include=lo # Open MPI 5 finds no other way by TCP to the machine itself
cc -D_GNU_SOURCE -O1 -shared -fPIC -o "$work/yield.so" -x c "$TUTTI_SOURCE/bench/mpi/yield.h"
export BENCH_YIELD=1

# For tests that start MPI's own launchers: as root, with more ranks than cores, and with $preload before all libraries.
mpi_launchers() {
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
  preload=${before:-}
  preload=${preload%:}
}

# mpi_build MPI NAME: tests/mpi/NAME.c -> $work/NAME-MPI
mpi_build() {
  "mpicc.$1" -std=gnu11 -D_GNU_SOURCE -O1 -g -w -o "$work/$2-$1" "$TUTTI_SOURCE/tests/mpi/$2.c" -lpthread
}

# mpi_run MPI RANKS COMMAND...: with the interposer loaded into each rank.
mpi_run() {
  mpi=$1 ranks=$2
  shift 2
  mpi_plain $mpi $ranks env LD_PRELOAD="${before:-}$library/libtutti-$mpi.so:$work/yield.so" "$@"
}

# mpi_plain MPI RANKS COMMAND...: the MPI alone.
mpi_plain() {
  mpi=$1 ranks=$2
  shift 2
  case $mpi in
  openmpi) timeout -k 5 480 mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 \
    -n "$ranks" "$@" ;;
  mpich) timeout -k 5 480 mpiexec.hydra -n "$ranks" "$@" ;;
  esac
}

# mpi_served FILE: fails where less than 95 % of the collective calls in that report of TUTTI_STATS ran on tutti.
mpi_served() {
  python3 -c 'import json, sys
report = json.load(open(sys.argv[1]))
if report["native"] < 0.95 or report["served"] == 0:
    sys.exit(f"""{report["served"]} calls on tutti, {report["passed"]} passed through: {report["collectives"]}""")' "$1"
}
