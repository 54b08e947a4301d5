/* plan/plan.h - one rank's steps: what runs, is proven, simulated, drawn and exported.
 *
 * A plan is a few lanes; steps in a lane run in order, lanes run independently. A step moves one block, in slices
 * 0..m-1, m = ceil(block bytes / slice bytes), known at start only. It may wait for steps in other lanes of its rank:
 * for the same slice (SLICE: both steps handle the same block) or for all of it. Sends and receives meet in *streams*:
 * steps of the lane with the same `id` at both ends, in the same order; so a plan is a Kahn network and needs no tags.
 *
 * No pointers to user data and no lengths: blocks are numbers. Plan block b = composition block * part_count + part,
 * where stripe and channels cut a composition block into part_count nearly equal parts. */
#ifndef TT_PLAN_PLAN_H
#define TT_PLAN_PLAN_H

#include "base/base.h"

/* Buffers: as in ir.h (in, out, mid: blocks at their place), and tmp: tmp_count cells, each as long as the longest
 * block. */
typedef enum tt_space { TT_SPACE_IN, TT_SPACE_OUT, TT_SPACE_MID, TT_SPACE_TMP, TT_SPACE_COUNT } tt_space;

typedef struct tt_ref {
  uint32_t space; /* tt_space */
  uint32_t index; /* plan block, or cell of tmp */
} tt_ref;

typedef enum tt_step_kind {
  TT_STEP_SEND,        /* src -> stream to peer; peer = -1: to all readers of the lane (publish) */
  TT_STEP_RECV,        /* stream from peer -> dst */
  TT_STEP_RECV_REDUCE, /* dst = src (op) stream from peer; with TT_STEP_LEFT: dst = stream (op) src */
  TT_STEP_COPY,        /* dst = src; with TT_STEP_ONTO: dst = dst (op) src */
  TT_STEP_KIND_COUNT
} tt_step_kind;

enum {
  TT_STEP_LEFT = 1,  /* the received value is the left operand */
  TT_STEP_FIRST = 2, /* first block of a message */
  TT_STEP_LAST = 4,  /* last block of a message: flush */
  TT_STEP_ONTO = 8   /* a copy that combines */
};

typedef struct tt_step {
  uint8_t kind;  /* tt_step_kind */
  uint8_t flags; /* TT_STEP_* */
  uint16_t wait_count;
  uint32_t wait_first; /* waits are plan->wait[wait_first .. wait_first + wait_count - 1] */
  int32_t peer;        /* rank; -1: none, or all readers of the lane */
  uint32_t block;      /* plan block whose length this step has */
  tt_ref src, dst;     /* unused ones are {0, 0} */
  uint32_t time;       /* round in the whole plan: equal at both ends of a message, never decreases along a lane */
  uint32_t finish;     /* > 0: dst is final; an average divides it by this number of contributions */
} tt_step;

typedef struct tt_wait {
  uint32_t lane;
  uint32_t step;  /* index within that lane */
  uint32_t whole; /* 0: for the same slice; 1: for every slice */
} tt_wait;

typedef enum tt_role { TT_ROLE_LOCAL, TT_ROLE_SEND, TT_ROLE_RECV } tt_role;

typedef struct tt_lane {
  uint32_t
      id; /* streams join lanes of equal id; says channel, level, branch and whether published. Of local ones: any */
  uint16_t role;  /* tt_role */
  uint16_t level; /* of plan->level, for drawing and statistics */
  uint16_t channel;
  uint16_t published;              /* 1: streams of this lane have several readers */
  uint32_t first_step, step_count; /* plan->step[first_step ..] */
  uint32_t first_reader,
      reader_count; /* published lanes: plan->reader[first_reader ..], ascending ranks, without self */
} tt_lane;

#define TT_PLAN_LEVELS 16

