/* base/parse.c - amounts as people write them: "64K" bytes and "20ms". A number and a unit, nothing else around it. */
#include "base/base.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct unit {
  const char *name;
  int64_t factor;
} unit;

static const unit byte_units[] = {{"", 1}, {"K", 1 << 10}, {"M", 1 << 20}, {"G", 1 << 30}};
static const unit time_units[] = {{"", 1000000000}, {"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", 1000000000}};

static bool parse_amount(const char *text, const unit *units, size_t unit_count, int64_t *amount) {
  if (!isdigit((unsigned char)text[0]))
    return false;
  char *end;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  if (errno != 0)
    return false;
  for (size_t u = 0; u < unit_count; u++)
    if (strcmp(end, units[u].name) == 0)
      return !__builtin_mul_overflow((int64_t)number, units[u].factor, amount);
  return false;
}

tutti_status tt_parse_bytes(const char *text, int64_t *bytes) {
  int64_t amount;
  if (!parse_amount(text, byte_units, TT_COUNT(byte_units), &amount))
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is not a size such as 64, 8K, 1M or 2G", text);
  *bytes = amount;
  return TUTTI_OK;
}

tutti_status tt_parse_time(const char *text, int64_t *time_ns) {
  int64_t amount;
  if (!parse_amount(text, time_units, TT_COUNT(time_units), &amount))
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is not a time such as 500us, 20ms or 3s", text);
  *time_ns = amount;
  return TUTTI_OK;
}

void tt_format_bytes(int64_t bytes, char text[static 16]) {
  size_t u = 0;
  for (size_t larger = 1; larger < TT_COUNT(byte_units); larger++)
    if (bytes != 0 && bytes % byte_units[larger].factor == 0)
      u = larger;
  snprintf(text, 16, "%" PRId64 "%s", bytes / byte_units[u].factor, byte_units[u].name);
}
