# What a rank's children inherit is a small library; the half of tutti that brings MPI comes at the first MPI call, where
# it is found even by a relative path, and where MPI itself came late. Without that half a rank ends, and says why.
# A program that brings another libtutti runs on MPI, and is told so: one that has hardly a name in common, or libtutti.a.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"
mpi_launchers

fail() {
  echo "$mpi: $1"
  cat "$work/said"
  exit 1
}

# served ARGUMENTS...: of tutti mpirun; all calls run on tutti, and what was printed is in $work/said.
served() {
  LD_PRELOAD=$preload timeout -k 5 120 "$TUTTI_BIN/tutti" mpirun --mpi $mpi --stats "$@" >"$work/said" 2>&1 ||
    fail "exit code $? of $*"
  grep -q '^2 ranks' "$work/said" || fail "$*: not 2 ranks"
  grep -q 'all .* 100.00%' "$work/said" || fail "$*: not all on tutti"
}

# mapped FILE: fails where what it lists, /proc/self/maps of a command, has more than the preloaded half.
mapped() {
  grep -q "/libtutti-$mpi.so" "$1" || fail "a child does not inherit the preload"
  [ -n "$preload" ] || ! grep -E 'libmpi|libmpich|libopen-|-serve\.so|hwloc|jansson' "$1" >"$work/said" ||
    fail "a child that is no MPI program maps"
}

# build NAME FLAGS...: tests/mpi/preload.c
build() {
  name=$1
  shift
  "mpicc.$mpi" -std=gnu11 -D_GNU_SOURCE -O1 -g -w -o "$work/$name" "$TUTTI_SOURCE/tests/mpi/preload.c" "$@"
}

# apart NAME: what `build` has made of that name runs on MPI.
apart() {
  LD_PRELOAD=$preload timeout -k 5 120 "$TUTTI_BIN/tutti" mpirun --mpi $mpi -n 2 "$work/$1" >"$work/said" 2>&1 ||
    fail "exit code $? of $1"
  grep -q '^2 ranks' "$work/said" || fail "$1: not 2 ranks"
  grep -q "^tutti: MPI's own collectives run: the program brings another libtutti" "$work/said" || fail "$1: is not told"
}

echo 'const char *tutti_version(void) { return "0.0.1"; }' >"$work/old.c"
cc -shared -fPIC -Wl,-soname,libtutti.so.0,--version-script="$TUTTI_SOURCE/cmake/tutti.map" -o "$work/libtutti.so.0" "$work/old.c"
for mpi in $mpis; do
  build old -Wl,--no-as-needed "$work/libtutti.so.0" -Wl,-rpath,"$work"
  apart old
  if [ -z "$preload" ]; then # else the program would have to be instrumented, too
    build inside -rdynamic -Wl,-u,tutti_context_create "$library/libtutti.a" -ljansson -lhwloc -lsodium -lm
    apart inside
  fi
  build rank
  build plugin.so -shared -fPIC -DPLUGIN
  cc -std=gnu11 -D_GNU_SOURCE -O1 -w -o "$work/late" -DLATE="\"$work/plugin.so\"" "$TUTTI_SOURCE/tests/mpi/preload.c"
  served -n 2 "$work/rank" "cat /proc/self/maps >$work/maps"
  mapped "$work/maps"
  printf '#!/bin/sh\ncat /proc/self/maps >%s/maps\nenv %s/rank\n' "$work" "$work" >"$work/script"
  chmod +x "$work/script"
  served -n 2 "$work/script"
  mapped "$work/maps"
  served -n 2 sh -c "cd $work && (./rank)"
  served -n 2 "$work/late"
  served -n 2 env LD_LIBRARY_PATH="$work${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" "$work/rank" # another libtutti that nobody needs

  cmake --install "$(dirname "$TUTTI_BIN")" --prefix "$work/tutti" >/dev/null
  folder=$(dirname "$(find "$work/tutti" -name "libtutti-$mpi.so")")
  [ -e "$folder/tutti/libtutti-$mpi-serve.so" ] || { echo "$mpi: where is the other half?"; exit 1; }
  cp -r "$work/tutti" "$work/two words"
  code=0
  "$work/two words/bin/tutti" mpirun --mpi $mpi -n 2 "$work/rank" >"$work/said" 2>&1 || code=$?
  [ $code = 127 ] || fail "exit code $code of a path with a space"
  grep -q "cannot preload $work/two words/.*/libtutti-$mpi.so: its path has a space" "$work/said" || fail "the space is not named"
  "$work/two words/bin/tutti" run --shared-heap -n 1 true >"$work/said" 2>&1 || fail "no job without the heap"
  grep -q "cannot preload $work/two words/.*/libtutti-heap.so: its path has a space" "$work/said" || fail "the heap's is not named"
  rm -r "$work/two words"
  cd "$folder"
  TUTTI_STATS=1 mpi_plain $mpi 2 env LD_PRELOAD="${before:-}./libtutti-$mpi.so" "$work/rank" >"$work/said" 2>&1 ||
    fail "by hand, by a relative path"
  grep -q 'all .* 100.00%' "$work/said" || fail "by hand: not all on tutti"
  rm "tutti/libtutti-$mpi-serve.so"
  code=0
  LD_PRELOAD="${before:-}./libtutti-$mpi.so" "$work/rank" >"$work/said" 2>&1 || code=$?
  [ $code = 127 ] || fail "exit code $code without the other half"
  grep -q "^tutti: $folder/.*libtutti-$mpi-serve.so: .*No such file" "$work/said" || fail "does not say what is missing"
  cd /
done
