/* tools/learn/book.h - what lessons are made from: a cell for each task that was measured or simulated, with the times
 * of all that may be chosen there. */
#ifndef TUTTI_TOOLS_LEARN_BOOK_H
#define TUTTI_TOOLS_LEARN_BOOK_H

#include "tune/lessons.h"

#define LEARN_POOL 48 /* texts of a collective that were the best somewhere, and the rules' */

typedef struct learn_sample {
  const char *text;
  double time_ns;
  int64_t rounds;
  uint64_t identity; /* 0: not found out yet */
} learn_sample;

typedef struct learn_cell {
  tt_region region;
  bool measured; /* else simulated: its times are predictions */
  const char *rules;
  double rules_ns, best_ns, worst_ns; /* worst: of the samples that are kept */
  const char *best;                   /* "": what the rules say */
  learn_sample *sample;
  int64_t sample_count;
  const char *model; /* the simulator's first; NULL: not asked */
  double model_ns;   /* as it was measured */
  double pool_ns[LEARN_POOL];
} learn_cell;

typedef struct learn_pool {     /* of a collective */
  const char *text[LEARN_POOL]; /* the first is "", the rules */
  int count;
} learn_pool;

typedef struct learn_book {
  learn_cell *cell;
  int64_t count, room, wrong; /* wrong: lines that were not understood */
  learn_pool pool[TT_COLLECTIVE_COUNT];
  tt_arena arena;
} learn_book;

/* Samples of that machine; none where there is no file. learn_book_close afterwards in any case. */
tutti_status learn_book_open(const char *samples, const char *machine, learn_book *book);
void learn_book_close(learn_book *book);
/* NULL: no memory. It stays where it is until the next is added. */
learn_cell *learn_book_add(learn_book *book, const tt_region *region);
learn_cell *learn_book_find(const learn_book *book, const tt_region *region);

/* The time of a text in a measured cell. task: NULL: texts that run alike are not known; else of that cell. What was
 * not measured is taken to be as slow as the slowest that was kept; for what makes no plan the fallback runs. */
double learn_cell_time(learn_cell *cell, const tt_task *task, const char *text);
/* All of the pool. */
void learn_cell_fill(learn_cell *cell, const tt_task *task, const learn_pool *pool);

#endif
