/* transport/streams/numbers.c - ranges in a sorted array. Nearly all numbers come at the end of one of the last ranges.
 */
#include "transport/streams/numbers.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* The first range that ends at `number` or after it. */
static size_t find(const tt_streams_numbers *numbers, uint64_t number) {
  size_t low = 0, high = numbers->count;
  while (low < high) {
    size_t middle = (low + high) / 2;
    if (numbers->range[middle].last < number)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

bool tt_streams_numbers_has(const tt_streams_numbers *numbers, uint64_t number) {
  if (number <= numbers->all)
    return true;
  size_t n = find(numbers, number);
  return n < numbers->count && numbers->range[n].first <= number;
}

/* Puts `with` in the place of `count` ranges from `at` on. There is room. */
static void replace(tt_streams_numbers *numbers, size_t at, size_t count, tt_streams_range with) {
  assert(at + count <= numbers->count && (count > 0 || numbers->count < numbers->size));
  tt_streams_range *range = numbers->range;
  memmove(range + at + 1, range + at + count, (numbers->count - at - count) * sizeof *range);
  range[at] = with;
  numbers->count = numbers->count + 1 - count;
}

static tutti_status make_room(tt_streams_numbers *numbers) {
  if (numbers->count < numbers->size)
    return TUTTI_OK;
  size_t size = numbers->size ? 2 * numbers->size : 16;
  tt_streams_range *range = size <= TT_STREAMS_RANGES ? realloc(numbers->range, size * sizeof *range) : NULL;
  if (!range)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu ranges of packets' numbers", size);
  numbers->range = range;
  numbers->size = size;
  return TUTTI_OK;
}

/* The ranges that begin right after `all` belong to it. */
static void close_gap(tt_streams_numbers *numbers) {
  size_t n = 0;
  for (; n < numbers->count && numbers->range[n].first <= numbers->all + 1; n++)
    if (numbers->range[n].last > numbers->all)
      numbers->all = numbers->range[n].last;
  if (n == 0)
    return;
  numbers->count -= n;
  memmove(numbers->range, numbers->range + n, numbers->count * sizeof *numbers->range);
}

tutti_status tt_streams_numbers_add(tt_streams_numbers *numbers, uint64_t first, uint64_t last) {
  assert(first <= last);
  if (first <= numbers->all + 1) {
    numbers->all = last > numbers->all ? last : numbers->all;
    close_gap(numbers);
    return TUTTI_OK;
  }
  tutti_status status = make_room(numbers);
  if (status != TUTTI_OK)
    return status;
  size_t at = find(numbers, first - 1), end = at; /* those that it touches */
  tt_streams_range with = {first, last};
  for (; end < numbers->count && numbers->range[end].first <= last + 1; end++) {
    with.first = numbers->range[end].first < with.first ? numbers->range[end].first : with.first;
    with.last = numbers->range[end].last > with.last ? numbers->range[end].last : with.last;
  }
  replace(numbers, at, end - at, with);
  return TUTTI_OK;
}

void tt_streams_numbers_finish(tt_streams_numbers *numbers) {
  free(numbers->range);
  *numbers = (tt_streams_numbers){.all = 0};
}
