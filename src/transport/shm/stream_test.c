/* Streams, cells and memory of the shared memory transport, all ranks in one process; two threads for the thread
 * sanitizer. */
#include "transport/shm/self.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define RANKS 4
#define SLOT_BYTES 4096

static const tt_shm_config config = {.bytes = 256 << 20, .slot_bytes = SLOT_BYTES, .slot_count = 4};
static const tutti_transport_ops *ops;
static void *rank[RANKS];

static int open_ranks(void **state) {
  (void)state;
  ops = tt_shm_ops();
  return tt_shm_open_threads(&config, RANKS, rank) != TUTTI_OK;
}

static int close_ranks(void **state) {
  (void)state;
  for (int r = 0; r < RANKS; r++)
    ops->close(rank[r]);
  return 0;
}

static tutti_stream *open_end(int end, uint64_t id, int64_t source, const int64_t *readers, int64_t count) {
  tutti_stream_spec spec = {
      .id = id, .source = source, .readers = readers, .reader_count = count, .slot_bytes_minimum = 64};
  tutti_stream *stream = NULL;
  assert_int_equal(ops->stream_open(rank[end], &spec, &stream), TUTTI_OK);
  return stream;
}

static void fill(unsigned char *data, size_t bytes, uint64_t number) {
  for (size_t b = 0; b < bytes; b++)
    data[b] = (unsigned char)(number * 31 + b * 7);
}

static bool is_filled(const unsigned char *data, size_t bytes, uint64_t number) {
  for (size_t b = 0; b < bytes; b++)
    if (data[b] != (unsigned char)(number * 31 + b * 7))
      return false;
  return true;
}

/* Whether there was room. */
static bool put(int end, tutti_stream *stream, size_t bytes, uint64_t number) {
  tutti_slot_header *header;
  void *data;
  size_t room;
  if (ops->reserve(rank[end], stream, &header, &data, &room) != TUTTI_OK || room == 0)
    return false;
  *header = (tutti_slot_header){.call = number, .key = ~number};
  fill(data, bytes, number);
  return ops->commit(rank[end], stream, bytes) == TUTTI_OK;
}

/* 1: the expected slot came and was released, 0: none, -1: another. */
static int take(int end, tutti_stream *stream, size_t bytes, uint64_t number) {
  const tutti_slot_header *header;
  const void *data;
  size_t came;
  if (ops->peek(rank[end], stream, &header, &data, &came) != TUTTI_OK)
    return -1;
  if (header == NULL)
    return 0;
  bool right = header->call == number && header->key == ~number && came == bytes && is_filled(data, bytes, number);
  return right && ops->release(rank[end], stream) == TUTTI_OK ? 1 : -1;
}

static void test_slots_of_every_size_arrive_in_order(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 7, 8, 24, 31, 32, 33, 64, 1000, SLOT_BYTES};
  int64_t reader = 1;
  tutti_stream *writer = open_end(0, 1, 0, &reader, 1), *other = open_end(1, 1, 0, &reader, 1);
  for (uint64_t n = 0; n < 1000; n++) {
    assert_int_equal(take(1, other, 0, 0), 0);
    assert_true(put(0, writer, sizes[n % TT_COUNT(sizes)], n));
    assert_int_equal(ops->unreleased(rank[0], writer), 1);
    assert_int_equal(take(1, other, sizes[n % TT_COUNT(sizes)], n), 1);
    assert_int_equal(ops->unreleased(rank[0], writer), 0);
  }
  ops->stream_close(rank[0], writer);
  ops->stream_close(rank[1], other);
}

static void test_writer_has_as_many_slots_as_configured(void **state) {
  (void)state;
  int64_t reader = 1;
  tutti_stream *writer = open_end(0, 2, 0, &reader, 1);
  for (uint64_t n = 0; n < 4; n++)
    assert_true(put(0, writer, 100, n));
  assert_false(put(0, writer, 100, 4));
  tutti_stream *late = open_end(1, 2, 0, &reader, 1);
  ops->stream_close(rank[0], writer); /* what was committed can still be read */
  for (uint64_t n = 0; n < 4; n++)
    assert_int_equal(take(1, late, 100, n), 1);
  ops->stream_close(rank[1], late);
}

