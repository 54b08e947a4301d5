/* What a rank says of refused calls is read whole, also while it writes anew, or is held up in the middle of that. */
#include "agree/parts.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SAID 20000

typedef struct rank {
  tutti_comm comm;
  tt_stop_cell cell;
} rank;

static rank *make_rank(void) {
  rank *made = calloc(1, sizeof *made);
  tt_stops *stops = calloc(1, sizeof *stops + sizeof stops->of[0]);
  assert_true(made && stops);
  made->comm.size = 1;
  made->comm.refused.stops = stops;
  stops->of[0] = &made->cell;
  return made;
}

static void free_rank(rank *made) {
  free(made->comm.refused.stops);
  free(made);
}

/* Every word holds n. */
static void say(rank *by, uint64_t n) {
  tt_stop_words *own = &by->comm.refused.stops->own;
  for (size_t word = 1; word < sizeof own->word / sizeof own->word[0]; word++)
    own->word[word] = n;
  tt_stops_say(&by->comm);
}

static uint64_t read_whole(const rank *of) {
  tt_stop_words read;
  tt_stops_read(&of->comm, 0, &read.said);
  for (size_t word = 2; word < sizeof read.word / sizeof read.word[0]; word++)
    assert_int_equal(read.word[word], read.word[1]);
  return read.word[1];
}

static void test_writer_that_is_held_up(void **state) {
  (void)state;
  rank *writer = make_rank();
  assert_int_equal(read_whole(writer), 0);
  for (uint64_t n = 1; n < 5; n++) {
    say(writer, n);
    memset(writer->cell.words[(n + 1) % 2].word, 0xff, sizeof writer->cell.words[0].word / 2); /* n + 1, half written */
    assert_int_equal(read_whole(writer), n);
  }
  free_rank(writer);
}

static void *say_many(void *by) {
  for (uint64_t n = 1; n <= SAID; n++)
    say(by, n);
  return NULL;
}

static void test_writer_that_does_not_pause(void **state) {
  (void)state;
  pthread_t thread;
  rank *writer = make_rank();
  assert_int_equal(pthread_create(&thread, NULL, say_many, writer), 0);
  for (uint64_t last = 0, now; last < SAID; last = now) {
    now = read_whole(writer);
    assert_true(now >= last);
  }
  assert_int_equal(pthread_join(thread, NULL), 0);
  free_rank(writer);
}

static void test_nothing_follows_the_last_call(void **state) {
  (void)state;
  rank *refuser = make_rank();
  const tt_stop *said = &refuser->comm.refused.stops->own.said;
  assert_false(tt_stop_refuses(said, UINT64_MAX + UINT64_C(1)));
  tt_stops_refuse(&refuser->comm, 3, "it cannot");
  assert_false(tt_stop_refuses(said, UINT64_MAX + UINT64_C(1)));
  assert_true(tt_stop_refuses(said, 3));
  assert_false(tt_stop_refuses(said, 4));
  free_rank(refuser);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_writer_that_is_held_up),
      cmocka_unit_test(test_writer_that_does_not_pause),
      cmocka_unit_test(test_nothing_follows_the_last_call),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
