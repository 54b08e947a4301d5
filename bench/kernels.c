/* bench/kernels.c - how fast the reduction kernels and copies are, for choosing thresholds: run `bench_kernels`.
 *
 * First copies: bytes copied a second a core, with one core busy and with all of them at once, for buffers from L1 to
 * memory. Then types and operators that stand for all (`bench_kernels all`: all) in every kernel set: time of a call on
 * 1 and 16 elements, then bytes read and written a second (left + right + out) where all three buffers together fit L1,
 * L2, or only memory. The best of a few tries is printed, since others may use the machine. Every process is bound to
 * a core. */
#include "dtype/dtype.h"

#include "cores.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRIES = 7, CORES = 64 };

#define L1_BYTES ((size_t)8 << 10) /* of each buffer */
#define L2_BYTES ((size_t)192 << 10)
#define MEMORY_BYTES ((size_t)64 << 20)
#define TRY_BYTES ((size_t)4 << 20) /* a try in cache touches so much of each buffer */

typedef struct buffers {
  void *left, *right, *out;
} buffers;

static void *map(size_t bytes, int sharing) {
  void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    perror("bench_kernels: mmap");
    exit(1);
  }
  return memory;
}

static void *filled(void) {
  void *memory = map(MEMORY_BYTES, MAP_PRIVATE);
  memset(memory, 0x3f, MEMORY_BYTES); /* in every float type a number near one */
  return memory;
}

/* ---- combining ---- */

static double combine_ns(const buffers *at, tt_combine combine, size_t count, int calls, bool nontemporal) {
  int64_t best = INT64_MAX;
  for (int try = 0; try < TRIES; try++) {
    int64_t start = tt_clock_ns();
    for (int call = 0; call < calls; call++)
      combine(at->left, at->right, at->out, count, nontemporal);
    int64_t taken = tt_clock_ns() - start;
    best = taken < best ? taken : best;
  }
  return (double)best / calls;
}

static double combine_rate(const buffers *at, tt_combine combine, size_t size, size_t bytes, bool nontemporal) {
  int calls = bytes < TRY_BYTES ? (int)(TRY_BYTES / bytes) : 1;
  return 3 * (double)bytes / combine_ns(at, combine, bytes / size, calls, nontemporal);
}

static void print_combine(const buffers *at, size_t set, tutti_type type, tutti_op op) {
  tt_combine combine = tt_dtype_set_combine(set, type, op);
  size_t size = tutti_type_size(type);
  printf("%-19s %-11s %-9s %7.1f %8.1f %8.1f %8.1f %8.1f %9.1f\n", tutti_type_name(type), tutti_op_name(op),
         tt_dtype_set_name(set), combine_ns(at, combine, 1, 1000, false), combine_ns(at, combine, 16, 1000, false),
         combine_rate(at, combine, size, L1_BYTES, false), combine_rate(at, combine, size, L2_BYTES, false),
         combine_rate(at, combine, size, MEMORY_BYTES, false), combine_rate(at, combine, size, MEMORY_BYTES, true));
  fflush(stdout);
}

static const struct {
  tutti_type type;
  tutti_op op;
} chosen[] = {
    {TUTTI_FLOAT32, TUTTI_SUM},
    {TUTTI_FLOAT32, TUTTI_PRODUCT},
    {TUTTI_FLOAT32, TUTTI_MAX},
    {TUTTI_FLOAT64, TUTTI_SUM},
    {TUTTI_FLOAT64, TUTTI_MIN},
    {TUTTI_FLOAT16, TUTTI_SUM},
    {TUTTI_FLOAT16, TUTTI_MAX},
    {TUTTI_BFLOAT16, TUTTI_SUM},
    {TUTTI_BFLOAT16, TUTTI_MAX},
    {TUTTI_INT8, TUTTI_SUM},
    {TUTTI_INT8, TUTTI_PRODUCT},
    {TUTTI_UINT8, TUTTI_MAX},
    {TUTTI_INT16, TUTTI_SUM},
    {TUTTI_UINT16, TUTTI_MIN},
    {TUTTI_INT32, TUTTI_SUM},
    {TUTTI_INT32, TUTTI_PRODUCT},
    {TUTTI_INT64, TUTTI_SUM},
    {TUTTI_INT64, TUTTI_PRODUCT},
    {TUTTI_INT64, TUTTI_MIN},
    {TUTTI_UINT64, TUTTI_MAX},
    {TUTTI_INT32, TUTTI_LOGICAL_AND},
    {TUTTI_BOOL, TUTTI_LOGICAL_OR},
    {TUTTI_BYTE, TUTTI_BIT_XOR},
    {TUTTI_COMPLEX64, TUTTI_SUM},
    {TUTTI_COMPLEX64, TUTTI_PRODUCT},
    {TUTTI_COMPLEX128, TUTTI_PRODUCT},
    {TUTTI_FLOAT32_INT32, TUTTI_MIN_LOC},
    {TUTTI_INT64_INT32, TUTTI_MAX_LOC},
    {TUTTI_LONG_DOUBLE, TUTTI_SUM},
};

static void print_sets(const buffers *at, tutti_type type, tutti_op op) {
  for (size_t set = 0; set < tt_dtype_set_count(); set++)
    print_combine(at, set, type, op);
}