static void test_published_slot_is_free_when_all_readers_released_it(void **state) {
  (void)state;
  int64_t readers[] = {0, 1, 3};
  tutti_stream *writer = open_end(2, 3, 2, readers, 3);
  tutti_stream *end[] = {open_end(0, 3, 2, readers, 3), open_end(1, 3, 2, readers, 3), open_end(3, 3, 2, readers, 3)};
  for (uint64_t n = 0; n < 400; n += 4) {
    for (uint64_t k = 0; k < 4; k++)
      assert_true(put(2, writer, 200, n + k));
    for (int r = 0; r < 3; r++) {
      assert_false(put(2, writer, 200, 0));
      for (uint64_t k = 0; k < 4; k++)
        assert_int_equal(take((int)readers[r], end[r], 200, n + k), 1);
    }
  }
  ops->stream_close(rank[2], writer);
  for (int r = 0; r < 3; r++)
    ops->stream_close(rank[readers[r]], end[r]);
}

static void test_referred_data_is_read_where_it_lies(void **state) {
  (void)state;
  int64_t reader = 1;
  tutti_stream *writer = open_end(0, 4, 0, &reader, 1), *other = open_end(1, 4, 0, &reader, 1);
  void *memory = NULL, *data;
  tutti_slot_header *header;
  size_t room, bytes = 3 * SLOT_BYTES;
  char foreign[64] = "";
  assert_int_equal(ops->alloc(rank[0], bytes, &memory), TUTTI_OK);
  assert_int_equal((uintptr_t)memory % 64, 0);
  fill(memory, bytes, 9);
  assert_int_equal(ops->reserve(rank[0], writer, &header, &data, &room), TUTTI_OK);
  *header = (tutti_slot_header){.call = 9, .key = ~(uint64_t)9};
  assert_int_equal(ops->refer(rank[0], writer, foreign, sizeof foreign, 0), TUTTI_ERR_UNSUPPORTED);
  assert_int_equal(ops->refer(rank[0], writer, memory, bytes, 0), TUTTI_OK);
  assert_int_equal(ops->unreleased(rank[0], writer), 1);
  const tutti_slot_header *came;
  const void *where;
  assert_int_equal(ops->peek(rank[1], other, &came, &where, &bytes), TUTTI_OK);
  assert_ptr_equal(where, memory); /* one mapping here */
  assert_int_equal(take(1, other, 3 * SLOT_BYTES, 9), 1);
  ops->free(rank[0], memory);
  ops->stream_close(rank[0], writer);
  ops->stream_close(rank[1], other);
}

static void test_cells_are_the_same_memory_zeroed_at_first(void **state) {
  (void)state;
  int64_t all[] = {0, 1, 2, 3}, some[] = {1, 3};
  for (int round = 0; round < 3; round++) {
    void *cell[RANKS][RANKS], *part[RANKS];
    for (int r = 0; r < RANKS; r++)
      assert_int_equal(ops->cells_open(rank[r], 7, all, 4, 100, cell[r]), TUTTI_OK);
    assert_int_equal(ops->cells_open(rank[1], 7, some, 2, 100, part), TUTTI_OK);
    assert_ptr_not_equal(part[0], cell[0][1]);
    for (int r = 0; r < RANKS; r++) {
      assert_memory_equal(&cell[r][0], &cell[0][0], sizeof cell[r]);
      assert_int_equal((uintptr_t)cell[r][r] % 64, 0);
      for (int b = 0; b < 100; b++)
        assert_int_equal(((char *)cell[r][r])[b], 0);
    }
    memset(cell[2][3], 1, 100);
    assert_int_equal(((char *)cell[1][2])[0], 0);
    for (int r = 0; r < RANKS; r++)
      ops->cells_close(rank[r], 7);
  }
}