typedef struct tt_plan {
  int64_t rank, rank_count;
  uint32_t block_count; /* plan blocks */
  uint32_t part_count;  /* plan blocks a composition block */
  uint32_t tmp_count;   /* cells of tmp */
  uint32_t time_count;  /* rounds of the whole plan */
  int64_t slice_bytes;  /* 0: as large as a slot */
  uint32_t in_place;    /* (in, b) and (out, b) are the same memory */
  uint32_t direct;      /* equal on all ranks: one round in which each rank sends what it had at the start */
  uint32_t lane_count, step_count, wait_count, reader_count, level_count;
  tt_lane *lane;
  tt_step *step;
  tt_wait *wait;
  int32_t *reader;
  char level[TT_PLAN_LEVELS][16]; /* names, outermost first */
  tt_arena arena;                 /* all of the above lives here */
} tt_plan;

tutti_status tt_plan_create(tt_plan **plan); /* empty */
void tt_plan_destroy(tt_plan *plan);         /* accepts NULL */
size_t tt_plan_bytes(const tt_plan *plan);

/* Text form and back; print(parse(text)) == text. Error TUTTI_ERR_PLAN has the line number. The text is malloc'd. */
char *tt_plan_print(const tt_plan *plan);
tutti_status tt_plan_parse(const char *text, tt_plan **plan);
/* Whether every index is in its range: what exec and verify rely on before they touch anything. */
tutti_status tt_plan_check(const tt_plan *plan);
bool tt_plan_equal(const tt_plan *a, const tt_plan *b);

/* What a rank sends: messages (runs of steps from FIRST to LAST) and blocks. A published message counts once. */
typedef struct tt_plan_counts {
  int64_t messages, blocks;
} tt_plan_counts;
tt_plan_counts tt_plan_sent(const tt_plan *plan, int level); /* level -1: all */

/* ---- all ranks' plans, and what they claim to do together ---- */

#define TT_PLAN_COLLECTIVE 32         /* bytes of a collective's name */
#define TT_PLAN_RANKS_MOST (1 << 20)  /* of a text */
#define TT_PLAN_BLOCKS_MOST INT32_MAX /* composition blocks of a text */

typedef struct tt_plan_claim {
  char collective[TT_PLAN_COLLECTIVE]; /* a name; what it means is not known here */
  int64_t rank_count, block_count;     /* block_count: of the composition */
  int64_t root;                        /* -1: none is named */
  bool in_place;
  bool ordered, reproducible; /* operands combine in rank order; one rank after the other, in rank order */
  int64_t edge_count;         /* block e goes from rank from[e] to rank to[e] */
  const int32_t *from, *to;
} tt_plan_claim;

typedef struct tt_plan_set {
  tt_plan_claim claim;
  int64_t plan_count;
  tt_plan **plan; /* of every rank, in their order */
  tt_arena arena; /* of the tables; plans have their own */
} tt_plan_set;

/* What stands in the text before the plans of all ranks, each as tt_plan_print has it. The text is malloc'd. */
char *tt_plan_claim_print(const tt_plan_claim *claim);
/* Back from such a text, behind whose `size` bytes stands a zero. Printing gives the same text. No plan is checked,
 * alone or with others: that is the verifier's. Error TUTTI_ERR_PLAN has the line number, or the ranks whose plans are
 * missing. */
tutti_status tt_plan_set_parse(const char *text, size_t size, tt_plan_set **set);
void tt_plan_set_destroy(tt_plan_set *set); /* accepts NULL */

/* ---- bound plans: what runs ----
 *
 * A bound plan has a plan's steps, each with the media that may carry its block, and all else that an executor would
 * otherwise decide by itself: in which order one walker takes all of them, when what was lent is the lender's again.
 * It is made once for each class of blocks on one kind of machine (bind), proven (verify) and walked (exec). Lengths
 * enter at start, as offsets. Where several media are admitted, the sender picks one, and what it sends says which;
 * only between cells and streams both ends choose, from the length that both know. */

