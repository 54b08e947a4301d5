/* An error that says who called what is about one moment: ranks that come to the call while it is written hide nobody.
 */
#include "agree/parts.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RANKS 3
#define TEXTS 20000

typedef struct job {
  tutti_comm comm;
  tt_board cell[RANKS], *board[RANKS];
  _Atomic int ended;
} job;

/* Rank 0 has called something else than ranks 1 and 2. */
static void put(job *of, int rank, uint64_t number) {
  uint64_t *word = of->cell[rank].record[0].word;
  atomic_store_explicit(tt_atomic_word(&word[0]), number, memory_order_release);
}

static job *make_job(void) {
  job *made = aligned_alloc(64, sizeof *made);
  assert_non_null(made);
  memset(made, 0, sizeof *made);
  made->comm.size = RANKS;
  made->comm.rank = 2;
  made->comm.agree.board = made->board;
  for (int r = 0; r < RANKS; r++) {
    made->board[r] = &made->cell[r];
    made->cell[r].record[0] = (tt_record){
        .key = r == 0 ? 7 : 8, .collective = r == 0 ? TT_SCAN : TT_EXSCAN, .type = TUTTI_INT32, .op = TUTTI_SUM};
    put(made, r, 1);
  }
  return made;
}

static void *come_and_go(void *argument) {
  job *of = argument;
  while (!atomic_load_explicit(&of->ended, memory_order_relaxed)) {
    put(of, 1, 0);
    put(of, 1, 1);
  }
  return NULL;
}

static void write_text(const job *of, char *text, size_t size) {
  *text = '\0';
  tt_record_add_difference(&(tt_text){text, size, 0}, &of->comm, 1);
}

static void test_all_who_differ_are_named(void **state) {
  (void)state;
  char text[TT_VERDICT_TEXT];
  job *of = make_job();
  write_text(of, text, sizeof text);
  assert_string_equal(text, "ranks differ in call 1 on a communicator of 3: rank 0 called scan(count 0, int32, sum); "
                            "ranks 1 and 2 called exscan(count 0, int32, sum)");
  put(of, 1, 0);
  write_text(of, text, sizeof text);
  assert_non_null(strstr(text, "; rank 2 called exscan"));
  free(of);
}

static void test_who_comes_meanwhile_hides_nobody(void **state) {
  (void)state;
  char text[TT_VERDICT_TEXT];
  pthread_t thread;
  job *of = make_job();
  assert_int_equal(pthread_create(&thread, NULL, come_and_go, of), 0);
  for (int n = 0; n < TEXTS; n++) {
    write_text(of, text, sizeof text);
    assert_non_null(strstr(text, "called scan"));
    assert_non_null(strstr(text, "2 called exscan"));
  }
  atomic_store_explicit(&of->ended, 1, memory_order_relaxed);
  assert_int_equal(pthread_join(thread, NULL), 0);
  free(of);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_who_differ_are_named),
      cmocka_unit_test(test_who_comes_meanwhile_hides_nobody),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
