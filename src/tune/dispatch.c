/* tune/dispatch.c - from winners to a table of numbers in which a call is looked up: no text is compared, and nothing
 * is computed with floating point, which differs between processors. */
#include "tune/tune.h"

#include <stdio.h>
#include <string.h>

#define NEAR 4 /* buckets up to which a winner holds: four times shorter or longer */

/* Two buckets for each power of two: 2, 3, 4, 6, 8, 12 ... begin one. */
int tt_dispatch_bucket(int64_t bytes) {
  if (bytes < 2)
    return 0;
  int power = 63 - __builtin_clzll((uint64_t)bytes);
  return 2 * power + (int)(bytes >> (power - 1) & 1);
}

int64_t tt_dispatch_bytes(int bucket) {
  int power = bucket / 2;
  return bucket < 2 ? bucket : ((int64_t)1 << power) + (bucket % 2 ? (int64_t)1 << (power - 1) : 0);
}

bool tt_dispatch_near(int64_t bytes, int64_t other) {
  int apart = tt_dispatch_bucket(bytes) - tt_dispatch_bucket(other);
  return apart >= -NEAR && apart <= NEAR;
}

static bool fits(const tt_region *measured, const tt_region *shape) {
  bool one = shape->node_count == 1; /* no NIC is used */
  return measured->rank_count == shape->rank_count && measured->node_count == shape->node_count &&
         measured->ranks_per_node == shape->ranks_per_node && (one || measured->nic_count == shape->nic_count);
}

/* Each bucket takes the nearest of what was measured, by its number; of two equally near ones the longer. bytes: of
 * each number. */
static void spread(int64_t (*bytes)(const tt_wisdom *wisdom, int32_t number), const tt_wisdom *wisdom, int32_t number,
                   int32_t *nearest) {
  int at = tt_dispatch_bucket(bytes(wisdom, number));
  int first = at < NEAR ? 0 : at - NEAR, last = at + NEAR < TT_BUCKETS ? at + NEAR : TT_BUCKETS - 1;
  for (int b = first; b <= last; b++) {
    int distance = b < at ? at - b : b - at;
    int other = nearest[b] < 0 ? -1 : tt_dispatch_bucket(bytes(wisdom, nearest[b]));
    int other_distance = other < 0 ? TT_BUCKETS : other < b ? b - other : other - b;
    if (distance < other_distance || (distance == other_distance && at > other))
      nearest[b] = number;
  }
}

static int64_t bytes_of_winner(const tt_wisdom *wisdom, int32_t number) { return wisdom->winner[number].region.bytes; }

#define NOBODY (-1)
#define RULES (-2) /* what the profile chooses was measured, and is the fastest */

/* A row that only found that the profile was right leaves its lengths to the profile: a bucket may have several rules.
 * Of lengths near it, it says nothing. */
static void leave_to_rules(const tt_wisdom *wisdom, int32_t *winner) {
  for (int b = 0; b < TT_BUCKETS; b++) {
    const tt_winner *nearest = winner[b] < 0 ? NULL : &wisdom->winner[winner[b]];
    if (nearest && nearest->rules_ns > 0 && nearest->time_ns == nearest->rules_ns)
      winner[b] = tt_dispatch_bucket(nearest->region.bytes) == b ? RULES : NOBODY;
  }
}

/* Only where nothing was measured. */
static void add_inferred(const tt_wisdom *wisdom, int64_t number, int32_t *winner) {
  const tt_inferred *of = &wisdom->inferred[number];
  for (int b = tt_dispatch_bucket(of->region.bytes); b <= tt_dispatch_bucket(of->bytes_last); b++)
    if (winner[b] == NOBODY)
      winner[b] = (int32_t)(wisdom->count + number);
}

void tt_dispatch_make(const tt_wisdom *wisdom, const tt_region *shape, tt_dispatch *dispatch) {
  memset(dispatch->winner, 0xff, sizeof dispatch->winner); /* NOBODY */
  for (int64_t n = 0; n < wisdom->count; n++)
    if (fits(&wisdom->winner[n].region, shape))
      spread(bytes_of_winner, wisdom, (int32_t)n, dispatch->winner[wisdom->winner[n].region.collective]);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    leave_to_rules(wisdom, dispatch->winner[c]);
  for (int64_t n = 0; n < wisdom->inferred_count; n++)
    if (fits(&wisdom->inferred[n].region, shape))
      add_inferred(wisdom, n, dispatch->winner[wisdom->inferred[n].region.collective]);
}

/* ---- other libraries ---- */

static int64_t bytes_of_outside(const tt_wisdom *wisdom, int32_t number) {
  return wisdom->outside[number].region.bytes;
}

/* The numbers of rows of that library. */
static void find_outside(const tt_wisdom *wisdom, const char *library, const tt_region *shape, tt_dispatch *nearest) {
  memset(nearest->winner, 0xff, sizeof nearest->winner);
  for (int64_t n = 0; n < wisdom->outside_count; n++) {
    const tt_outside *at = &wisdom->outside[n];
    if (strcmp(at->library, library) == 0 && fits(&at->region, shape))
      spread(bytes_of_outside, wisdom, (int32_t)n, nearest->winner[at->region.collective]);
  }
}

void tt_outside_table_make(const tt_wisdom *wisdom, const char *library, const tt_region *shape,
                           tt_outside_table *table) {
  tt_dispatch nearest;
  find_outside(wisdom, library, shape, &nearest);
  *table = (tt_outside_table){.library = ""};
  snprintf(table->library, sizeof table->library, "%s", library);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    for (int b = 0; b < TT_BUCKETS; b++)
      if (nearest.winner[c][b] >= 0 && wisdom->outside[nearest.winner[c][b]].wins)
        table->wins[c][b / 64] |= UINT64_C(1) << b % 64;
}

/* Whether there may be a length between that goes by either. */
static bool is_near(const tt_outside *a, const tt_outside *b) {
  const tt_region *x = &a->region, *y = &b->region;
  if (x->collective != y->collective || x->rank_count != y->rank_count || x->node_count != y->node_count ||
      x->ranks_per_node != y->ranks_per_node || strcmp(a->library, b->library) != 0)
    return false;
  int apart = tt_dispatch_bucket(x->bytes) - tt_dispatch_bucket(y->bytes);
  return apart >= -2 * NEAR && apart <= 2 * NEAR;
}

static bool limits_one(const tt_outside *row, const tt_outside *won, int64_t count) {
  for (int64_t n = 0; n < count; n++)
    if (is_near(row, &won[n]))
      return true;
  return false;
}

void tt_wisdom_keep_wins(tt_wisdom *wisdom) {
  int64_t wins = 0, kept = 0;
  tt_outside *won = tt_arena_alloc(&wisdom->arena, (size_t)wisdom->outside_count + 1, sizeof *won);
  for (int64_t n = 0; won && n < wisdom->outside_count; n++)
    if (wisdom->outside[n].wins)
      won[wins++] = wisdom->outside[n];
  for (int64_t n = 0; won && n < wisdom->outside_count; n++)
    if (limits_one(&wisdom->outside[n], won, wins)) /* or is one */
      wisdom->outside[kept++] = wisdom->outside[n];
  wisdom->outside_count = won ? kept : wisdom->outside_count;
}

const tt_outside *tt_outside_find(const tt_wisdom *wisdom, const char *library, const tt_region *call) {
  tt_dispatch nearest;
  find_outside(wisdom, library, call, &nearest);
  int32_t found = nearest.winner[call->collective][tt_dispatch_bucket(call->bytes)];
  return found < 0 ? NULL : &wisdom->outside[found];
}