static void test_misuse_is_an_argument_error(void **state) {
  (void)state;
  int64_t reader = 1, beyond = RANKS;
  tutti_stream *writer = open_end(0, 5, 0, &reader, 1), *other = open_end(1, 5, 0, &reader, 1), *none;
  tutti_stream_spec spec = {.id = 5, .source = 0, .readers = &reader, .reader_count = 1};
  assert_int_equal(ops->stream_open(rank[0], &spec, &none), TUTTI_ERR_ARGUMENT); /* open already */
  assert_int_equal(ops->stream_open(rank[2], &spec, &none), TUTTI_ERR_ARGUMENT); /* neither end */
  spec.readers = &beyond;
  assert_int_equal(ops->stream_open(rank[0], &spec, &none), TUTTI_ERR_ARGUMENT);
  spec.reader_count = 0;
  assert_int_equal(ops->stream_open(rank[0], &spec, &none), TUTTI_ERR_ARGUMENT);
  assert_int_equal(ops->commit(rank[0], writer, 8), TUTTI_ERR_ARGUMENT); /* not reserved */
  assert_int_equal(ops->release(rank[1], other), TUTTI_ERR_ARGUMENT);    /* nothing has come */
  tutti_slot_header *header;
  void *data;
  size_t room;
  assert_int_equal(ops->reserve(rank[0], writer, &header, &data, &room), TUTTI_OK);
  assert_int_equal(ops->commit(rank[0], writer, room + 1), TUTTI_ERR_ARGUMENT);
  assert_int_equal(ops->alloc(rank[0], (size_t)1 << 40, &data), TUTTI_ERR_MEMORY);
  ops->stream_close(rank[0], writer);
  ops->stream_close(rank[1], other);
}

static void test_larger_slots_than_the_ring_has_are_refused(void **state) {
  (void)state;
  int64_t reader = 1;
  tutti_stream *writer = open_end(0, 6, 0, &reader, 1), *other;
  tutti_stream_spec spec = {.id = 6, .source = 0, .readers = &reader, .reader_count = 1};
  spec.slot_bytes_minimum = SLOT_BYTES + 1;
  assert_int_equal(ops->stream_open(rank[1], &spec, &other), TUTTI_ERR_MISMATCH);
  spec.id = 60;
  assert_int_equal(ops->stream_open(rank[1], &spec, &other), TUTTI_OK);
  ops->stream_close(rank[0], writer);
  ops->stream_close(rank[1], other);
}

static void test_rank_that_left_is_an_error_once_its_data_is_used(void **state) {
  (void)state;
  int64_t reader = 1;
  tutti_stream *writer = open_end(0, 8, 0, &reader, 1), *other = open_end(1, 8, 0, &reader, 1);
  assert_true(put(0, writer, 50, 1));
  ops->close(rank[0]);
  rank[0] = NULL;
  const tutti_slot_header *header;
  const void *data;
  size_t bytes;
  int64_t peer;
  assert_int_equal(ops->progress(rank[1], &peer), TUTTI_OK);
  assert_int_equal(ops->peer_dead(rank[1], 0), 2);
  assert_int_equal(take(1, other, 50, 1), 1);
  assert_int_equal(ops->peek(rank[1], other, &header, &data, &bytes), TUTTI_ERR_PEER);
  assert_non_null(strstr(tutti_last_error(), "rank 0"));
}

/* It lives, so nobody can say of it any more that it died. */
static void test_rank_that_leaves_after_it_was_taken_for_dead_has_left(void **state) {
  (void)state;
  int64_t peer = -1;
  tt_shm_peer_mark_dead(rank[0], 1);
  assert_int_equal(ops->progress(rank[0], &peer), TUTTI_ERR_PEER);
  assert_int_equal(peer, 1);
  ops->close(rank[1]);
  rank[1] = NULL;
  assert_int_equal(ops->progress(rank[0], &peer), TUTTI_OK);
  assert_int_equal(ops->peer_dead(rank[0], 1), 2);
}

static blkcnt_t memory_used(void) {
  struct stat status;
  assert_int_equal(fstat(((tt_shm *)rank[0])->segment->file.fd, &status), 0);
  return status.st_blocks;
}

static void use_once(uint64_t id) {
  int64_t readers[] = {1, 2, 3}, all[] = {0, 1};
  void *cell[2], *memory;
  tutti_stream *end[RANKS];
  for (int r = 0; r < RANKS; r++)
    end[r] = open_end(r, id, 0, readers, 3);
  for (uint64_t n = 0; n < 4; n++)
    put(0, end[0], SLOT_BYTES, n);
  for (int r = 0; r < RANKS; r++)
    ops->stream_close(rank[r], end[r]);
  for (int r = 0; r < 2; r++)
    assert_int_equal(ops->cells_open(rank[r], id, all, 2, 5000, cell), TUTTI_OK);
  memset(cell[1], 1, 5000);
  for (int r = 0; r < 2; r++)
    ops->cells_close(rank[r], id);
  assert_int_equal(ops->alloc(rank[0], 100000, &memory), TUTTI_OK);
  memset(memory, 1, 100000);
  ops->free(rank[0], memory);
}

