# Programs with the address sanitizer run on tutti, with gcc's library and clang's, shared or not; what they do wrong is
# still found, and what ASAN_OPTIONS says still holds. So it is where the heap is asked for, which is off in them.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"
mpi_launchers
unset LD_PRELOAD

fail() {
  echo "$mpi, $kind: $1"
  cat "$work/said"
  exit 1
}

# build COMPILER FLAGS...
build() {
  compiler=$1
  shift
  OMPI_CC=$compiler MPICH_CC=$compiler "mpicc.$mpi" -std=gnu11 -O1 -g -w -fsanitize=address -o "$work/program" \
    "$TUTTI_SOURCE/tests/mpi/sanitizer.c" "$@" 2>"$work/said"
}

# run COMMAND...: on tutti. MPIs leak.
run() {
  code=0
  ASAN_OPTIONS=detect_leaks=0:log_path="$work/found" timeout -k 5 120 "$TUTTI_BIN/tutti" mpirun --mpi $mpi --stats -n 2 "$@" \
    >"$work/said" 2>&1 || code=$?
}

check() {
  check_with off
  check_with on
}

check_with() {
  export TUTTI_HEAP=$1
  run "$work/program"
  [ $code = 0 ] || fail "exit code $code"
  grep -q "^the last is 8" "$work/said" || fail "a wrong sum"
  grep -q "all .* 100.00%" "$work/said" || fail "not all on tutti"
  run sh -c "$work/program 2"
  ls "$work"/found.* >/dev/null 2>&1 || fail "reads after the end of its memory, unseen" # MPICH 4.2 may say 0, also alone
  grep -q "heap-buffer-overflow" "$work"/found.* || fail "reads after the end of its memory, and says something else"
  rm -f "$work"/found.*
}

case ${sanitize:-} in
*address*) compilers=gcc ;; # two kinds of the sanitizer do not go together
*) compilers="gcc clang" ;;
esac
for mpi in $mpis; do
  for kind in $compilers; do
    if ! command -v $kind >/dev/null; then echo "no $kind"; continue; fi
    build $kind || fail "does not build"
    check
    [ $kind = clang ] || continue
    kind="clang, shared"
    folder=$(dirname "$(clang -print-file-name="libclang_rt.asan-$(uname -m).so")")
    build clang -shared-libasan -Wl,-rpath,"$folder" || fail "does not build"
    check
  done
done
