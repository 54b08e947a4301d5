/* tools/shared/json.c - JSON is UTF-8, and paths, variables and what others print may be anything. */
#include "json.h"

#include <stdlib.h>
#include <string.h>

json_t *tool_json_text(const char *text) {
  json_t *made = json_string(text);
  char *plain = made ? NULL : strdup(text);
  for (char *c = plain; c && *c; c++)
    *c = (unsigned char)*c > 127 ? '?' : *c;
  made = plain ? json_string(plain) : made;
  free(plain);
  return made;
}
