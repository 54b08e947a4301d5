/* plan/reader.h - reads texts of a strict form: single spaces, no leading zeros, one order of words.
 *
 * So whatever is accepted prints back to the same text. The first thing that is not as expected is kept with its line,
 * and all that is read after it is nothing: only the end needs to look. */
#ifndef TT_PLAN_READER_H
#define TT_PLAN_READER_H

#include "plan/plan.h"

typedef struct tt_plan_reader {
  const char *at; /* ends with a zero */
  uint64_t line;
  const char *expected; /* NULL: no error so far */
  char range[48];       /* of a number that is expected */
} tt_plan_reader;

void tt_plan_expect(tt_plan_reader *in, const char *what);
bool tt_plan_accept(tt_plan_reader *in, const char *word); /* whether `word` stands next; goes on behind it */
void tt_plan_need(tt_plan_reader *in, const char *word);   /* the same, and an error where it does not */
bool tt_plan_more(const tt_plan_reader *in);               /* neither an error nor the end */
uint64_t tt_plan_number(tt_plan_reader *in, uint64_t least, uint64_t most);
uint32_t tt_plan_name(tt_plan_reader *in, const char *const *names, uint32_t count, const char *what);
void tt_plan_end_line(tt_plan_reader *in);
/* TUTTI_ERR_PLAN with the line, what was expected and what stands there. */
tutti_status tt_plan_refused(const tt_plan_reader *in);

/* `table` with room for one entry more, in the arena: it begins with 4 and doubles. NULL: no memory. */
void *tt_plan_grown(tt_arena *arena, void *table, size_t count, size_t size);

/* parse.c: one plan, up to the next one or the end. TUTTI_OK also where something else was expected. */
tutti_status tt_plan_read(tt_plan_reader *in, tt_plan **plan);

#endif