static void test_what_is_closed_is_given_back(void **state) {
  (void)state;
  use_once(100);
  blkcnt_t before = memory_used();
  for (uint64_t n = 0; n < 10000; n++)
    use_once(101 + n);
  assert_int_equal(memory_used(), before);
}

#define EPOCH (((uint64_t)1 << 19) - 1)

static void open_and_close_stream(int r, uint64_t id) {
  int64_t reader = 1;
  ops->stream_close(rank[r], open_end(r, id, 0, &reader, 1));
}

/* Cells of two ranks, cells that go with those, and a stream that goes with these, opened at one end only. */
static void use_family(uint64_t id, bool both) {
  int64_t all[] = {0, 1};
  void *cell[2];
  for (int r = 0; r < 2; r++) {
    assert_int_equal(ops->cells_open(rank[r], id << 32, all, 2, 64, cell), TUTTI_OK);
    if (r == 0 || both)
      assert_int_equal(ops->cells_open(rank[r], id << 32 | 5 << 19 | EPOCH, all, 2, 64, cell), TUTTI_OK);
  }
  open_and_close_stream(0, id << 32 | 5 << 19 | 3 << 16);
  for (int r = 0; r < 2; r++)
    ops->cells_close(rank[r], id << 32 | 5 << 19 | EPOCH);
  blkcnt_t before = memory_used();
  if (both)
    open_and_close_stream(0, id << 32 | 6 << 19); /* in what the first one has left */
  assert_true(memory_used() == before);
  for (int r = 0; r < 2; r++)
    ops->cells_close(rank[r], id << 32);
}

static void test_what_one_rank_alone_has_opened_goes_with_its_group(void **state) {
  (void)state;
  use_family(1000, true);
  use_family(1001, false);
  blkcnt_t before = memory_used();
  for (uint64_t n = 0; n < 100; n++)
    use_family(1002 + n, n % 2);
  assert_int_equal(memory_used(), before);
}

static void test_many_streams_take_little_memory(void **state) {
  (void)state;
  enum { COUNT = 800 };
  static tutti_stream *end[COUNT][2];
  int64_t reader = 1;
  blkcnt_t before = memory_used();
  for (uint64_t n = 0; n < COUNT; n++) {
    end[n][0] = open_end(0, n << 32, 0, &reader, 1);
    end[n][1] = open_end(1, n << 32, 0, &reader, 1);
    assert_true(put(0, end[n][0], 8, n));
    assert_int_equal(take(1, end[n][1], 8, n), 1);
  }
  assert_true((memory_used() - before) * 512 <= COUNT * 2 * 4096);
  for (int n = 0; n < COUNT; n++)
    for (int r = 0; r < 2; r++)
      ops->stream_close(rank[r], end[n][r]);
}

static void test_full_segment_is_a_memory_error(void **state) {
  (void)state;
  void *memory[64];
  int count = 0;
  while (count < 64 && ops->alloc(rank[0], 9 << 20, &memory[count]) == TUTTI_OK)
    count++;
  assert_in_range(count, 8, 16);
  while (count > 0)
    ops->free(rank[0], memory[--count]);
  assert_int_equal(ops->alloc(rank[0], 1000, &memory[0]), TUTTI_OK); /* a larger block is split */
  ops->free(rank[0], memory[0]);
}

/* Held by no buffer. */
static void test_freed_memory_is_kept_for_the_next(void **state) {
  (void)state;
  enum { BYTES = 1 << 20, COUNT = 8 };
  char *memory[COUNT], *again = NULL;
  assert_int_equal(ops->alloc(rank[0], BYTES, (void **)&memory[0]), TUTTI_OK);
  memset(memory[0], 7, BYTES);
  ops->free(rank[0], memory[0]);
  assert_int_equal(ops->alloc(rank[0], BYTES - 5000, (void **)&again), TUTTI_OK);
  assert_ptr_equal(again, memory[0]);
  assert_int_equal(ops->alloc(rank[0], BYTES, (void **)&memory[1]), TUTTI_OK);
  assert_ptr_not_equal(memory[1], again);
  ops->free(rank[0], again);
  assert_int_equal(ops->alloc(rank[0], BYTES / 4, (void **)&memory[2]), TUTTI_OK); /* that would be a waste */
  assert_ptr_not_equal(memory[2], again);
  ops->free(rank[0], memory[1]);
  ops->free(rank[0], memory[2]);
  blkcnt_t before = memory_used();
  for (int n = 0; n < COUNT; n++)
    assert_int_equal(ops->alloc(rank[1], BYTES, (void **)&memory[n]), TUTTI_OK);
  for (int n = 0; n < COUNT; n++)
    ops->free(rank[1], memory[n]);
  tt_shm_kept *kept = &((tt_shm *)rank[1])->kept;
  assert_true(kept->bytes > 0 && kept->bytes <= kept->live_most && kept->live == 0);
  assert_true(tt_shm_kept_drop(rank[1]) && !tt_shm_kept_drop(rank[1]));
  assert_true(kept->bytes == 0 && memory_used() - before < BYTES / 512 * 2);
}

