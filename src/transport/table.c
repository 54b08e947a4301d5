/* transport/table.c - the table of transports. */
#include "transport/table.h"

#include <stdio.h>
#include <string.h>

#define TT_TRANSPORT(name, reach, needs, beside, help) const tutti_transport_ops *tt_##name##_ops(void);
#include "transport/transports.inc"
#undef TT_TRANSPORT

#define TT_TRANSPORT(name, reach, needs, beside, help) {#name, TT_REACH_##reach, needs, help, beside, tt_##name##_ops},
static const tt_transport table[] = {
#include "transport/transports.inc"
};
#undef TT_TRANSPORT

const tt_transport *tt_transport_table(size_t *count) {
  *count = TT_COUNT(table);
  return table;
}

const tt_transport *tt_transport_find(tt_reach reach, const char *name) {
  for (size_t n = 0; n < TT_COUNT(table); n++)
    if (table[n].reach == reach && strcmp(table[n].name, name) == 0)
      return &table[n];
  return NULL;
}

void tt_transport_names(tt_reach reach, char *text, size_t size) {
  size_t count = 0, named = 0, used = 0;
  for (size_t n = 0; n < TT_COUNT(table); n++)
    count += table[n].reach == reach;
  for (size_t n = 0; n < TT_COUNT(table); n++)
    if (table[n].reach == reach && used < size) {
      const char *before = named == 0 ? "" : named + 1 < count ? ", " : " or ";
      used += (size_t)snprintf(text + used, size - used, "%s%s", before, table[n].name);
      named++;
    }
}