typedef enum tt_medium {
  TT_MEDIUM_CELL,      /* written to the sender's cell, where its readers find it */
  TT_MEDIUM_SLOT,      /* copied into a slot of a stream */
  TT_MEDIUM_PUBLISHED, /* copied into a slot of a stream with several readers */
  TT_MEDIUM_LENT,      /* a slot refers to it: readers find it where it lies, in memory that ranks share */
  TT_MEDIUM_READ,      /* a slot refers to it: the system copies it out of the sender's memory */
  TT_MEDIUM_MESSAGE,   /* a slot that goes to another machine when its message is complete or it is full */
  TT_MEDIUM_COUNT
} tt_medium;

typedef uint8_t tt_media; /* a set of them */

#define TT_MEDIA(medium) ((tt_media)(1u << (medium)))
#define TT_MEDIA_ALL ((tt_media)((1u << TT_MEDIUM_COUNT) - 1))
#define TT_MEDIA_LENT ((tt_media)(TT_MEDIA(TT_MEDIUM_LENT) | TT_MEDIA(TT_MEDIUM_READ)))

extern const char *const tt_medium_name[TT_MEDIUM_COUNT];

/* What is known of the blocks of a run. */
typedef enum tt_class {
  TT_CLASS_CELLS,   /* all ranks know all lengths, and that there is room in cells */
  TT_CLASS_ENDS,    /* the two ends of a move know its block's length, and no other rank: each pair agrees by itself */
  TT_CLASS_STREAMS, /* they are too long for cells, or there are none */
  TT_CLASS_COUNT
} tt_class;

extern const char *const tt_class_name[TT_CLASS_COUNT];

typedef struct tt_bound_step { /* of the list's step with the same number */
  tt_media media;              /* of a copy: none */
  bool final;                  /* nothing reads its result in this run: it may be stored past the cache */
} tt_bound_step;

typedef struct tt_image_ref { /* a block in or out of which values are kept in a wider type while they are combined */
  tt_ref ref;
  uint32_t block;
} tt_image_ref;

typedef struct tt_bound_plan {
  const tt_plan *list; /* the plan's steps, or others that do the same; borrowed */
  tt_class blocks;
  tt_bound_step *step; /* parallel to list->step */

  /* Where cells are admitted: sends come first of all, then everything else, one step after the other; unless some
   * block has to go through a stream, then steps keep to their lanes. */
  uint32_t *order; /* numbers of all steps that are no sends */
  uint32_t order_count;
  uint32_t released; /* after so many of them, nothing that others have in their cells is read any more */
  /* Both ends of a pair put its blocks in one place, as these are in one order for each pair. */
  uint32_t *put, *take; /* numbers of all steps that send, and that take */
  uint32_t put_count, take_count;

  uint32_t *settle; /* numbers of sends: the run is not complete before what they have lent is this rank's again */
  uint32_t settle_count;

  tt_image_ref *widen, *narrow; /* before all steps, and after them, where a run combines in a wider type */
  uint32_t widen_count, narrow_count;
  tt_arena arena; /* all of the above lives here */
} tt_bound_plan;

tutti_status tt_bound_plan_create(const tt_plan *list, tt_bound_plan **bound); /* no media, empty lists */
void tt_bound_plan_destroy(tt_bound_plan *bound);                              /* accepts NULL */
/* Whether every index is in its range: what exec and verify rely on before they touch anything. */
tutti_status tt_bound_plan_check(const tt_bound_plan *bound);
/* The list as text, with what is bound behind each step. malloc'd; NULL: no memory. */
char *tt_bound_plan_print(const tt_bound_plan *bound);

/* Something comes to this rank from another. */
static inline bool tt_plan_step_takes(const tt_step *step) {
  return step->kind == TT_STEP_RECV || step->kind == TT_STEP_RECV_REDUCE;
}

static inline bool tt_plan_step_combines(const tt_step *step) {
  return step->kind == TT_STEP_RECV_REDUCE || (step->flags & TT_STEP_ONTO) != 0;
}

#endif
