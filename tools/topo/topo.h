/* tools/topo/topo.h - `tutti topo`: what is shown, and the parts that show it. */
#ifndef TOOLS_TOPO_H
#define TOOLS_TOPO_H

#include "base/base.h"
#include "topo/machine/machine.h"
#include "topo/nics/nics.h"
#include "topo/switches/switches.h"
#include "topo/topo.h"

#include <stdio.h>

enum { TOPO_COLUMNS = 8 };

/* A machine with its NICs, or a network: one of `machine` and `network` is there. */
typedef struct topo_subject {
  tt_arena arena;
  const char *path; /* "": this machine */
  tt_machine *machine;
  tt_switches *network;
  tt_nic nic[TT_NICS_MOST];
  int64_t nic_count;
} topo_subject;

/* path: "" for this machine; a folder with machine.xml and perhaps nics.txt; such an XML file alone; a switch file.
 * topo_subject_close is always called afterwards. */
tutti_status topo_subject_open(const char *path, topo_subject *subject);
void topo_subject_close(topo_subject *subject);
/* Writes machine.xml and nics.txt of this machine into a folder, which is made where it is not there. */
tutti_status topo_subject_record(const char *folder);

/* An error: TUTTI_NICS names what is not there. */
tutti_status topo_print_machine(topo_subject *subject);
tutti_status topo_print_network(topo_subject *subject);
/* The switches above this machine, by TUTTI_TOPOLOGY; nothing where that is not set. */
tutti_status topo_print_own_switches(tt_arena *arena);
/* Where each rank of the map lies, and the levels that follow. rank_count 0: as many as the map says. */
tutti_status topo_print_ranks(topo_subject *subject, const char *map, int64_t rank_count);
tutti_status topo_write_svg(topo_subject *subject, const char *path);

/* ---- tables: columns are as wide as what is in them; the head stands out on a terminal ---- */

typedef struct topo_row {
  struct topo_row *next;
  const char *cell[TOPO_COLUMNS];
} topo_row;

typedef struct topo_table {
  tt_arena *arena;
  int column_count;
  topo_row *first, *last;
} topo_table;

/* head: so many names; NULL at the end. Cells are kept, not copied. */
topo_table topo_table_make(tt_arena *arena, const char *const *head);
void topo_table_add(topo_table *table, const char *const *cell);
void topo_table_print(const topo_table *table); /* an empty line before it; nothing where it has no rows */

/* ---- texts, in the arena; "" where there is no memory ---- */

/* "-" for what is less than 0 */
const char *topo_number_text(tt_arena *arena, int64_t number);
/* "0-7,16-30:2": ascending numbers. */
const char *topo_list_text(tt_arena *arena, const int32_t *number, int64_t count);
const char *topo_bytes_text(tt_arena *arena, int64_t bytes);
const char *topo_speed_text(tt_arena *arena, int64_t bits_per_second);
/* "node[0-7],login": of names in this order. */
const char *topo_names_text(tt_arena *arena, const char *const *name, int64_t count);
const char *topo_count_text(tt_arena *arena, int64_t count, const char *one, const char *many); /* "1 core" */

/* "spine0 / leaf0": the switches above a node. */
const char *topo_above_text(tt_arena *arena, const tt_switches *network, int64_t node);

/* What is attached to a switch: first switches, then nodes. */
typedef struct topo_branches {
  int64_t *first_below, *next; /* of each switch; -1: none */
  int64_t first_top;           /* its `next` are the others that hang on none */
  int64_t **node;              /* of each switch: the nodes on it, node_count of them */
} topo_branches;

tutti_status topo_branches_find(const tt_switches *network, tt_arena *arena, topo_branches *branches);

#endif
