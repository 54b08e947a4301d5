/* compose/compose.h - every collective, in each of its forms, written as a composition. Pure. */
#ifndef TT_COMPOSE_COMPOSE_H
#define TT_COMPOSE_COMPOSE_H

#include "ir/ir.h"

/* TT_ALLREDUCE ...: the rows of collectives.inc. */
#define TT_COLLECTIVE(id, ...) TT_##id,
typedef enum tt_collective {
#include "compose/collectives.inc"
  TT_COLLECTIVE_COUNT
} tt_collective;

/* Who knows how long a block is. */
typedef enum tt_lengths {
  TT_LENGTHS_ALL,  /* every rank */
  TT_LENGTHS_ENDS, /* the rank that has it and those that get it */
  TT_LENGTHS_ROOT  /* the root, and the rank that has it or gets it */
} tt_lengths;

/* Whose elements are combined to what a rank gets: nobody's, they are copied; all ranks'; those of the ranks up to it,
 * or below it. What copies stands before TT_OPERANDS_ALL. */
typedef enum tt_operands { TT_OPERANDS_NONE, TT_OPERANDS_ALL, TT_OPERANDS_UP_TO, TT_OPERANDS_BELOW } tt_operands;

/* The ranks first .. last, whose elements make up a block that a rank gets; none where first > last. */
typedef struct tt_sources {
  int64_t first, last;
} tt_sources;

/* `giver`: whose elements it gets where none are combined. Benchmarks and tests say by it what must come out; the
 * library does not ask. */
static inline tt_sources tt_compose_sources(tt_operands operands, int64_t rank, int64_t rank_count, int64_t giver) {
  switch (operands) {
  case TT_OPERANDS_ALL:
    return (tt_sources){0, rank_count - 1};
  case TT_OPERANDS_UP_TO:
    return (tt_sources){0, rank};
  case TT_OPERANDS_BELOW:
    return (tt_sources){0, rank - 1};
  default:
    return (tt_sources){giver, giver};
  }
}

/* Of which blocks a buffer consists. */
typedef enum tt_unit { TT_ONE_BLOCK, TT_EACH_RANK, TT_EACH_SOURCE, TT_EACH_DESTINATION } tt_unit;

/* Who says how long they are: the call's count, this side's list, this side's own count, the other side's list at this
 * rank. */
typedef enum tt_length { TT_BY_COUNT, TT_BY_LIST, TT_BY_OWN, TT_BY_RANK } tt_length;

/* What `in` or `out` of a collective holds. */
typedef struct tt_side {
  tt_unit unit;
  tt_length length;
  bool of_root; /* other ranks have none */
  bool typed;   /* each block has a type of its own */
} tt_side;

/* Directed edges between ranks, known to all of them. Block e goes over edge e. */
typedef struct tt_graph {
  int64_t rank_count, edge_count;
  const int32_t *from, *to; /* of each edge */
  const tt_family *family;  /* of each edge: M(from, {to}, block e) in -> out; made by tt_compose_graph */
} tt_graph;

/* Who combines and hands out which block, where a form may cut the vector as it likes: allreduce. Each group of ranks
 * owns as many blocks, its members in turn:
 *
 *     groups {0 1 2} {3}:   block 0 1 2 | 3 4 5      made by tt_compose_owners
 *                           owner 0 1 2 | 3 3 3 */
typedef struct tt_owners {
  int64_t rank_count, block_count;
  int family_count;
  const tt_family
      *family[2]; /* for j: R(all, owner j, block j) in -> out; for j: M(owner j, all, block j) out -> out */
} tt_owners;

typedef struct tt_problem {
  tt_collective collective;
  int64_t rank_count;
  int64_t root; /* where the collective has one, else 0 */
  bool in_place;
  bool ordered;            /* the operator does not commute */
  const tt_graph *graph;   /* of neighbor collectives; borrowed as long as the composition lives */
  const tt_owners *owners; /* NULL: block r is rank r's; borrowed as long as the composition lives */
} tt_problem;

typedef struct tt_collective_info {
  const char *name;
  bool has_root, reduces, has_graph;
  tt_lengths lengths;
  tt_layout in, out; /* on ranks that have them */
  int form_count;
  const char *form[4]; /* names: "one" for the one-step form, else "allgather.reduce-scatter", last stage first */
} tt_collective_info;

tt_collective_info tt_compose_info(tt_collective collective); /* name NULL where there is none */
tt_collective tt_compose_find(const char *name);              /* TT_COLLECTIVE_COUNT where there is none */
tt_operands tt_compose_operands(tt_collective collective);
tt_side tt_compose_side(tt_collective collective, tt_buffer side); /* of TT_IN or TT_OUT */
/* Elements of the whole vector, of a call with that count: of all ranks' parts together. */
int64_t tt_compose_vector(tt_collective collective, int64_t count, int64_t rank_count);
/* The form that a name stands for: NULL or "" for the first, "split" for the first that cuts the vector into one block
 * a rank (the first where none does); NULL where there is none. */
const char *tt_compose_form(tt_collective collective, const char *name);
/* Writes the composition of `form`, a name as above. Error TUTTI_ERR_PLAN names the forms there are. */
tutti_status tt_compose(const tt_problem *problem, const char *form, tt_composition *composition);
/* Fills in graph->family, in the arena, from all else. TUTTI_ERR_MEMORY. */
tutti_status tt_compose_graph(tt_graph *graph, tt_arena *arena);
/* group_of: of each rank, 0 .. group_count - 1, none of them empty. In the arena. TUTTI_ERR_MEMORY. */
tutti_status tt_compose_owners(const int32_t *group_of, int64_t group_count, int64_t rank_count, tt_arena *arena,
                               tt_owners *owners);

#endif
