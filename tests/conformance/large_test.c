/* More than 2^31 elements, of 2 bytes: 4 GiB and more in a buffer.
 *
 * Always: on buffers whose pages are the same 60 MiB of memory again and again. Element n has to be what its place in
 * that memory says; 2^31 and 2^32 are no multiples of 60 MiB, so an offset that lost its upper bits finds other values.
 * With TUTTI_TEST_LONG=1: on real memory, in place, with samples that are not zero. */
#include "support/elements.h"
#include "support/job.h"

#include <tutti/tutti.h>

#include <setjmp.h>
#include <stdarg.h>
#include <sys/mman.h>

#include <cmocka.h>

#define COUNT (((int64_t)1 << 31) + 5)
#define WINDOW ((size_t)60 << 20) /* bytes; a multiple of a page */
#define SAMPLES 4096

enum { RANKS = 2, BOTH = -1 };

typedef struct large { /* of one rank */
  tutti_comm *comm;
  int64_t rank;
  uint16_t *in, *out;
} large;

/* ---- aliased memory ---- */

static uint16_t *map_window(int64_t count) {
  size_t bytes = ((size_t)count * sizeof(uint16_t) + WINDOW - 1) / WINDOW * WINDOW;
  int fd = memfd_create("window", MFD_CLOEXEC);
  char *at = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(fd >= 0 && ftruncate(fd, (off_t)WINDOW) == 0 && at != MAP_FAILED);
  for (size_t done = 0; done < bytes; done += WINDOW)
    CHECK(mmap(at + done, WINDOW, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) != MAP_FAILED);
  close(fd);
  return (uint16_t *)(void *)at;
}

/* Rank's input; BOTH: the maximum, which is the even elements of rank 0 and the odd ones of rank 1. Taken twice it
 * stays what it is, as it must where a partial result appears at all places of the same memory. */
static double window_value(int64_t place, int64_t rank) {
  return (double)(rank == BOTH || place % RANKS == rank ? 20 + place % 127 % 13 : place % 11);
}

/* Buffer element 0 is element `first` of the vector. */
static void fill_window(uint16_t *at, int64_t first, int64_t rank) {
  for (int64_t n = 0; n < (int64_t)(WINDOW / sizeof *at); n++)
    element_put(TUTTI_BFLOAT16, &at[n], window_value((first + n) % (int64_t)(WINDOW / sizeof *at), rank));
}

static void check_window(const uint16_t *at, int64_t first, int64_t rank) {
  for (int64_t n = 0; n < (int64_t)(WINDOW / sizeof *at); n++) {
    uint16_t wanted;
    element_put(TUTTI_BFLOAT16, &wanted, window_value((first + n) % (int64_t)(WINDOW / sizeof *at), rank));
    CHECK(at[n] == wanted);
  }
}

static void open_windows(large *at) {
  at->in = map_window(COUNT);
  at->out = map_window(RANKS * COUNT);
}

static void allreduce_window(large *at) {
  fill_window(at->in, 0, at->rank);
  memset(at->out, 0, WINDOW);
  CHECK(tutti_allreduce(at->in, at->out, COUNT, TUTTI_BFLOAT16, TUTTI_MAX, at->comm) == TUTTI_OK);
  check_window(at->out, 0, BOTH);
}

static void broadcast_window(large *at) {
  fill_window(at->in, 0, at->rank);
  memset(at->out, 0, WINDOW);
  CHECK(tutti_broadcast(at->in, at->out, COUNT, TUTTI_BFLOAT16, 1, at->comm) == TUTTI_OK);
  check_window(at->out, 0, 1);
}

static void allgather_window(large *at) {
  fill_window(at->in, at->rank * COUNT, BOTH);
  memset(at->out, 0, WINDOW);
  CHECK(tutti_allgather(at->in, at->out, COUNT, TUTTI_BFLOAT16, at->comm) == TUTTI_OK);
  check_window(at->out, 0, BOTH);
}

static void reduce_scatter_window(large *at) {
  fill_window(at->out, 0, at->rank); /* the longer buffer is the input */
  memset(at->in, 0, WINDOW);
  CHECK(tutti_reduce_scatter(at->out, at->in, COUNT, TUTTI_BFLOAT16, TUTTI_MAX, at->comm) == TUTTI_OK);
  check_window(at->in, at->rank * COUNT, BOTH);
}

static void reduce_window(large *at) {
  fill_window(at->in, 0, at->rank);
  memset(at->out, 0, WINDOW);
  CHECK(tutti_reduce(at->in, at->out, COUNT, TUTTI_BFLOAT16, TUTTI_MAX, 1, at->comm) == TUTTI_OK);
  if (at->rank == 1)
    check_window(at->out, 0, BOTH);
}

