# malloc and fork with libtutti-heap.so before them. TUTTI_TEST_LONG=1: many more operations and forks.
set -eu
heap=$(dirname "$TUTTI_BIN")/lib/tutti/libtutti-heap.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
operations=100000 forks=60
if [ -n "${TUTTI_TEST_LONG:-}" ]; then operations=10000000 forks=1000; fi

# build NAME: tests/heap/programs/NAME.c -> $work/NAME. Without builtins: a malloc whose memory is not used is one, too.
build() {
  cc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -fno-builtin -I"$TUTTI_SOURCE/src" -o "$work/$1" \
    "$TUTTI_SOURCE/tests/heap/programs/$1.c" -lpthread -ldl
}

# run COMMAND...
run() {
  env TUTTI_HEAP=on LD_PRELOAD="$heap" timeout -k 5 600 "$@" >"$work/output" 2>&1 || { cat "$work/output"; exit 1; }
  grep -q 'all is well' "$work/output" || { cat "$work/output"; exit 1; }
}

build blocks
build forks
build moves
run "$work/blocks" $operations
TUTTI_HEAP_BYTES=4K run "$work/blocks" $((operations / 4))
run "$work/moves" 10
run "$work/forks" $forks
run "$work/forks" $((forks / 2)) 3

# Only malloc and its relatives leave it, and the preloads for MPI have none of them.
nm -D --defined-only "$heap" | awk '{print $3}' | sort | tr '\n' ' ' >"$work/names"
expected='aligned_alloc calloc dlopen free malloc malloc_usable_size memalign posix_memalign pvalloc realloc tutti_heap_offer valloc '
if [ "$(cat "$work/names")" != "$expected" ]; then echo "it has the names $(cat "$work/names")"; exit 1; fi
for library in "$(dirname "$heap")"/*-serve.so "$(dirname "$heap")"/../libtutti-*.so; do
  if [ -e "$library" ] && nm -D --defined-only "$library" | grep -E ' (malloc|free|calloc|realloc)$'; then
    echo "$library has them, too"
    exit 1
  fi
done

# Where it cannot be: the C library's memory, and one line of why.
for limit in 'ulimit -v 8000000'; do
  sh -c "$limit; TUTTI_LOG=2 TUTTI_HEAP=on LD_PRELOAD='$heap' ls /" >"$work/output" 2>&1
  grep -q 'tutti: TUTTI_HEAP: .*the C library' "$work/output" || { cat "$work/output"; exit 1; }
done
