/* sim/sim.h - what all ranks' plans would cost on a machine of which only rates are known; no bytes move.
 *
 * A packet is a message, or a slice of one where the plan or the model cuts it. Between two ranks it takes
 * alpha + bytes * beta, and for all of that time a port of the sender and a port of the receiver (Hockney's cost, the
 * literature's one-port full-duplex machine); each level has ports of its own. alpha is that of the outermost level at
 * which the ranks' groups differ, the whole way's. The packet cuts through: it uses links of that level and of all
 * levels within it, both ranks' NICs and the switches above, at once, and beta is that of the slowest. Combining takes
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
  int64_t links;   /* of all ranks of a group together, each way: 1 .. TT_SIM_PORTS; 0: any number. A packet that
                    * leaves the group, however far, uses one each at both ends for bytes * beta, after alpha */
} tt_sim_level;

#define TT_SIM_PLACES 32

/* Links of a level, or ranks, that are not as the model has them otherwise. What is negative is not said; of several
 * that say something of one link or rank, the last counts. */
typedef struct tt_sim_place {
  int level;           /* of the links; -1: ranks */
  int64_t first, last; /* groups whose links they are, or the ranks; INT64_MAX: up to the last one */
  int64_t first_link, last_link;
  double beta_ns; /* links: a byte */
  double load;    /* the part of the links' rate, or of the ranks' cores, that others take: below 1 */
  double late_ns; /* ranks: they begin so much later */
} tt_sim_place;

typedef struct tt_sim_model {
  const tt_topo *topo;                /* borrowed */
  tt_sim_level level[TT_TOPO_LEVELS]; /* of each level of the topology */
  double gamma_ns;                    /* a byte combined */
  double copy_ns;                     /* a byte copied within a rank */
  int64_t slot_bytes;                 /* longest packet; 0: any length */
  int64_t slot_count;                 /* packets of a stream that are not used up; 0: any number */
  tt_sim_place place[TT_SIM_PLACES];
  int place_count;
} tt_sim_model;

/* Rates of an ordinary machine (model.c). */
void tt_sim_model_init(tt_sim_model *model, const tt_topo *topo);
/* Changes what the text names, such as "core:alpha=0.1us,beta=0.1;node:alpha=2us,links=2;gamma=0.05". What stands
 * without a level is for all of them. alpha: 20 (ns), 20ns, 2us, 1ms. beta, gamma, copy: ns a byte. slot: bytes. ports,
 * links, slots: numbers. "node.0.1:beta=0.2,load=50%" is link 1 of node 0, "node.0-3" all links of four nodes,
 * "node.*.1" link 1 of each; "rank.3:late=5us,load=50%" is a rank. TUTTI_ERR_ARGUMENT names what does not fit; the
 * model is then of no use. */
tutti_status tt_sim_model_parse(const char *text, tt_sim_model *model);
/* "500ns", "2us": false where it is no time. */
bool tt_sim_time_parse(const char *text, double *time_ns);
void tt_sim_model_print(const tt_sim_model *model, char *text, size_t size); /* parses back to the same */
/* The outermost level at which two ranks are in different groups. */
int tt_sim_model_level(const tt_sim_model *model, int64_t a, int64_t b);
/* With what the model's places say: a byte on a link, how much longer a rank's own work takes, when a rank begins. */
double tt_sim_link_ns(const tt_sim_model *model, int level, int64_t group, int64_t link);
double tt_sim_work_factor(const tt_sim_model *model, int64_t rank);
double tt_sim_late_ns(const tt_sim_model *model, int64_t rank);

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

/* One of the calls that all ranks make, on communicators of all ranks. */
typedef struct tt_sim_call {
  const tt_plan *const *plan; /* of each rank; all have passed tt_plan_check */
  tt_sim_lengths lengths;
  double start_ns; /* ranks make it at this time, or later where they are late */
} tt_sim_call;

/* Times are whole picoseconds; doubles hold them exactly up to 2.5 hours. */
typedef struct tt_sim_result {
  double time_ps;     /* when the last rank is through */
  double *call_ps;    /* with each call */
  int64_t simulated;  /* ranks: all, or those that stand for all */
  double *rank_ps;    /* [call][rank simulated]: its lanes are through and its packets have left */
  uint32_t rounds;    /* of the first call's plans */
  int64_t link_waits; /* packets that waited for a link */
  tt_sim_counts level[TT_TOPO_LEVELS];
  tt_sim_span *span; /* where asked for; in no order */
  int64_t span_count;
  tt_arena arena;
} tt_sim_result;

/* plan[r] is rank r's; all have passed tt_plan_check. TUTTI_ERR_PLAN where they do not fit together or never end. The
 * result is the same in every run. Cost: that of a heap, a packet; tt_sim_finish is called afterwards in any case. */
tutti_status tt_sim_run(const tt_sim_model *model, const tt_plan *const *plan, const tt_sim_lengths *lengths,
                        bool spans, tt_sim_result *result);
/* Several calls that go on at once: they share ports, links and the ranks' own time. Of what is ready at one time, the
 * first call's goes first. */