static void gather_window(large *at) {
  fill_window(at->in, at->rank * COUNT, BOTH);
  memset(at->out, 0, WINDOW);
  CHECK(tutti_gather(at->in, at->out, COUNT, TUTTI_BFLOAT16, 0, at->comm) == TUTTI_OK);
  if (at->rank == 0)
    check_window(at->out, 0, BOTH);
}

static void scatter_window(large *at) {
  fill_window(at->out, 0, BOTH); /* the longer buffer is the input */
  memset(at->in, 0, WINDOW);
  CHECK(tutti_scatter(at->out, at->in, COUNT, TUTTI_BFLOAT16, 1, at->comm) == TUTTI_OK);
  check_window(at->in, at->rank * COUNT, BOTH);
}

static void scan_window(large *at) {
  fill_window(at->in, 0, at->rank);
  memset(at->out, 0, WINDOW);
  CHECK(tutti_scan(at->in, at->out, COUNT, TUTTI_BFLOAT16, TUTTI_MAX, at->comm) == TUTTI_OK);
  check_window(at->out, 0, at->rank == 0 ? 0 : BOTH);
}

/* Short blocks, a long way from each other and from the beginning. */
static void exchange_far(large *at) {
  const int64_t counts[RANKS] = {1000, 1000}, from[RANKS] = {5, COUNT - 1000}, to[RANKS] = {COUNT + 17, 3};
  const int64_t from_bytes[RANKS] = {from[0] * 2, from[1] * 2}, to_bytes[RANKS] = {to[0] * 2, to[1] * 2};
  const tutti_type types[RANKS] = {TUTTI_BFLOAT16, TUTTI_BFLOAT16};
  for (int n = 0; n < 2; n++) {
    fill_window(at->in, 0, at->rank);
    memset(at->out, 0, WINDOW);
    if (n == 0)
      CHECK(tutti_all_to_allv(at->in, counts, from, at->out, counts, to, TUTTI_BFLOAT16, at->comm) == TUTTI_OK);
    else
      CHECK(tutti_all_to_allw(at->in, counts, from_bytes, types, at->out, counts, to_bytes, types, at->comm) ==
            TUTTI_OK);
    for (int64_t r = 0; r < RANKS; r++)
      for (int64_t k = 0; k < counts[r]; k++) {
        uint16_t wanted;
        int64_t place = (from[at->rank] + k) % (int64_t)(WINDOW / sizeof wanted);
        element_put(TUTTI_BFLOAT16, &wanted, window_value(place, r));
        CHECK(at->out[to[r] + k] == wanted);
      }
  }
}

/* Blocks of more than 2^32 bytes, and offsets of blocks beyond that. */
static void run_windows(large *at) {
  open_windows(at);
  CHECK(tutti_comm_set_params(at->comm, "allreduce", "form=one") == TUTTI_OK);
  allreduce_window(at);
  allgather_window(at);
  exchange_far(at);
}

static void run_more_windows(large *at) {
  open_windows(at);
  allreduce_window(at);
  broadcast_window(at);
  reduce_scatter_window(at);
  reduce_window(at);
  gather_window(at);
  scatter_window(at);
  scan_window(at);
}

/* ---- real memory ---- */

