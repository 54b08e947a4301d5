/* tune/wisdom.h - what those share that read, keep and send wisdom. */
#ifndef TT_TUNE_WISDOM_H
#define TT_TUNE_WISDOM_H

#include "tune/tune.h"

/* Without a look at the text, and whether there is one of that region. Texts are copied. TUTTI_ERR_MEMORY;
 * TUTTI_ERR_ARGUMENT where the list has TT_WISDOM_ROWS. */
tutti_status tt_wisdom_append(tt_wisdom *wisdom, const tt_winner *winner);
tutti_status tt_wisdom_append_outside(tt_wisdom *wisdom, const tt_outside *outside);
tutti_status tt_wisdom_append_inferred(tt_wisdom *wisdom, const tt_inferred *inferred);

/* ---- files ---- */

#define TT_WISDOM_ROWS 10000 /* of a list at most */

/* A number of a region, as rows of a file have them, in this order. */
typedef struct tt_region_member {
  const char *name;
  size_t at; /* in tt_region */
  int64_t least, most;
} tt_region_member;

#define TT_REGION_MEMBERS 5
extern const tt_region_member tt_region_members[TT_REGION_MEMBERS];

static inline int64_t *tt_region_value(tt_region *region, const tt_region_member *member) {
  return (int64_t *)(void *)((char *)region + member->at);
}

/* Of a text just as tt_wisdom_write puts it, in which nothing is wrong. NULL: of any other, or no memory; then
 * tt_wisdom_read finds out more. path: of its file. */
tt_wisdom *tt_wisdom_scan(const char *path, const char *text, size_t size);

#endif