enum { THREAD_SLOTS = 20000 };

static void *write_all(void *argument) {
  tutti_stream *stream = argument;
  for (uint64_t n = 0; n < THREAD_SLOTS; n++)
    while (!put(0, stream, n * 37 % 300, n))
      ops->wait(rank[0], 1000000);
  return NULL;
}

static void *read_all(void *argument) {
  tutti_stream *stream = argument;
  for (uint64_t n = 0; n < THREAD_SLOTS;) {
    int came = take(1, stream, n * 37 % 300, n);
    if (came < 0)
      return stream;
    n += (uint64_t)came;
    if (came == 0)
      sched_yield();
  }
  return NULL;
}

static void test_threads_move_slots_without_races(void **state) {
  (void)state;
  int64_t reader = 1;
  pthread_t thread[2];
  void *result[2];
  pthread_create(&thread[0], NULL, write_all, open_end(0, 9, 0, &reader, 1));
  pthread_create(&thread[1], NULL, read_all, open_end(1, 9, 0, &reader, 1));
  for (int t = 0; t < 2; t++)
    pthread_join(thread[t], &result[t]);
  assert_null(result[1]);
}

#define RANKS_TEST(name) cmocka_unit_test_setup_teardown(name, open_ranks, close_ranks)

static void test_slots_that_no_segment_holds_are_an_error(void **state) {
  (void)state;
  static const uint64_t bytes[] = {64, (uint64_t)1 << 62}, count[] = {(uint64_t)1 << 58, 4}; /* products wrap */
  const int64_t reader = 1;
  const tutti_stream_spec spec = {.id = 1, .readers = &reader, .reader_count = 1, .slot_bytes_minimum = 64};
  for (size_t n = 0; n < TT_COUNT(bytes); n++) {
    const tt_shm_config huge = {.bytes = 16 << 20, .slot_bytes = bytes[n], .slot_count = count[n]};
    void *one[2];
    tutti_stream *stream = NULL;
    assert_int_equal(tt_shm_open_threads(&huge, 2, one), TUTTI_OK);
    assert_int_equal(ops->stream_open(one[0], &spec, &stream), TUTTI_ERR_MEMORY);
    assert_non_null(strstr(tutti_last_error(), "TUTTI_SLOT_COUNT"));
    ops->close(one[0]);
    ops->close(one[1]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      RANKS_TEST(test_slots_that_no_segment_holds_are_an_error),
      RANKS_TEST(test_slots_of_every_size_arrive_in_order),
      RANKS_TEST(test_writer_has_as_many_slots_as_configured),
      RANKS_TEST(test_published_slot_is_free_when_all_readers_released_it),
      RANKS_TEST(test_referred_data_is_read_where_it_lies),
      RANKS_TEST(test_cells_are_the_same_memory_zeroed_at_first),
      RANKS_TEST(test_misuse_is_an_argument_error),
      RANKS_TEST(test_larger_slots_than_the_ring_has_are_refused),
      RANKS_TEST(test_rank_that_left_is_an_error_once_its_data_is_used),
      RANKS_TEST(test_rank_that_leaves_after_it_was_taken_for_dead_has_left),
      RANKS_TEST(test_what_is_closed_is_given_back),
      RANKS_TEST(test_what_one_rank_alone_has_opened_goes_with_its_group),
      RANKS_TEST(test_many_streams_take_little_memory),
      RANKS_TEST(test_full_segment_is_a_memory_error),
      RANKS_TEST(test_freed_memory_is_kept_for_the_next),
      RANKS_TEST(test_threads_move_slots_without_races),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
