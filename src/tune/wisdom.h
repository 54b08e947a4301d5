/* tune/wisdom.h - what those share that read, keep and send wisdom. */
#ifndef TT_TUNE_WISDOM_H
#define TT_TUNE_WISDOM_H

#include "tune/tune.h"

#include <string.h>

/* Without a look at the text, and whether there is one of that region. Texts are copied. TUTTI_ERR_MEMORY;
 * TUTTI_ERR_ARGUMENT where the list has TT_WISDOM_ROWS. */
tutti_status tt_wisdom_append(tt_wisdom *wisdom, const tt_winner *winner);
tutti_status tt_wisdom_append_outside(tt_wisdom *wisdom, const tt_outside *outside);
tutti_status tt_wisdom_append_inferred(tt_wisdom *wisdom, const tt_inferred *inferred);

/* Whether it may name one: "openmpi-4.1". */
bool tt_library_is(const char *name);

/* ---- files ---- */

#define TT_WISDOM_ROWS 10000 /* of a list at most */

/* A number of a region, as rows of a file have them, in this order. */
typedef struct tt_region_member {
  const char *name;
  const char *leads; /* `, "name": ` */
  size_t at;         /* in tt_region */
  int64_t least, most;
} tt_region_member;

#define TT_REGION_MEMBERS 5
extern const tt_region_member tt_region_members[TT_REGION_MEMBERS];

static inline int64_t *tt_region_value(tt_region *region, const tt_region_member *member) {
  return (int64_t *)(void *)((char *)region + member->at);
}

static inline int64_t tt_region_number(const tt_region *region, const tt_region_member *member) {
  int64_t number;
  memcpy(&number, (const char *)region + member->at, sizeof number);
  return number;
}

/* By collective, and then by the numbers in their order: less than 0 where a comes first. */
int tt_region_compare(const tt_region *a, const tt_region *b);
/* By library, and then as regions. */
int tt_outside_compare(const tt_outside *a, const tt_outside *b);
/* Both lists; files have them so. */
void tt_wisdom_sort(tt_wisdom *wisdom);

#endif
