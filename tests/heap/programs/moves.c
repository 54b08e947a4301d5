/* tests/heap/programs/moves.c - a block moves while other threads write to it, by themselves and by the system: nothing
 * that they write is lost. argv[1]: times. */
#include "check.h"

#include <pthread.h>
#include <stdatomic.h>

enum { WRITERS = 3, BYTES = 3 << 20, USED = 1 << 20, STEP = 4096 * 3 };

static unsigned char *block;
static atomic_bool over;
static int zeros[2]; /* a pipe */

/* Each has bytes of its own, behind the part that calls use; some of them were never touched before. */
static void *write_on(void *number) {
  size_t own = (size_t)(uintptr_t)number;
  for (unsigned char turn = 1; !over; turn++)
    for (size_t at = USED + own * 64; at < BYTES; at += STEP) {
      if (own > 0) {
        block[at] = turn;
      } else {
        CHECK(write(zeros[1], &turn, 1) == 1);
        CHECK(read(zeros[0], &block[at], 1) == 1);
      }
      CHECK(*(volatile unsigned char *)&block[at] == turn);
    }
  return NULL;
}

/* A block with a page that nobody may read stays where it is, if calls use the rest of it. */
static void stay_guarded(const tt_heap_offer *heap) {
  enum { PAGE = 65536, ALL = 16 * PAGE };
  unsigned char *guarded = malloc(ALL);
  uint64_t offset;
  memset(guarded, 5, ALL);
  CHECK(mprotect(guarded + ALL - PAGE, PAGE, PROT_NONE) == 0);
  for (int n = 0; n < 8; n++)
    heap->use(guarded, ALL / 2);
  CHECK(!heap->locate(guarded, 1, &offset) && guarded[0] == 5);
  CHECK(mprotect(guarded + ALL - PAGE, PAGE, PROT_READ | PROT_WRITE) == 0 && guarded[ALL - 1] == 5);
  free(guarded);
}

int main(int argc, char **argv) {
  const tt_heap_offer *heap = find_heap();
  int times = argc > 1 ? atoi(argv[1]) : 1, moved = 0;
  CHECK(pipe(zeros) == 0);
  stay_guarded(heap);
  for (int n = 0; n < times; n++) {
    pthread_t thread[WRITERS];
    block = calloc(1, BYTES);
    over = false;
    for (uintptr_t w = 0; w < WRITERS; w++)
      CHECK(pthread_create(&thread[w], NULL, write_on, (void *)w) == 0);
    memset(block, 3, USED);
    uint64_t offset;
    for (int use = 0; use < 7; use++, usleep(200))
      heap->use(block, USED);
    moved += heap->locate(block + 5, BYTES - 5, &offset);
    over = true;
    for (int w = 0; w < WRITERS; w++)
      pthread_join(thread[w], NULL);
    for (size_t at = 0; at < USED; at += 61)
      CHECK(block[at] == 3);
    free(block);
    free(malloc(40 << 20)); /* another place next time */
  }
  CHECK(moved == 0 || strcmp(getenv("TUTTI_HEAP"), "parts") == 0);
  if (moved == 0)
    puts("nothing moved");
  puts("all is well");
  return 0;
}
