/* tools/shared/json.h - what commands that write JSON have in common. */
#ifndef TUTTI_TOOLS_SHARED_JSON_H
#define TUTTI_TOOLS_SHARED_JSON_H

#include <jansson.h>

/* Of any text; NULL: no memory. */
json_t *tool_json_text(const char *text);

#endif
