# The transport of bindings/mpi without the interposer: all collectives in random orders, on several communicators, over
# messages alone and between nodes that are only said to be some; slots that MPI sends at once, and long ones that it
# sends while it is called.
set -eu
build=$(dirname "$TUTTI_BIN")
sanitize=$(grep -o '^TUTTI_SANITIZE:.*' "$build/CMakeCache.txt" | cut -d= -f2)
rounds=8 long=
[ -z "${TUTTI_TEST_LONG:-}" ] || { rounds=100 long=yes; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TUTTI_TIMEOUT=60s ASAN_OPTIONS=detect_leaks=0 # MPI's own leaks

compile() { # MPI
  cd "$TUTTI_SOURCE"
  mpicc.$1 -std=gnu11 -D_GNU_SOURCE -O1 -g ${sanitize:+-fsanitize=$sanitize} -I. -Iinclude -Isrc -Itests \
    tests/mpi/transport_calls.c bindings/mpi/pipes.c bindings/mpi/transport.c "$build/lib/libtutti.a" \
    $(pkg-config --cflags --libs jansson hwloc libsodium) -lpthread -ldl -lm -o "$work/calls-$1"
}

launch() { # MPI RANKS COMMAND...
  mpi=$1 ranks=$2
  shift 2
  case $mpi in
  openmpi) timeout -k 5 300 mpirun.openmpi --allow-run-as-root --oversubscribe --mca mpi_yield_when_idle 1 -n "$ranks" "$@" ;;
  mpich) timeout -k 5 300 mpiexec.mpich -n "$ranks" "$@" ;;
  esac
}

run() { # MPI RANKS NODES
  seed=${TUTTI_TEST_SEED:-$(date +%s)}
  echo "== $1: $2 ranks, ${3} nodes, TUTTI_TEST_SEED=$seed, slots ${TUTTI_SLOT_BYTES:-as they are}"
  rm -f "$work/memory"
  launch "$1" "$2" "$work/calls-$1" "$work/memory" "$seed" $rounds "$3"
}

found=
for mpi in openmpi mpich; do
  command -v mpicc.$mpi >/dev/null || continue
  found=yes
  compile $mpi
  for ranks in 1 2 3 5 8 ${long:+4 6 7 9}; do
    run $mpi $ranks 0
  done
  TUTTI_SLOT_BYTES=1M run $mpi 4 0
  TUTTI_SLOT_BYTES=4K run $mpi 5 0
  run $mpi 5 2
  OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=lo run $mpi 5 2
  TUTTI_SLOT_BYTES=1M run $mpi 8 3
done
[ -n "$found" ] || { echo "skipped: there is no MPI"; exit 77; }
