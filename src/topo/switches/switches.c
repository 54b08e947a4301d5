/* topo/switches/switches.c - opens a switch file and reads it; which switches stand above a node. */
#include "topo/switches/builder.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { FILE_BYTES = 64 << 20 }; /* more is no file of switches */

static bool is_slurm(const char *text) {
  while (*text) {
    const char *line = text + strspn(text, " \t\r");
    if (*line && *line != '#' && *line != '\n')
      return strncasecmp(line, "SwitchName", 10) == 0 || strncasecmp(line, "BlockName", 9) == 0;
    text = line + strcspn(line, "\n");
    text += *text == '\n';
  }
  return false;
}

static void check_depth(tt_switches_builder *b) {
  for (int64_t n = 0; n < b->out->count && b->status == TUTTI_OK; n++) {
    int depth = 1;
    for (int32_t at = b->out->at[n].above; at >= 0 && depth <= TT_TOPO_SWITCHES; at = b->out->at[at].above)
      depth++;
    b->line = b->line_of[n];
    if (depth > TT_TOPO_SWITCHES)
      tt_switches_fail(b, "switch '%s' has %d or more switches above it, or is above itself", b->out->at[n].name,
                       TT_TOPO_SWITCHES);
  }
}

tutti_status tt_switches_parse(const char *text, size_t size, const char *path, tt_arena *arena,
                               tt_switches **switches) {
  char *copy = tt_arena_alloc(arena, size + 1, 1);
  tt_switches *out = tt_arena_alloc(arena, 1, sizeof *out);
  if (!copy || !out)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the content of '%s'", path);
  if (memchr(text, '\0', size))
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: not a text file", path);
  memcpy(copy, text, size);
  out->path = tt_arena_format(arena, "%s", path);
  if (!out->path)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the content of '%s'", path);
  tt_switches_builder b = {.arena = arena, .out = out};
  (is_slurm(copy) ? tt_switches_read_slurm : tt_switches_read_plain)(&b, copy);
  check_depth(&b);
  if (b.status == TUTTI_OK && out->node_count == 0)
    b.status = tt_fail(TUTTI_ERR_ARGUMENT, "%s: no node is listed", path);
  if (b.status == TUTTI_OK)
    *switches = out;
  return b.status;
}

tutti_status tt_switches_read(const char *path, tt_arena *arena, tt_switches **switches) {
  char *text = NULL;
  size_t size = 0, room = 0;
  tutti_status status = TUTTI_OK;
  FILE *in = fopen(path, "r");
  if (!in)
    return tt_fail(TUTTI_ERR_ARGUMENT, "cannot open the switch file '%s': %s", path, strerror(errno));
  for (size_t got = 1; got && status == TUTTI_OK && size <= FILE_BYTES; size += got) {
    char *larger = size == room ? realloc(text, room = room ? room * 2 : 4096) : text;
    text = larger ? larger : text;
    got = larger ? fread(text + size, 1, room - size, in) : 0;
    if (!larger)
      status = tt_fail(TUTTI_ERR_MEMORY, "no memory for the content of '%s'", path);
    else if (ferror(in))
      status = tt_fail(TUTTI_ERR_ARGUMENT, "cannot read the switch file '%s': %s", path, strerror(errno));
  }
  fclose(in);
  if (status == TUTTI_OK && size > FILE_BYTES)
    status = tt_fail(TUTTI_ERR_ARGUMENT, "%s: too long for a switch file", path);
  if (status == TUTTI_OK)
    status = tt_switches_parse(text, size, path, arena, switches);
  free(text);
  return status;
}

static size_t short_length(const char *name) { return strcspn(name, "."); }

/* "node7" is "node7.cluster"; "node7.east" is not "node7.west". */
static bool is_short_for(const char *a, const char *b) {
  size_t length = short_length(a);
  return length == short_length(b) && strncmp(a, b, length) == 0 && (!a[length] || !b[length]);
}

tutti_status tt_switches_find(const tt_switches *switches, const char *name, int64_t *node) {
  int64_t found = -1, other = -1;
  for (int64_t n = 0; n < switches->node_count; n++) {
    if (strcmp(switches->node[n].name, name) == 0) {
      *node = n;
      return TUTTI_OK;
    }
    if (is_short_for(switches->node[n].name, name)) {
      other = found >= 0 ? n : other;
      found = found >= 0 ? found : n;
    }
  }
  if (other >= 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: node '%s' may be '%s' or '%s'; give the names that hosts have",
                   switches->path, name, switches->node[found].name, switches->node[other].name);
  if (found < 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: node '%s' is missing", switches->path, name);
  *node = found;
  return TUTTI_OK;
}

int tt_switches_above(const tt_switches *switches, int64_t node, int32_t above[static TT_TOPO_SWITCHES]) {
  int count = 0;
  for (int32_t at = switches->node[node].leaf; at >= 0; at = switches->at[at].above)
    count++;
  assert(count >= 1 && count <= TT_TOPO_SWITCHES); /* check_depth has seen all */
  int n = count;
  for (int32_t at = switches->node[node].leaf; at >= 0; at = switches->at[at].above)
    above[--n] = at;
  return count;
}

void tt_switches_locality(const tt_switches *switches, int64_t node, tt_locality *locality) {
  int32_t above[TT_TOPO_SWITCHES];
  locality->switch_count = tt_switches_above(switches, node, above);
  for (int n = 0; n < locality->switch_count; n++) {
    const char *name = switches->at[above[n]].name;
    locality->switch_of[n] = tt_hash(0, name, strlen(name));
  }
}
