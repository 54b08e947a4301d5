/* topo/switches/builder.c - builds the tree of switches: names, links, and that it is a tree. */
#include "topo/switches/builder.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void tt_switches_fail(tt_switches_builder *b, const char *format, ...) {
  char text[384];
  va_list arguments;
  if (b->status != TUTTI_OK)
    return;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  b->status = tt_fail(TUTTI_ERR_ARGUMENT, "%s, line %" PRId64 ": %s", b->out->path, b->line, text);
}

static void fail_memory(tt_switches_builder *b) {
  if (b->status == TUTTI_OK)
    b->status = tt_fail(TUTTI_ERR_MEMORY, "no memory for the content of '%s'", b->out->path);
}

/* ---- arrays ---- */

/* Twice the room, with what was in it. The old memory stays in the arena: less than the new one in all. */
static void *grow(tt_switches_builder *b, const void *old, int64_t room, size_t size) {
  void *memory = tt_arena_alloc(b->arena, (size_t)room * 2, size);
  if (memory && old)
    memcpy(memory, old, (size_t)room * size);
  else if (!memory)
    fail_memory(b);
  return memory;
}

static bool make_room(tt_switches_builder *b) {
  if (b->out->count < b->room)
    return true;
  int64_t room = b->room ? b->room : 32;
  tt_switch *at = grow(b, b->out->at, room, sizeof *at);
  int64_t *line_of = grow(b, b->line_of, room, sizeof *line_of);
  if (!at || !line_of)
    return false;
  b->out->at = at;
  b->line_of = line_of;
  b->room = room * 2;
  return true;
}

static bool make_node_room(tt_switches_builder *b) {
  if (b->out->node_count < b->node_room)
    return true;
  int64_t room = b->node_room ? b->node_room : 64;
  tt_switch_node *node = grow(b, b->out->node, room, sizeof *node);
  if (!node)
    return false;
  b->out->node = node;
  b->node_room = room * 2;
  return true;
}

/* ---- names ---- */

static const char *name_of(const tt_switches *out, bool node, int32_t number) {
  return node ? out->node[number].name : out->at[number].name;
}

/* Where the name is, or the free slot where it would be. */
static int64_t find_slot(const tt_switches *out, const tt_switches_names *names, bool node, const char *name) {
  assert(names->slot_count > 0);
  uint64_t at = tt_hash(0, name, strlen(name));
  for (;; at++) {
    int64_t slot = (int64_t)(at % (uint64_t)names->slot_count);
    if (!names->slot[slot] || strcmp(name_of(out, node, names->slot[slot] - 1), name) == 0)
      return slot;
  }
}

static bool make_slots(tt_switches_builder *b, tt_switches_names *names, bool node, int64_t used) {
  if ((used + 1) * 2 < names->slot_count)
    return true;
  tt_switches_names larger = {.slot_count = names->slot_count ? names->slot_count * 2 : 128};
  larger.slot = tt_arena_alloc(b->arena, (size_t)larger.slot_count, sizeof *larger.slot);
  if (!larger.slot) {
    fail_memory(b);
    return false;
  }
  for (int32_t n = 0; n < used; n++)
    larger.slot[find_slot(b->out, &larger, node, name_of(b->out, node, n))] = n + 1;
  *names = larger;
  return true;
}

int32_t tt_switches_known(const tt_switches_builder *b, const char *name) {
  return b->names.slot_count ? b->names.slot[find_slot(b->out, &b->names, false, name)] - 1 : -1;
}

static const char *copy_name(tt_switches_builder *b, const char *name) {
  char *copy = NULL;
  if (strlen(name) >= TT_SWITCHES_NAME)
    tt_switches_fail(b, "a name of more than %d characters: '%.32s...'", TT_SWITCHES_NAME - 1, name);
  else if (!(copy = tt_arena_alloc(b->arena, strlen(name) + 1, 1)))
    fail_memory(b);
  else
    strcpy(copy, name);
  return copy;
}

int32_t tt_switches_add(tt_switches_builder *b, const char *name) {
  int32_t known = tt_switches_known(b, name);
  if (b->status != TUTTI_OK || known >= 0)
    return b->status == TUTTI_OK ? known : -1;
  if (b->out->count == TT_SWITCHES_MOST)
    tt_switches_fail(b, "more than %" PRId64 " switches", TT_SWITCHES_MOST);
  const char *copy = b->status == TUTTI_OK ? copy_name(b, name) : NULL;
  if (!copy || !make_room(b) || !make_slots(b, &b->names, false, b->out->count))
    return -1;
  assert(b->out->count < b->room && 2 * b->out->count < b->names.slot_count);
  int32_t number = (int32_t)b->out->count;
  b->names.slot[find_slot(b->out, &b->names, false, copy)] = number + 1;
  b->out->at[b->out->count++] = (tt_switch){.name = copy, .above = -1};
  return number;
}

void tt_switches_add_node(tt_switches_builder *b, const char *name, int32_t leaf) {
  tt_switches *out = b->out;
  if (b->status != TUTTI_OK || !make_slots(b, &b->node_names, true, out->node_count))
    return;
  int64_t slot = find_slot(out, &b->node_names, true, name);
  if (b->node_names.slot[slot]) {
    int32_t other = out->node[b->node_names.slot[slot] - 1].leaf;
    tt_switches_fail(b, "node '%s' is already below switch '%s'", name, out->at[other].name);
  } else if (out->node_count == TT_SWITCHES_MOST)
    tt_switches_fail(b, "more than %" PRId64 " nodes", TT_SWITCHES_MOST);
  const char *copy = b->status == TUTTI_OK ? copy_name(b, name) : NULL;
  if (!copy || !make_node_room(b))
    return;
  assert(leaf >= 0 && leaf < out->count && out->node_count < b->node_room);
  out->node[out->node_count] = (tt_switch_node){.name = copy, .leaf = leaf};
  b->node_names.slot[slot] = (int32_t)++out->node_count;
  out->at[leaf].node_count++;
}

/* ---- lines ---- */

static char *cut_line(tt_switches_builder *b, char **text) {
  char *line = *text;
  if (!*line)
    return NULL;
  size_t length = strcspn(line, "\n");
  *text = line + length + (line[length] == '\n');
  line[length] = '\0';
  if (length && line[length - 1] == '\r')
    line[length - 1] = '\0';
  b->line += 1 + b->joined;
  b->joined = 0;
  return line;
}

/* The next line's text stands where the backslash was. One in a comment is none. */
static void join_lines(tt_switches_builder *b, char *line, char **text) {
  size_t length = strlen(line);
  while (length && line[length - 1] == '\\' && !strchr(line, '#') && **text) {
    size_t more = strcspn(*text, "\n");
    char *next = *text;
    *text += more + (next[more] == '\n');
    memmove(line + length - 1, next, more);
    length += more - 1;
    length -= length && line[length - 1] == '\r';
    line[length] = '\0';
    b->joined++;
  }
}

char *tt_switches_next_line(tt_switches_builder *b, char **text, bool joined) {
  char *line;
  while (b->status == TUTTI_OK && (line = cut_line(b, text))) {
    if (joined)
      join_lines(b, line, text);
    line[strcspn(line, "#")] = '\0';
    if (line[strspn(line, " \t\r")])
      return line;
  }
  return NULL;
}
