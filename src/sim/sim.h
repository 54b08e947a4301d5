/* sim/sim.h - what all ranks' plans would cost on a machine of which only rates are known; no bytes move.
 *
 * A packet is a message, or a slice of one where the plan or the model cuts it. Between two ranks it takes
 * alpha + bytes * beta, of the outermost level at which their groups differ, and for all of that time a port of the
 * sender and a port of the receiver (Hockney's cost, the literature's one-port full-duplex machine); each level has
 * ports of its own. Combining takes
 * gamma a byte of the receiving rank's own time, beside its ports.
 *
 *     rank 0   [ alpha + bytes beta ][ next packet  ...             a port takes one packet at a time
 *     rank 1   [ the same           ][ gamma ]                      here rank 1 can go on with the block
 *
 * Plans run as verify says: lanes in order and side by side, waits, streams. What is ready first goes first. */
#ifndef TT_SIM_SIM_H
#define TT_SIM_SIM_H

#include "plan/plan.h"
#include "topo/topo.h"

#define TT_SIM_PORTS 64

typedef struct tt_sim_level {
  double alpha_ns; /* a packet */
  double beta_ns;  /* a byte */
  int64_t ports;   /* packets that a rank sends at a time, and that it receives: 1 .. TT_SIM_PORTS */
  int64_t links;   /* of all ranks of a group together, each way: 1 .. TT_SIM_PORTS; 0: any number. A packet uses one
                    * each at both ends for bytes * beta */
} tt_sim_level;

typedef struct tt_sim_model {
  const tt_topo *topo;                /* borrowed */
  tt_sim_level level[TT_TOPO_LEVELS]; /* of each level of the topology */
  double gamma_ns;                    /* a byte combined */
  double copy_ns;                     /* a byte copied within a rank */
  int64_t slot_bytes;                 /* longest packet; 0: any length */
  int64_t slot_count;                 /* packets of a stream that are not used up; 0: any number */
} tt_sim_model;

/* Rates of an ordinary machine (model.c). */
void tt_sim_model_init(tt_sim_model *model, const tt_topo *topo);
/* Changes what the text names, such as "core:alpha=0.1us,beta=0.1;node:alpha=2us,links=2;gamma=0.05". What stands
 * without a level is for all of them. alpha: 20 (ns), 20ns, 2us, 1ms. beta, gamma, copy: ns a byte. slot: bytes. ports,
 * links, slots: numbers. TUTTI_ERR_ARGUMENT names what does not fit; the model is then of no use. */
tutti_status tt_sim_model_parse(const char *text, tt_sim_model *model);
void tt_sim_model_print(const tt_sim_model *model, char *text, size_t size); /* parses back to the same */
/* The outermost level at which two ranks are in different groups. */
int tt_sim_model_level(const tt_sim_model *model, int64_t a, int64_t b);

/* Lengths of the composition's blocks; plans cut them into parts. */
typedef struct tt_sim_lengths {
  int64_t total_bytes;  /* of all blocks, which differ by at most a byte */
  const int64_t *bytes; /* not NULL: of each block, instead; borrowed */
} tt_sim_lengths;

/* Something that took time: a packet on its way to one reader, or a rank's own work (peer -1). */
typedef struct tt_sim_span {
  int32_t rank, peer;
  uint16_t level;        /* of the topology */
  uint32_t round, block; /* of the packet's first step */
  int64_t bytes;
  double begin_ps, end_ps;
} tt_sim_span;

/* What all ranks sent over one level of the topology. What is published counts once. */
typedef struct tt_sim_counts {
  int64_t messages, packets, bytes;
} tt_sim_counts;

/* Times are whole picoseconds; doubles hold them exactly up to 2.5 hours. */
typedef struct tt_sim_result {
  double time_ps;  /* when the last rank is through */
  double *rank_ps; /* of each rank: its lanes are through and its packets have left */
  uint32_t rounds; /* of the plans */
  tt_sim_counts level[TT_TOPO_LEVELS];
  tt_sim_span *span; /* where asked for; in no order */
  int64_t span_count;
  tt_arena arena;
} tt_sim_result;

/* plan[r] is rank r's; all have passed tt_plan_check. TUTTI_ERR_PLAN where they do not fit together or never end. The
 * result is the same in every run. Cost: that of a heap, a packet; tt_sim_finish is called afterwards in any case. */
tutti_status tt_sim_run(const tt_sim_model *model, const tt_plan *const *plan, const tt_sim_lengths *lengths,
                        bool spans, tt_sim_result *result);
void tt_sim_finish(tt_sim_result *result);

#endif
