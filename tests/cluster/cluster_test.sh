# Eight ranks on two nodes of the bed, 5 and 3, one after the other and interleaved, under both MPIs: programs on the
# interposer are right, nodes send each other what a hierarchical plan has to send, no more, and ranks that call different
# things are told so; over messages of the MPI, and over tutti's own connections. TUTTI_TEST_LONG=1: more cases, three
# nodes, and links of 200 Mbit/s.
set -eu
. "$TUTTI_SOURCE/tests/cluster/support.sh"
build=$(dirname "$TUTTI_BIN")

skip() {
  echo "skipped: $1"
  exit 77
}

! grep -q '^TUTTI_SANITIZE:[A-Z]*=.' "$build/CMakeCache.txt" ||
  skip "a program without sanitizers cannot preload a library with them"
mpis=$(cd "$build/lib" && ls libtutti-*.so 2>/dev/null | sed 's/libtutti-//; s/\.so//') || true
[ -n "$mpis" ] || skip "no MPI, no interposer"

cases="--cases 15"
! is_long || cases="--passes 1"

compile() { # MPI
  mpicc.$1 -std=gnu11 -O1 "$TUTTI_SOURCE"/tests/mpi/conform/*.c -o "$work/conform-$1" -lm 2>"$work/log" ||
    { cat "$work/log"; exit 1; }
  mpicc.$1 -std=gnu11 -D_GNU_SOURCE -O1 "$here/traffic.c" -o "$work/traffic-$1" -ldl
  mpicc.$1 -std=gnu11 -O1 "$here/misuse.c" -o "$work/misuse-$1"
  mpicc.$1 -std=gnu11 -D_GNU_SOURCE -O1 -shared -fPIC "$here/wire.c" -o "$work/wire-$1.so" -ldl
}

run() { # MPI RANKS TURN PROGRAM ARGUMENTS...: on the interposer
  mpi=$1 ranks=$2 turn=$3 program=$4
  shift 4
  echo "== $mpi, by $TUTTI_MPI_TRANSPORT: $ranks ranks, in turn $turn: $program $*"
  rm -f "$work/wire"
  timeout -k 5 900 "$here/bed.sh" mpirun "$mpi" "$ranks" "$turn" env "WIRE_FILE=$work/wire" TUTTI_TIMEOUT=60s \
    "TUTTI_MPI_TRANSPORT=$TUTTI_MPI_TRANSPORT" "LD_PRELOAD=$work/wire-$mpi.so:$build/lib/libtutti-$mpi.so" \
    "$work/$program-$mpi" "$@"
}

# What they print is of interest where they fail.
run_misuse() { # MPI TURN
  run "$1" 8 "$2" misuse 2>"$work/log" || { cat "$work/log"; exit 1; }
}

up 2 1 0
for mpi in $mpis; do
  compile "$mpi"
  TUTTI_MPI_TRANSPORT=mpi
  for turn in 5,3 3,3; do
    run "$mpi" 8 $turn conform $cases --seed 1
    run "$mpi" 8 $turn traffic 5
    run_misuse "$mpi" $turn
  done
  TUTTI_MPI_TRANSPORT=tcp
  run "$mpi" 8 3,3 conform $cases --seed 3
  run "$mpi" 8 5,3 traffic 5 bytes
  run_misuse "$mpi" 5,3
done
is_long || exit 0

up 3 1 200mbit
for mpi in $mpis; do
  for TUTTI_MPI_TRANSPORT in mpi tcp; do
    for turn in 4,1,3 1,1,1; do
      run "$mpi" 8 $turn conform --cases 200 --seed 2
    done
  done
done
