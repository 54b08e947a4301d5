/* tune/file.h - a JSON file of rules or winners, and the line on which each of them stands. */
#ifndef TT_TUNE_FILE_H
#define TT_TUNE_FILE_H

#include "base/base.h"

#include <jansson.h>

typedef struct tt_json_file {
  json_t *root;
  char *text; /* as it was read; not ended */
  size_t size;
} tt_json_file;

/* tt_json_file_close is called afterwards in any case. The error says what is wrong and on which line, without the
 * path. */
tutti_status tt_json_file_open(const char *path, tt_json_file *file);
tutti_status tt_json_file_parse(const char *text, size_t size, tt_json_file *file);
void tt_json_file_close(tt_json_file *file);

/* The lines, from 1, on which the first `count` elements of that member of the outermost object begin; 0 where there is
 * no such element. */
void tt_json_file_lines(const tt_json_file *file, const char *member, int64_t count, int64_t *line);

/* Records the last error again, with what it is about before it. Returns `status`. */
tutti_status tt_fail_about(tutti_status status, const char *format, ...) TT_PRINTF(2, 3);

#endif
