/* tests/mpi/conform/call.h - one collective call of MPI on one rank: what it is, its buffers, and what they must hold.
 *
 *     case_of     number -> collective, mode, types, counts ...; the same on all ranks
 *     call_lay    memory: blocks between guards, in an order and with gaps of this rank's own
 *     call_fill   inputs;  call_start, call_finish: MPI (invoke.c)
 *     call_check  compares all memory, guards and gaps and inputs too, with what was computed here */
#ifndef TEST_MPI_CALL_H
#define TEST_MPI_CALL_H

#include "comms.h"
#include "layout.h"

/* What a rank's input or output consists of. */
typedef enum extent_unit {
  UNIT_NONE,
  UNIT_ONE,     /* one block */
  UNIT_RANKS,   /* a block for each rank */
  UNIT_SOURCES, /* a block for each neighbor */
  UNIT_TARGETS
} extent_unit;

typedef enum in_place_form {
  IN_PLACE_NEVER,
  IN_PLACE_SAME, /* inputs lie where outputs will */
  IN_PLACE_OWN,  /* the input lies where the own block of the output will */
  IN_PLACE_KEPT, /* the root's own block of the input stays where it is */
  IN_PLACE_HEAD  /* the output will lie where the inputs begin */
} in_place_form;

typedef enum collective {
  ALLREDUCE,
  REDUCE,
  REDUCE_SCATTER,
  REDUCE_SCATTER_BLOCK,
  SCAN,
  EXSCAN,
  BCAST,
  GATHER,
  GATHERV,
  SCATTER,
  SCATTERV,
  ALLGATHER,
  ALLGATHERV,
  ALLTOALL,
  ALLTOALLV,
  ALLTOALLW,
  BARRIER,
  NEIGHBOR_ALLGATHER,
  NEIGHBOR_ALLGATHERV,
  NEIGHBOR_ALLTOALL,
  NEIGHBOR_ALLTOALLV,
  NEIGHBOR_ALLTOALLW,
  COLLECTIVE_COUNT
} collective;

typedef struct collective_row {
  const char *name;
  extent_unit in, out;
  bool in_root, out_root; /* only the root has it */
  bool reduces, lists, types;
  in_place_form in_place;
} collective_row;

extern const collective_row collective_rows[COLLECTIVE_COUNT];

typedef enum call_mode { BLOCKING, NONBLOCKING, PERSISTENT, MODE_COUNT } call_mode;

typedef struct test_case {
  uint64_t number;
  collective collective;
  call_mode mode;
  bool wide; /* MPI_..._c */
  bool in_place;
  const suite_comm *comm;
  const base_type *base;
  op_number op;
  int64_t count; /* units */
  int root;
  layout_kind in_layout, out_layout;
} test_case;

/* The case of that number. Numbers below case_total are all combinations, those above are the same again with other
 * types. plain: what MPIs are known to do wrong is replaced. */
uint64_t case_total(void);
test_case case_of(uint64_t number, bool plain);
void case_print(const test_case *of, char *text, size_t bytes);

/* ---- blocks.c: the meaning of each collective ---- */

typedef enum content {
  CONTENT_KEPT, /* what was there before */
  CONTENT_ANY,
  CONTENT_COPY,
  CONTENT_JOINED
} content;

typedef struct block {
  content content;
  int first, last;  /* ranks whose inputs it has */
  int64_t index;    /* of the block in their inputs */
  int64_t count;    /* units */
  layout_kind kind; /* calls with types */
} block;

int block_count(const test_case *of, bool in);
block block_of(const test_case *of, bool in, int k);

/* ---- call.c ---- */

enum { BLOCKS_MOST = 64, GUARD = 128 };

typedef struct side {
  bool present; /* this rank has it, and MPI looks at it */
  int block_count;
  block block[BLOCKS_MOST];
  layout layout[BLOCKS_MOST]; /* the first is that of all, but in calls with types */
  MPI_Aint at[BLOCKS_MOST];   /* bytes from the base */
  MPI_Aint begin, end;        /* bytes from the base */
  unsigned char *base;        /* the address that is passed */
  int region;
  int counts[BLOCKS_MOST], displacements[BLOCKS_MOST]; /* as MPI wants them */
  MPI_Count wide_counts[BLOCKS_MOST];
  MPI_Aint wide_displacements[BLOCKS_MOST];
  MPI_Datatype types[BLOCKS_MOST];
} side;

typedef struct call {
  test_case of;
  int round; /* the same call again has other inputs */
  side in, out;
  unsigned char *region[2];
  size_t bytes[2];
  bool in_place;  /* on this rank */
  int64_t ticket; /* of barriers */
  MPI_Request request;
} call;

void call_lay(call *call, const test_case *of);
void call_fill(call *call, int round);
bool call_check(call *call); /* prints what is wrong */
void call_free(call *call);

/* ---- invoke.c ---- */

bool invoke_has_large(void);
/* Blocking calls are complete then; persistent ones are not started yet. */
int call_invoke(call *call);

#endif
