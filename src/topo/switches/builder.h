/* topo/switches/builder.h - a switch file while it is read: grows, finds names, keeps its first error. */
#ifndef TT_TOPO_SWITCHES_BUILDER_H
#define TT_TOPO_SWITCHES_BUILDER_H

#include "topo/switches/switches.h"

#define TT_SWITCHES_NAME 256                /* a name's bytes, with the 0 */
#define TT_SWITCHES_MOST (INT64_C(1) << 20) /* nodes, and switches: more is a mistake in a file */

/* Names -> numbers: open addressing, always less than half full. */
typedef struct tt_switches_names {
  int32_t *slot; /* number + 1; 0: free */
  int64_t slot_count;
} tt_switches_names;

/* Switch `number` is to hang on `above`; Slurm's files say so before, or after, they say what that switch is. */
typedef struct tt_switches_link {
  struct tt_switches_link *next;
  const char *name;
  int32_t above;
  int64_t line;
} tt_switches_link;

typedef struct tt_switches_builder {
  tt_arena *arena;
  tt_switches *out;
  int64_t room, node_room;
  int64_t *line_of; /* where it was said what stands above each switch; grows with out->at */
  tt_switches_names names, node_names;
  tt_switches_link *links;
  int64_t link_count;
  int64_t line;        /* that is being read, from 1 */
  int64_t joined;      /* so many more lines belong to it */
  tutti_status status; /* the first error; what is called afterwards does nothing */
} tt_switches_builder;

/* Records the error with path and line, unless there is one. */
void tt_switches_fail(tt_switches_builder *b, const char *format, ...) TT_PRINTF(2, 3);
/* Finds the switch or adds it; -1 where the builder has failed. */
int32_t tt_switches_add(tt_switches_builder *b, const char *name);
int32_t tt_switches_known(const tt_switches_builder *b, const char *name); /* -1: none */
void tt_switches_add_node(tt_switches_builder *b, const char *name, int32_t leaf);

/* Calls `take` for each name of "node[0-3,7],other"; the builder's error tells what is wrong. */
void tt_switches_expand(tt_switches_builder *b, const char *list,
                        void (*take)(tt_switches_builder *b, const char *name, void *user), void *user);

/* A line each, without comments, where something is left; ends by 0. NULL: that was all. `joined`: a backslash at its
 * end goes on in the next one. */
char *tt_switches_next_line(tt_switches_builder *b, char **text, bool joined);

void tt_switches_read_plain(tt_switches_builder *b, char *text);
void tt_switches_read_slurm(tt_switches_builder *b, char *text);

#endif