static uint16_t *map_zeros(int64_t count) {
  void *at = mmap(NULL, (size_t)count * sizeof(uint16_t), PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  CHECK(at != MAP_FAILED);
  return at;
}

/* Places of samples: both ends, around 2^30 and 2^31 elements, and all over. */
static int64_t sample_at(int64_t number) {
  static const int64_t special[] = {
      0, 1, COUNT - 1, COUNT - 2, 1 << 30, (1 << 30) - 1, (int64_t)1 << 31, ((int64_t)1 << 31) - 1};
  const int64_t count = sizeof special / sizeof special[0];
  return number < count ? special[number] : number * 524287 + number % 7;
}

static double sample_value(int64_t number, int64_t rank) { return (double)((1 + number % 30) * (rank + 1)); }

static void fill_samples(uint16_t *at, int64_t rank) {
  for (int64_t n = 0; n < SAMPLES; n++)
    element_put(TUTTI_BFLOAT16, &at[sample_at(n)], sample_value(n, rank));
}

/* rank: whose; BOTH: their sum. The element beside each sample is zero, or a sample too. */
static void check_samples(const uint16_t *at, int64_t rank) {
  for (int64_t n = 0; n < SAMPLES; n++) {
    uint16_t wanted;
    element_put(TUTTI_BFLOAT16, &wanted,
                rank == BOTH ? sample_value(n, 0) + sample_value(n, 1) : sample_value(n, rank));
    CHECK(at[sample_at(n)] == wanted);
    CHECK(n < 8 || at[sample_at(n) + 100] == 0);
  }
}

static void allreduce_zeros(large *at) {
  uint16_t *both = map_zeros(COUNT);
  fill_samples(both, at->rank);
  CHECK(tutti_allreduce(both, both, COUNT, TUTTI_BFLOAT16, TUTTI_SUM, at->comm) == TUTTI_OK);
  check_samples(both, BOTH);
  munmap(both, (size_t)COUNT * sizeof *both);
}

static void broadcast_zeros(large *at) {
  uint16_t *both = map_zeros(COUNT);
  if (at->rank == 0)
    fill_samples(both, 0);
  CHECK(tutti_broadcast(at->rank == 0 ? both : NULL, both, COUNT, TUTTI_BFLOAT16, 0, at->comm) == TUTTI_OK);
  check_samples(both, 0);
  munmap(both, (size_t)COUNT * sizeof *both);
}

static void allgather_zeros(large *at) {
  uint16_t *out = map_zeros(RANKS * COUNT);
  fill_samples(out + at->rank * COUNT, at->rank);
  CHECK(tutti_allgather(out + at->rank * COUNT, out, COUNT, TUTTI_BFLOAT16, at->comm) == TUTTI_OK);
  for (int64_t r = 0; r < RANKS; r++)
    check_samples(out + r * COUNT, r);
  munmap(out, (size_t)(RANKS * COUNT) * sizeof *out);
}

/* All blocks together are more than 2^31 elements. */
static void all_to_all_zeros(large *at) {
  const int64_t half = COUNT / RANKS + 1, stride = (half - 1) / (SAMPLES - 1);
  uint16_t *in = map_zeros(RANKS * half), *out = map_zeros(RANKS * half), wanted;
  for (int64_t n = 0; n < RANKS * SAMPLES; n++)
    element_put(TUTTI_BFLOAT16, &in[n / SAMPLES * half + n % SAMPLES * stride],
                sample_value(n % SAMPLES, at->rank) + (double)(n / SAMPLES));
  CHECK(tutti_all_to_all(in, out, half, TUTTI_BFLOAT16, at->comm) == TUTTI_OK);
  for (int64_t n = 0; n < RANKS * SAMPLES; n++) {
    element_put(TUTTI_BFLOAT16, &wanted, sample_value(n % SAMPLES, n / SAMPLES) + (double)at->rank);
    CHECK(out[n / SAMPLES * half + n % SAMPLES * stride] == wanted);
  }
  munmap(in, (size_t)(RANKS * half) * sizeof *in);
  munmap(out, (size_t)(RANKS * half) * sizeof *out);
}

static void run_zeros(large *at) {
  allreduce_zeros(at);
  broadcast_zeros(at);
  allgather_zeros(at);
  all_to_all_zeros(at);
}

/* ---- jobs ---- */

typedef struct job_part {
  void (*run)(large *at);
} job_part;

static void run_rank(const tutti_boot *boot, void *argument) {
  const job_part *part = argument;
  large at = {.rank = boot->rank};
  tutti_context *context;
  tutti_context_options options;
  setenv("TUTTI_SLOT_BYTES", "1M", 1); /* fewer turns where ranks share cores */
  setenv("TUTTI_SLOT_COUNT", "16", 1);
  tutti_context_options_init(&options);
  options.boot = boot;
  CHECK(tutti_context_create(&options, &context) == TUTTI_OK);
  CHECK(tutti_comm_create(context, &at.comm) == TUTTI_OK);
  part->run(&at);
  tutti_comm_destroy(at.comm);
  tutti_context_destroy(context);
}

static void test_2_31_elements_reach_every_place(void **state) {
  (void)state;
  job_part part = {run_windows};
  assert_int_equal(job_run(RANKS, run_rank, &part), 0);
}

static void test_2_31_elements_reach_every_place_in_other_calls(void **state) {
  (void)state;
  job_part part = {run_more_windows};
  if (!getenv("TUTTI_TEST_LONG"))
    skip();
  assert_int_equal(job_run(RANKS, run_rank, &part), 0);
}

static void test_2_31_elements_in_real_memory(void **state) {
  (void)state;
  job_part part = {run_zeros};
  if (!getenv("TUTTI_TEST_LONG"))
    skip(); /* needs 10 GiB */
  assert_int_equal(job_run(RANKS, run_rank, &part), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_2_31_elements_reach_every_place),
      cmocka_unit_test(test_2_31_elements_reach_every_place_in_other_calls),
      cmocka_unit_test(test_2_31_elements_in_real_memory),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
