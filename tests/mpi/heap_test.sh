# MPI programs with the shared heap: every collective right where blocks of 4 KiB are of it, too; `--shared-heap` preloads
# it, calls lend blocks of malloc, and a program that forks, frees and takes anew between calls reads what it should; a rank
# that is killed takes nobody with it.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"
mpi_launchers
if [ -n "$sanitize" ]; then echo "the heap is off in programs with a sanitizer"; exit 77; fi
cases=40 kills=3 receives=1
if [ -n "${TUTTI_TEST_LONG:-}" ]; then cases=2000 kills=100 receives=100; fi

# served ARGUMENTS...: of tutti mpirun with the heap; what was printed is in $work/said.
served() {
  TUTTI_HEAP=${TUTTI_HEAP:-on} timeout -k 5 ${limit:-240} "$TUTTI_BIN/tutti" mpirun --mpi $mpi "$@" >"$work/said" 2>&1 ||
    { echo "$mpi: exit code $? of $*"; cat "$work/said"; exit 1; }
}

# calls LENT WHAT...: heap_calls does WHAT right, and calls lend it or not.
calls() {
  lends=$1
  shift
  served ${option:-} --stats -n 3 "$work/heap_calls-$mpi" "$@"
  grep -q 'all is well' "$work/said" || { cat "$work/said"; exit 1; }
  lent=$(grep -c 'by .*lent' "$work/said" || true)
  case $lends$lent in
  yes0 | no[1-9]*) echo "$mpi: with TUTTI_HEAP=${TUTTI_HEAP:-on} $lent calls lent: heap_calls $*"; cat "$work/said"; exit 1 ;;
  esac
}

# killed SEED: a rank is, while others read its memory. The launcher ends the job; nobody dies of another signal.
killed() {
  code=0
  timeout -k 5 240 "$TUTTI_BIN/tutti" mpirun --mpi $mpi --shared-heap -n 3 "$work/heap_kills-$mpi" $1 >"$work/said" 2>&1 || code=$?
  if [ $code = 0 ] || [ $code = 124 ] || ! grep -Eq 'signal 9| died$' "$work/said" ||
    grep -E 'Bus error|Segmentation|signal (7|11)' "$work/said" ||
    grep 'TUTTI_ERR' "$work/said" | grep -v ' died$'; then
    echo "$mpi, seed $1: exit code $code"
    cat "$work/said"
    exit 1
  fi
}

for mpi in $mpis; do
  mpi_build $mpi heap_kills
  for seed in $(seq $kills); do killed $seed; done
  mpi_build $mpi heap_calls
  limit=$((240 + 20 * receives)) option=--shared-heap calls yes lent $receives
  TUTTI_HEAP=on calls yes lists 0
  TUTTI_HEAP=on calls no lists 1
  TUTTI_HEAP=on calls yes blocks
  TUTTI_HEAP=statics calls yes statics
  TUTTI_HEAP=on calls no statics
  TUTTI_HEAP=off calls no off
  "mpicc.$mpi" -std=gnu11 -D_GNU_SOURCE -O2 -w -o "$work/conform-$mpi" "$TUTTI_SOURCE"/tests/mpi/conform/*.c
  for ranks in 2 3; do
    TUTTI_HEAP=parts TUTTI_HEAP_BYTES=4K served --stats -n $ranks "$work/conform-$mpi" --cases $cases --seed $ranks
    [ "$(id -u)" != 0 ] || grep -q 'by .*lent' "$work/said" || { echo "$mpi: nothing was lent"; cat "$work/said"; exit 1; }
  done
done

# Debian's mpi4py and numpy, where they are.
mpi=openmpi
if [ "${mpis#*openmpi}" != "$mpis" ] && /usr/bin/python3 -c 'import numpy, mpi4py' 2>/dev/null; then
  served --shared-heap --stats -n 2 /usr/bin/python3 "$TUTTI_SOURCE/tests/mpi/heap_pool.py" $receives
  grep -q 'all is well' "$work/said" && grep -q 'by .*lent' "$work/said" || { cat "$work/said"; exit 1; }
fi
