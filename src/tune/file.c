/* tune/file.c - reads a JSON file as a whole, and finds lines in its text: jansson says a line of an error alone.
 *
 * The text that is searched has been parsed. So only strings, brackets and ends of lines matter. */
#include "tune/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIZE_MOST ((size_t)64 << 20) /* ten thousand winners have 4 MB */

/* ---- reading ---- */

static tutti_status read_all(FILE *in, tt_json_file *file) {
  size_t room = 0, got = 1;
  while (got > 0) {
    if (file->size == room) {
      char *larger = realloc(file->text, room = 2 * room + 16384);
      if (!larger)
        return tt_fail(TUTTI_ERR_MEMORY, "no memory for a file of %zu bytes", room);
      file->text = larger;
    }
    got = fread(file->text + file->size, 1, room - file->size, in);
    file->size += got;
    if (file->size > SIZE_MOST)
      return tt_fail(TUTTI_ERR_ARGUMENT, "it has more than %zu bytes", SIZE_MOST);
  }
  return ferror(in) ? tt_fail(TUTTI_ERR_ARGUMENT, "cannot be read: %s", strerror(errno)) : TUTTI_OK;
}

static tutti_status make_tree(tt_json_file *file) {
  json_error_t error;
  file->root = json_loadb(file->text ? file->text : "", file->size, JSON_REJECT_DUPLICATES, &error);
  return file->root ? TUTTI_OK : tt_fail(TUTTI_ERR_ARGUMENT, "line %d: %s", error.line, error.text);
}

tutti_status tt_json_file_open(const char *path, tt_json_file *file) {
  *file = (tt_json_file){.root = NULL};
  FILE *in = fopen(path, "re");
  if (!in)
    return tt_fail(TUTTI_ERR_ARGUMENT, "cannot be read: %s", strerror(errno));
  tutti_status status = read_all(in, file);
  fclose(in);
  return status == TUTTI_OK ? make_tree(file) : status;
}

tutti_status tt_json_file_parse(const char *text, size_t size, tt_json_file *file) {
  *file = (tt_json_file){.size = size, .text = malloc(size + 1)};
  if (!file->text)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a text of %zu bytes", size);
  memcpy(file->text, text, size);
  return make_tree(file);
}

void tt_json_file_close(tt_json_file *file) {
  json_decref(file->root);
  free(file->text);
  *file = (tt_json_file){.root = NULL};
}

tutti_status tt_fail_about(tutti_status status, const char *format, ...) {
  char about[4200], why[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(about, sizeof about, format, arguments);
  va_end(arguments);
  snprintf(why, sizeof why, "%s", tutti_last_error());
  return tt_fail(status, "%s: %s", about, why);
}

/* ---- lines ---- */

/* Behind the string whose opening quote is at `at`. */
static size_t skip_string(const tt_json_file *file, size_t at) {
  for (at++; at < file->size && file->text[at] != '"'; at++)
    at += file->text[at] == '\\';
  return at + 1;
}

/* Whether an element begins with that letter, where one may begin. */
static bool begins(char letter) { return !strchr(" \t\r\n,]}:", letter); }

typedef struct search {
  const char *member;
  int64_t line, depth;
  bool named;  /* the last string of the outermost object is the member's name */
  bool inside; /* its array is open */
  bool fresh;  /* the next element has not begun */
} search;

/* Of a letter that is in no string: how deep it leads, and into what. */
static void pass(search *of, char letter) {
  bool opens = letter == '{' || letter == '[', closes = letter == '}' || letter == ']';
  of->line += letter == '\n';
  if (opens && ++of->depth == 2)
    of->inside = of->fresh = of->named && letter == '[';
  if (closes && of->depth-- == 2)
    of->inside = false;
  if (letter == ',' && of->depth == 2)
    of->fresh = true;
}

void tt_json_file_lines(const tt_json_file *file, const char *member, int64_t count, int64_t *line) {
  search of = {.member = member, .line = 1};
  size_t length = strlen(member);
  int64_t found = 0;
  memset(line, 0, (size_t)count * sizeof *line);
  for (size_t at = 0; at < file->size && found < count;) {
    char letter = file->text[at];
    if (of.inside && of.fresh && of.depth == 2 && begins(letter)) {
      line[found++] = of.line;
      of.fresh = false;
    }
    if (letter != '"') {
      pass(&of, letter);
      at++;
      continue;
    }
    size_t end = skip_string(file, at);
    if (of.depth == 1)
      of.named = end - at == length + 2 && memcmp(file->text + at + 1, member, length) == 0;
    at = end;
  }
}