tutti_status tt_sim_run_calls(const tt_sim_model *model, const tt_sim_call *call, int call_count, bool spans,
                              tt_sim_result *result);
void tt_sim_finish(tt_sim_result *result);

/* ---- large machines: ranks that stand for others (symmetry.c) ----
 *
 * Where permutations of the ranks change neither plans nor machine, all ranks that they bring onto each other do the
 * same at the same time, so one of them is simulated. Its packets to a rank go to the one that stands for that. */

/* Leaves of the permutations of plans those that change nothing of the machine either. Ranks that share links which may
 * have to be waited for all stand for themselves: such links carry their packets one by one. */
tutti_status tt_sim_symmetry(const tt_sim_model *model, const tt_symmetry *plans, tt_symmetry *symmetry);
/* plan[m]: of the ranks of the line's first unit; the others' are these, moved. TUTTI_ERR_UNSUPPORTED where the plan's
 * blocks are not all of one length, messages are cut, or the model has single links or ranks. As tt_sim_run: time_ps is
 * what that would find, or nearly that where packets wait for links or a message brings several blocks to combine;
 * counts are those of all ranks. */
tutti_status tt_sim_run_symmetric(const tt_sim_model *model, const tt_symmetry *symmetry, const tt_plan *const *plan,
                                  const tt_sim_lengths *lengths, tt_sim_result *result);

/* ---- bound plans, on a machine that was measured (ends.c) ----
 *
 * Here it is the ranks that take time. To send, a rank copies into a slot; to receive, it copies or combines out of it;
 * both in its own time, and in that of its core where ranks share cores. Between the two, a packet is on its way for
 * what its level takes.
 *
 *     rank 0   [ send ][ send ]                 [ .. ]: own time; rank 1 waits for alpha after rank 0 is through,
 *     rank 1          .alpha.[ store ][ store ]         between machines for a port and bytes * beta, too */

#define TT_SIM_PIECES 8
#define TT_SIM_REUSES 7
extern const int64_t tt_sim_piece[TT_SIM_PIECES]; /* bytes, ascending */
extern const int64_t tt_sim_reuse[TT_SIM_REUSES]; /* the same */

/* What a rank does with a piece of a block. */
typedef struct tt_sim_end {
  double piece_ns[TT_SIM_PIECES]; /* of a piece so long that is in the cache; between them, and beyond, by lines */
  double reuse_ns[TT_SIM_REUSES]; /* a byte more, where it has used so many bytes since it used these */
  double both_ns[TT_SIM_PIECES];  /* more or less, while the other end is at work on other pieces */
  double past_ns;                 /* a byte more than alone, where the result is stored past the cache: for reuse_ns */
} tt_sim_end;

/* NEW: of what the other rank has written since this one read it last, and which its cache has. */
typedef enum tt_sim_act {
  TT_SIM_SEND,
  TT_SIM_STORE,
  TT_SIM_COMBINE,
  TT_SIM_STORE_NEW,
  TT_SIM_COMBINE_NEW,
  TT_SIM_ACTS
} tt_sim_act;

typedef struct tt_sim_rates {
  tt_sim_end end[TT_MEDIUM_COUNT][TT_SIM_ACTS];
  tt_sim_end own[TT_SIM_ACTS];  /* within the rank's memory: STORE and COMBINE */
  tt_sim_level within, between; /* the way from rank to rank: in a machine, and from one to another */
  double call_ns;               /* of a call, whatever it moves */
  int64_t cores;                /* of a machine; 0: each rank has one */
  double switch_ns;             /* until a core is another rank's */
  int64_t cache_bytes;          /* what was used so many bytes ago, or longer, comes from memory */
  double memory_ns;             /* a byte from memory, of all ranks of a machine together; 0: they share nothing */
} tt_sim_rates;

typedef struct tt_sim_bound {
  const tt_bound_plan *const *plan; /* of each rank */
  const tt_sim_rates *rates;
  const int64_t *machine; /* of each rank: the first rank of its machine; NULL: all are on one */
  bool single_copy;       /* blocks of read_least bytes or more are read where they lie, where the plan admits that */
  int64_t read_least;     /* -1: none are */
  int64_t past_bytes;     /* of all blocks together: from here on, results that are not read soon go past the cache */
  const double *start_ps; /* when each rank begins; NULL: all at 0 */
  const int64_t *core;    /* of each rank, below rates->cores; NULL: its number modulo that */
} tt_sim_bound;

/* The rates of model are those of the ways: tt_sim_rates_set sets them. Else as tt_sim_run. */
tutti_status tt_sim_run_bound(const tt_sim_model *model, const tt_sim_bound *bound, const tt_sim_lengths *lengths,
                              tt_sim_result *result);
/* Levels of the model from 0 to `between_count` - 1 are between machines. */
void tt_sim_rates_set(const tt_sim_rates *rates, int between_count, tt_sim_model *model);
/* What both_ns says of a piece. */
double tt_sim_beside_ns(const double ns[static TT_SIM_PIECES], int64_t piece_bytes);
/* A piece's time, alone. */
double tt_sim_end_ns(const tt_sim_end *end, int64_t piece_bytes, double reuse_bytes);

#endif
