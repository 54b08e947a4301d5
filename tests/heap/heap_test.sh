# malloc and fork with libtutti-heap.so before them. TUTTI_TEST_LONG=1: many more operations and forks.
set -eu
heap=$(dirname "$TUTTI_BIN")/lib/tutti/libtutti-heap.so
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
operations=100000 forks=60
if [ -n "${TUTTI_TEST_LONG:-}" ]; then operations=10000000 forks=1000; fi

# build NAME [FLAG...]: tests/heap/programs/NAME.c -> $work/NAME. Without builtins: a malloc whose memory is not used is one, too.
build() {
  program=$1
  shift
  cc -std=gnu11 -D_GNU_SOURCE -O1 -g -Wall -fno-builtin "$@" -I"$TUTTI_SOURCE/src" -o "$work/$program" \
    "$TUTTI_SOURCE/tests/heap/programs/$program.c" -lpthread -ldl -lutil
}

# run COMMAND...
run() {
  env TUTTI_HEAP="${how:-on}" LD_PRELOAD="$heap" timeout -k 5 1500 "$@" >"$work/output" 2>&1 || { cat "$work/output"; exit 1; }
  grep -q 'all is well' "$work/output" || { cat "$work/output"; exit 1; }
}

build blocks
build forks
build moves
build statics
run "$work/blocks" $operations
TUTTI_HEAP_BYTES=4K run "$work/blocks" $((operations / 4))
run "$work/moves" 2
how=parts run "$work/moves" 10
if grep 'nothing moved' "$work/output" && [ "$(id -u)" = 0 ]; then echo "threads are not made to wait here"; fi
how=statics run "$work/statics"
how=parts,statics run "$work/statics"
how=on run "$work/statics" private
for case in closed mapped fast second; do how=statics run "$work/statics" $case; done
build statics -no-pie
how=statics run "$work/statics"
run "$work/forks" $forks
run "$work/forks" $((forks / 2)) 3
if [ $forks = 1000 ]; then
  run "$work/forks" 100 0 1073741824
  run "$work/forks" 30 3 1073741824
fi

# Only malloc and its relatives leave it, and the preloads for MPI have none of them.
nm -D --defined-only "$heap" | awk '{print $3}' | sort | tr '\n' ' ' >"$work/names"
expected='_Fork aligned_alloc calloc daemon dlopen fork forkpty free malloc malloc_usable_size memalign posix_memalign pvalloc realloc tutti_heap_offer valloc '
if [ "$(cat "$work/names")" != "$expected" ]; then echo "it has the names $(cat "$work/names")"; exit 1; fi
for library in "$(dirname "$heap")"/*-serve.so "$(dirname "$heap")"/../libtutti-*.so; do
  if [ -e "$library" ] && nm -D --defined-only "$library" | grep -E ' (malloc|free|calloc|realloc)$'; then
    echo "$library has them, too"
    exit 1
  fi
done

# Where it cannot be: the memory that there would be without it, and one line of why.
refused() {
  grep -q "tutti: TUTTI_HEAP: .*$1.*: memory is what it would be without" "$work/output" || { cat "$work/output"; exit 1; }
}
for limit in -v -d; do
  sh -c "ulimit $limit 8000000; TUTTI_LOG=2 TUTTI_HEAP=on LD_PRELOAD='$heap' ls /" >"$work/output" 2>&1
  refused "ulimit $limit"
done

# The file is as long as it may be; one that may have no length is none.
(ulimit -S -f 4000000; how=statics run "$work/statics")
(ulimit -S -f 10; TUTTI_LOG=2 TUTTI_HEAP=on LD_PRELOAD="$heap" "$work/statics") >"$work/output" 2>&1 || true
said='ulimit -f.*: there is no memory that others can read'
[ "$(grep -c "$said" "$work/output")" = 1 ] || { cat "$work/output"; exit 1; }

# A malloc of the program, or of a library that it is linked with: realloc is the C library's as without the heap, and what
# the library allocates by another name it gets back.
cat >"$work/own.c" <<'C'
void __libc_free(void *memory);
static char pool[8 << 20] __attribute__((aligned(64)));
static unsigned long used;
static void *take(unsigned long bytes) { return pool + ((used += (bytes + 63) / 64 * 64) - (bytes + 63) / 64 * 64); }
void *malloc(unsigned long bytes) { return take(bytes); }
void *own_malloc(unsigned long bytes) { return take(bytes); }
int posix_memalign(void **memory, unsigned long align, unsigned long bytes) { *memory = take(bytes + 0 * align); return 0; }
void *aligned_alloc(unsigned long align, unsigned long bytes) { return take(bytes + 0 * align); }
int own_has(void *memory) { return (unsigned long)((char *)memory - pool) < sizeof pool; }
void free(void *memory) { if (!own_has(memory)) __libc_free(memory); }
C
cat >"$work/main.c" <<'C'
#include <stdlib.h>
void *own_malloc(size_t bytes);
int own_has(void *memory);
int main(void) {
  void *aligned[2] = {aligned_alloc(64, 6400), NULL};
  if (posix_memalign(&aligned[1], 64, 1000) != 0 || !own_has(aligned[0]) || !own_has(aligned[1]))
    return 2;
  free(aligned[0]);
  free(aligned[1]);
  free(malloc(1000000));
  free(own_malloc(100));
  return realloc(realloc(NULL, 1000), 2000) == NULL;
}
C
cc -fno-builtin -shared -fPIC -o "$work/libown.so" "$work/own.c"
cc -fno-builtin -o "$work/static" "$work/main.c" "$work/own.c"
cc -fno-builtin -o "$work/linked" "$work/main.c" -Wl,--no-as-needed -L"$work" -lown -Wl,-rpath,"$work"
for program in static linked; do
  TUTTI_LOG=2 TUTTI_HEAP=on LD_PRELOAD="$heap" "$work/$program" >"$work/output" 2>&1
  refused 'malloc of its own'
done

# A program at a fixed address, which has jumps for functions whose addresses it takes in its code (Debian's python3): they
# lead to the heap, or to what is preloaded before it.
cat >"$work/fixed.c" <<'C'
#include <stdlib.h>
int main(void) {
  void *(*volatile take)(size_t) = malloc;
  void (*volatile give)(void *) = free;
  give(take(1000000));
  return 0;
}
C
cat >"$work/half.c" <<'C'
void __libc_free(void *memory);
void free(void *memory) { __libc_free(memory); }
C
cc -fno-builtin -O0 -fno-pie -no-pie -o "$work/fixed" "$work/fixed.c"
cc -fno-builtin -shared -fPIC -o "$work/libhalf.so" "$work/half.c"
if [ "$(uname -m)" = x86_64 ] && ! readelf -W --dyn-syms "$work/fixed" | grep ' UND malloc' | grep -qv ' 0000000000000000 '; then
  echo "the program has no jump whose address is that of malloc"
  exit 1
fi
TUTTI_LOG=2 TUTTI_HEAP=on LD_PRELOAD="$heap" "$work/fixed" >"$work/output" 2>&1
if [ -s "$work/output" ]; then cat "$work/output"; exit 1; fi
for library in own half; do
  TUTTI_LOG=2 TUTTI_HEAP=on LD_PRELOAD="$work/lib$library.so $heap" "$work/fixed" >"$work/output" 2>&1
  refused 'malloc of its own'
done
TUTTI_HEAP=yes LD_PRELOAD="$heap" "$work/static" >"$work/output" 2>&1
grep -q "TUTTI_HEAP 'yes' is neither off nor on, parts, statics" "$work/output" || { cat "$work/output"; exit 1; }
