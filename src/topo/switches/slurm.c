/* topo/switches/slurm.c - topology.conf of Slurm's plugin topology/tree.
 *
 *   SwitchName=leaf0 Nodes=node[0-15] LinkSpeed=100
 *   SwitchName=spine Switches=leaf[0-1]
 *
 * Words are in any case, in any order; LinkSpeed has no meaning there either. A switch may stand in a line before or
 * after the one that says what hangs on it. */
#include "topo/switches/builder.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SPACE " \t\r"

typedef struct words {
  const char *name, *nodes, *switches, *speed;
} words;

static const char **word_of(words *line, const char *key, size_t length) {
  static const struct {
    const char *key;
    size_t offset;
  } keys[] = {{"SwitchName", offsetof(words, name)},
              {"Nodes", offsetof(words, nodes)},
              {"Switches", offsetof(words, switches)},
              {"LinkSpeed", offsetof(words, speed)}};
  for (size_t n = 0; n < TT_COUNT(keys); n++)
    if (strlen(keys[n].key) == length && strncasecmp(keys[n].key, key, length) == 0)
      return (const char **)(void *)((char *)line + keys[n].offset);
  return NULL;
}

static void read_words(tt_switches_builder *b, char *text, words *line) {
  char *rest = NULL;
  for (char *word = strtok_r(text, SPACE, &rest); word; word = strtok_r(NULL, SPACE, &rest)) {
    size_t length = strcspn(word, "=");
    const char **value = word_of(line, word, length);
    if (length == 9 && strncasecmp(word, "BlockName", 9) == 0)
      tt_switches_fail(b, "'%.64s': only switches (topology/tree) are supported, not blocks", word);
    else if (!value)
      tt_switches_fail(b, "'%.64s' is not one of SwitchName=, Nodes=, Switches=, LinkSpeed=", word);
    else if (!word[length] || !word[length + 1])
      tt_switches_fail(b, "'%.64s' has no value", word);
    else if (*value)
      tt_switches_fail(b, "'%.64s' is given twice", word);
    if (b->status != TUTTI_OK)
      return;
    *value = word + length + 1;
  }
}

static void add_node(tt_switches_builder *b, const char *name, void *leaf) {
  tt_switches_add_node(b, name, *(const int32_t *)leaf);
}

/* Switches are joined when all are known. */
static void add_link(tt_switches_builder *b, const char *name, void *above) {
  if (b->link_count++ == TT_SWITCHES_MOST) {
    tt_switches_fail(b, "more than %" PRId64 " switches are below others", TT_SWITCHES_MOST);
    return;
  }
  tt_switches_link *link = tt_arena_alloc(b->arena, 1, sizeof *link);
  char *copy = tt_arena_alloc(b->arena, strlen(name) + 1, 1);
  if (!link || !copy) {
    b->status = tt_fail(TUTTI_ERR_MEMORY, "no memory for the content of '%s'", b->out->path);
    return;
  }
  strcpy(copy, name);
  *link = (tt_switches_link){.next = b->links, .name = copy, .above = *(const int32_t *)above, .line = b->line};
  b->links = link;
}

static void read_line(tt_switches_builder *b, char *text) {
  words line = {.name = NULL};
  read_words(b, text, &line);
  if (b->status != TUTTI_OK)
    return;
  if (!line.name)
    tt_switches_fail(b, "SwitchName= is missing");
  else if (!line.nodes && !line.switches)
    tt_switches_fail(b, "switch '%.64s' has neither Nodes= nor Switches=", line.name);
  else if (tt_switches_known(b, line.name) >= 0)
    tt_switches_fail(b, "switch '%.64s' already has line %" PRId64, line.name,
                     b->line_of[tt_switches_known(b, line.name)]);
  int32_t number = b->status == TUTTI_OK ? tt_switches_add(b, line.name) : -1;
  if (number < 0)
    return;
  b->line_of[number] = b->line;
  if (line.nodes)
    tt_switches_expand(b, line.nodes, add_node, &number);
  if (line.switches && b->status == TUTTI_OK)
    tt_switches_expand(b, line.switches, add_link, &number);
}

static void join(tt_switches_builder *b, const tt_switches_link *link) {
  int32_t below = tt_switches_known(b, link->name);
  tt_switch *at = b->out->at;
  assert(link->above >= 0 && link->above < b->out->count);
  b->line = link->line;
  if (below < 0)
    tt_switches_fail(b, "switch '%.64s' below '%.64s' has no line of its own", link->name, at[link->above].name);
  else if (at[below].above >= 0)
    tt_switches_fail(b, "switch '%.64s' is below '%.64s' and below '%.64s'; switches must be a tree", link->name,
                     at[link->above].name, at[at[below].above].name);
  else
    at[below].above = link->above;
}

void tt_switches_read_slurm(tt_switches_builder *b, char *text) {
  for (char *line; (line = tt_switches_next_line(b, &text, true));)
    read_line(b, line);
  for (const tt_switches_link *link = b->links; link && b->status == TUTTI_OK; link = link->next)
    join(b, link);
}