static void print_combines(const buffers *at, bool all) {
  printf("Combining, one core: GB/s read and written. Each of the three buffers: L1 %zu KiB, L2 %zu KiB, memory %zu "
         "MiB.\n",
         L1_BYTES >> 10, L2_BYTES >> 10, MEMORY_BYTES >> 20);
  printf("%-19s %-11s %-9s %7s %8s %8s %8s %8s %9s\n", "type", "op", "set", "1, ns", "16, ns", "L1", "L2", "memory",
         "streamed");
  for (size_t n = 0; n < TT_COUNT(chosen) && !all; n++)
    print_sets(at, chosen[n].type, chosen[n].op);
  for (tutti_type type = 0; type < TUTTI_TYPE_COUNT && all; type++)
    for (tutti_op op = 0; op < TUTTI_OP_COUNT; op++)
      if (op != TUTTI_AVERAGE && tutti_op_fits(op, type))
        print_sets(at, type, op);
}

/* ---- copying ---- */

static void copy_plain(void *to, const void *from, size_t bytes) { tt_dtype_copy(to, from, bytes, false); }
static void copy_streamed(void *to, const void *from, size_t bytes) { tt_dtype_copy(to, from, bytes, true); }

#if defined(__x86_64__)
static void copy_string(void *to, const void *from, size_t bytes) {
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(bytes) : : "memory");
}
#endif

static const struct {
  const char *name;
  void (*copy)(void *to, const void *from, size_t bytes);
} copies[] = {
    {"memcpy", copy_plain},
    {"streamed", copy_streamed},
#if defined(__x86_64__)
    {"rep movsb", copy_string},
#endif
};

/* In cache or memory as a whole; or a source that stays in cache and a target that is new at each call, as when blocks
 * arrive in slots. */
typedef struct copy_case {
  size_t way, bytes;
  bool fresh;
} copy_case;

static double copy_rate(const buffers *at, const copy_case *what) {
  size_t calls = what->fresh ? MEMORY_BYTES / what->bytes : what->bytes < TRY_BYTES ? TRY_BYTES / what->bytes : 1;
  int64_t best = INT64_MAX;
  for (int try = 0; try < TRIES; try++) {
    int64_t start = tt_clock_ns();
    for (size_t call = 0; call < calls; call++)
      copies[what->way].copy((char *)at->out + (what->fresh ? call * what->bytes : 0), at->left, what->bytes);
    int64_t taken = tt_clock_ns() - start;
    best = taken < best ? taken : best;
  }
  return (double)(what->bytes * calls) / (double)best;
}

/* What processes on several cores share, so that they copy at the same time. */
typedef struct meeting {
  atomic_int arrived;
  double rate[CORES];
} meeting;

static void meet(meeting *place, int everyone) {
  atomic_fetch_add_explicit(&place->arrived, 1, memory_order_acq_rel); /* pairs with the load below */
  while (atomic_load_explicit(&place->arrived, memory_order_acquire) < everyone)
    sched_yield();
}

static void copy_child(meeting *place, int n, int core, int everyone, const copy_case *what) {
  bench_bind(core);
  buffers own = {.left = filled(), .out = filled()};
  meet(place, everyone);
  place->rate[n] = copy_rate(&own, what);
  _exit(0);
}

/* Bytes a second and core while `count` cores copy, each in its own buffers. */
static double copy_rate_together(const int core[], int count, const copy_case *what) {
  meeting *place = map(sizeof *place, MAP_SHARED);
  double sum = 0;
  for (int n = 0; n < count; n++) {
    pid_t child = fork();
    if (child == 0)
      copy_child(place, n, core[n], count, what);
    if (child < 0) {
      perror("bench_kernels: fork");
      exit(1);
    }
  }
  while (wait(NULL) > 0)
    ;
  for (int n = 0; n < count; n++)
    sum += place->rate[n];
  munmap(place, sizeof *place);
  return sum / count;
}

static void print_copy_row(const int core[], int count, copy_case what) {
  char text[16];
  tt_format_bytes((int64_t)what.bytes, text);
  printf("%8s", text);
  for (what.way = 0; what.way < TT_COUNT(copies); what.way++)
    printf("   %7.1f | %-7.1f", copy_rate_together(core, 1, &what), copy_rate_together(core, count, &what));
  printf("\n");
  fflush(stdout);
}

static void print_copies(const int core[], int count, bool fresh, size_t most) {
  printf("Copying %s: GB/s copied by each core; one core busy | all %d at once.\n%8s",
         fresh ? "from cache to memory, so many bytes a call" : "the same bytes again", count, "bytes");
  for (size_t way = 0; way < TT_COUNT(copies); way++)
    printf("   %9s%8s", copies[way].name, "");
  printf("\n");
  for (size_t bytes = (size_t)4 << 10; bytes <= most; bytes *= 4)
    print_copy_row(core, count, (copy_case){0, bytes, fresh});
  printf("\n");
}

int main(int argc, char **argv) {
  int core[CORES], count = bench_cores(core, CORES);
  printf("Kernels here: %s.\n\n", tt_dtype_kernels());
  fflush(stdout);
  print_copies(core, count, false, MEMORY_BYTES);
  print_copies(core, count, true, (size_t)1 << 20);
  bench_bind(core[count - 1]);
  buffers own = {filled(), filled(), filled()};
  print_combines(&own, argc > 1 && strcmp(argv[1], "all") == 0);
  return 0;
}
