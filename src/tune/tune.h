/* tune/tune.h - which parameters a call runs with: rules of a profile, one for each region of calls; and all that it
 * could run with, the space. */
#ifndef TT_TUNE_TUNE_H
#define TT_TUNE_TUNE_H

#include "compose/compose.h"
#include "lower/lower.h"
#include "sim/sim.h"

/* What a choice may depend on: facts that all ranks know. */
typedef struct tt_region {
  tt_collective collective;
  int64_t bytes; /* of the whole vector; INT64_MAX: not all ranks know */
  int64_t rank_count, node_count;
  int64_t ranks_per_node; /* of the largest node */
  int64_t nic_count;      /* between nodes, of the node with the fewest; 0: unknown, as with a user's transport */
  int64_t l2_bytes;       /* the smallest level 2 cache of a core; 0: unknown, as in a region that was measured */
  int64_t core_count;     /* of the node with the fewest cores; 0 as with l2_bytes */
} tt_region;

/* Ranks of a core on the largest node, rounded up; 1 where it is unknown. */
static inline int64_t tt_region_share(const tt_region *region) {
  int64_t each = region->ranks_per_node, cores = region->core_count;
  return each > 0 && cores > 0 ? (each + cores - 1) / cores : 1;
}
bool tt_region_same(const tt_region *a, const tt_region *b);

typedef struct tt_rule {
  tt_collective collective;
  int64_t bytes_max;            /* INT64_MAX: any */
  int64_t l2_times, l2_parts;   /* parts not 0: bytes_max is the level 2 cache times / parts */
  int64_t ranks_min, ranks_max; /* inclusive */
  int64_t nodes_min, nodes_max;
  int64_t each_min, each_max;   /* ranks of the largest node */
  int64_t nics_min, nics_max;   /* an unknown number is taken for 1 */
  int64_t share_min, share_max; /* ranks of a core, rounded up; the same */
  char *text;
  tt_params params;
  int64_t number; /* of the rule in its file, from 1 */
  char *source;   /* for people: its file and line, "PATH:12" */
} tt_rule;

typedef struct tt_profile {
  char *name;
  tt_rule *rule;
  int64_t rule_count;
  uint64_t hash; /* of the rules: equal on ranks that read the same */
} tt_profile;

/* path NULL or "": the profile that is shipped. Errors name the file, the rule and what is wrong with it. */
tutti_status tt_profile_open(const char *path, tt_profile **profile);
void tt_profile_close(tt_profile *profile);
/* The first rule whose region holds it; NULL where none does. */
const tt_rule *tt_profile_find(const tt_profile *profile, const tt_region *region);

/* ---- the space: the parameters that a call could run with ---- */

/* What parameters are wanted for. Only what all ranks know. */
typedef struct tt_task {
  tt_problem problem; /* owners: NULL */
  const tt_topo *topo;
  int64_t bytes;       /* of the whole vector */
  int64_t slot_bytes;  /* of a stream: no slice is longer */
  int64_t cells_bytes; /* calls up to so long run in cells, which know no slices */
  int64_t read_bytes;  /* a block from this length on may be read where it lies; 0: none */
} tt_task;

typedef struct tt_candidate {
  const char *text;
  uint64_t identity; /* of what all ranks do: candidates of one identity run alike */
} tt_candidate;

/* A text that is no candidate. */
typedef struct tt_left_out {
  const char *text;
  int64_t like;    /* the number of the candidate that it runs like; -1: it makes no plan, */
  const char *why; /* and why; else NULL */
} tt_left_out;

/* The candidates of a task, each of another identity. */
typedef struct tt_candidates {
  tt_candidate *candidate;
  int64_t count;
  tt_left_out *left_out;
  int64_t left_out_count;
  int64_t tried;   /* texts */
  int64_t refused; /* of them: they make no plan for this task */
  tt_arena arena;
} tt_candidates;

/* Every text that the generator has and that the compiler takes, in a fixed order. The first of those that run alike is
 * kept. TUTTI_ERR_MEMORY only; tt_candidates_finish is called afterwards in any case. Cost: a compilation of all ranks'
 * plans, or of a sample of many ranks, for each text but those that differ in slice and medium alone. */
tutti_status tt_candidates_make(const tt_task *task, tt_candidates *space);
void tt_candidates_finish(tt_candidates *space);
/* The composition that parameters ask for: of their form, with blocks dealt to the groups of a level where they are
 * even. In the arena. TUTTI_ERR_PLAN, TUTTI_ERR_MEMORY. */
tutti_status tt_task_compose(const tt_problem *of, const tt_params *params, const tt_topo *topo, tt_arena *arena,
                             tt_composition *composition);
/* Whether each rank knows the lengths of the blocks that it would pass on: else the plans cannot run. */
bool tt_task_knows_lengths(tt_collective collective, const tt_lowering *lowering);
/* The same for a text from elsewhere. TUTTI_ERR_PLAN, with the reason, where it makes no plan. */
tutti_status tt_candidate_identify(const tt_task *task, const char *text, uint64_t *identity);

/* Any parameters that can be written, for tests: most are no candidates, and some make no plan. */
typedef struct tt_drawing {
  tt_collective collective; /* TT_COLLECTIVE_COUNT: of a composition without forms */
  const char *const *level; /* names of the topology's levels, from the outermost, but for "core" */
  int level_count;
  int64_t slot_bytes; /* at least 64 */
} tt_drawing;

void tt_params_draw(const tt_drawing *of, tt_random *random, tt_params *params);

/* The strongest first. */
typedef enum tt_authority {
  TT_BY_PROGRAM, /* tutti_comm_set_params */
  TT_BY_PARAMS,  /* TUTTI_PARAMS */
  TT_BY_WISDOM,
  TT_BY_LEARNED, /* what is like calls that were measured */
  TT_BY_MODEL,   /* what the simulator says */
  TT_BY_PROFILE,
  TT_BY_NOBODY,
  TT_AUTHORITY_COUNT
} tt_authority;

/* ---- wisdom: what was measured to be fastest on this machine ---- */

typedef struct tt_winner {
  tt_region region;   /* what was measured */
  const char *text;   /* parameters */
  int64_t time_ns;    /* of a call, */
  int64_t rules_ns;   /* and with what the profile chooses; 0: not measured */
  int64_t line;       /* of its file, from 1; 0: it is of none */
  const char *source; /* for people: its file and line, "PATH:12"; "" where it is of none */
} tt_winner;

/* Another library, which a program can call instead: what was measured of its own algorithm against tutti's. */
typedef struct tt_outside {
  tt_region region;
  const char *library; /* name and version: "openmpi-4.1" */
  int64_t time_ns;     /* of a call, */
  int64_t tutti_ns;    /* and on tutti */
  bool wins;           /* it is faster, by more than chance */
  int64_t line;        /* of its file, from 1; 0: it is of none */
} tt_outside;

/* Lengths of one shape for which somebody knows better than the rules, where nothing was measured. */
typedef struct tt_inferred {
  tt_region region;   /* from its length on, */
  int64_t bytes_last; /* up to this one */
  tt_authority by;    /* TT_BY_LEARNED or TT_BY_MODEL */
  const char *text;   /* parameters */
  int64_t line;       /* of the file of lessons, from 1 */
  const char *source; /* as of a winner */
} tt_inferred;

#define TT_LIBRARY_TEXT 41 /* bytes of its name at most */
#define TT_MACHINE_TEXT 17 /* a machine's fingerprint: 16 hexadecimal digits */

typedef struct tt_wisdom {
  char machine[TT_MACHINE_TEXT];
  char *about; /* for people: which machine, and when */
  char *path;  /* of its file; "": none */
  tt_winner *winner;
  int64_t count;
  tt_outside *outside;
  int64_t outside_count;
  tt_inferred *inferred; /* of a job: no file of wisdom has any */
  int64_t inferred_count;
  char *lessons; /* the file that they come from; "": none */
  tt_arena arena;
} tt_wisdom;

/* An empty one. Errors name the argument. */
tutti_status tt_wisdom_create(const char *machine, const char *about, tt_wisdom **wisdom);
void tt_wisdom_destroy(tt_wisdom *wisdom); /* accepts NULL */
/* What the file has that more is to be added to, or an empty one where there is no file. An error where it is another
 * machine's. */
tutti_status tt_wisdom_open(const char *path, const char *machine, const char *about, tt_wisdom **wisdom);
/* Takes the place of the one of an equal region. With another text, other libraries' times near it go: they were
 * compared with what is no more. text is copied. TUTTI_ERR_PLAN where it does not parse. */
tutti_status tt_wisdom_put(tt_wisdom *wisdom, const tt_winner *winner);
/* The one of an equal region; NULL: there is none. */
tt_winner *tt_wisdom_of(const tt_wisdom *wisdom, const tt_region *region);
/* The same of another library. TUTTI_ERR_ARGUMENT where that is no name. */
tutti_status tt_wisdom_put_outside(tt_wisdom *wisdom, const tt_outside *outside);
tt_outside *tt_wisdom_outside_of(const tt_wisdom *wisdom, const char *library, const tt_region *region);
/* Errors name the file, the number of the row and what is wrong with it; nothing of a file with an error is used. */
tutti_status tt_wisdom_read(const char *path, tt_wisdom **wisdom);
/* Adds all of it to the file at that path. Folders are made. Others may do the same at the same time, and readers
 * find the old file or the new one. A file that is no wisdom, or that of another machine or version, is left alone,
 * with an error. */
tutti_status tt_wisdom_write(const char *path, const tt_wisdom *wisdom);

/* Forgets communicators of more ranks than that: a job of so many has none. */
void tt_wisdom_keep_ranks(tt_wisdom *wisdom, int64_t ranks);
/* Forgets rows of other libraries by which no call goes to one: most have lost, far from any that won. */
void tt_wisdom_keep_wins(tt_wisdom *wisdom);
/* As numbers, to be sent to other ranks and to be kept. *numbers: malloc'd. */
#define TT_NUMBERS_VERSION 1
tutti_status tt_wisdom_pack(const tt_wisdom *wisdom, int64_t **numbers, int64_t *count);
tutti_status tt_wisdom_unpack(const int64_t *numbers, int64_t count, tt_wisdom **wisdom);

#define TT_BUCKETS 128 /* of lengths: two for each power of two */

/* Winners of the communicators of one shape, by collective and length. */
typedef struct tt_dispatch {
  /* Its number in the wisdom; behind the winners' numbers are those of what is inferred; negative: none. */
  int32_t winner[TT_COLLECTIVE_COUNT][TT_BUCKETS];
} tt_dispatch;

/* shape: of the communicator; collective and bytes are not read. A length takes the winner of the nearest length that
 * was measured, up to four times shorter or longer; none, where the profile's choice won there. What is left has what
 * is inferred of it. */
void tt_dispatch_make(const tt_wisdom *wisdom, const tt_region *shape, tt_dispatch *dispatch);
int tt_dispatch_bucket(int64_t bytes);
int64_t tt_dispatch_bytes(int bucket); /* its shortest length */
/* Whether what was measured at one length may decide at the other. */
bool tt_dispatch_near(int64_t bytes, int64_t other);
static inline const tt_winner *tt_dispatch_find(const tt_dispatch *dispatch, const tt_wisdom *wisdom,
                                                tt_collective collective, int64_t bytes) {
  int32_t found = dispatch->winner[collective][tt_dispatch_bucket(bytes)];
  return found < 0 || found >= wisdom->count ? NULL : &wisdom->winner[found];
}
static inline const tt_inferred *tt_dispatch_infer(const tt_dispatch *dispatch, const tt_wisdom *wisdom,
                                                   tt_collective collective, int64_t bytes) {
  int32_t found = dispatch->winner[collective][tt_dispatch_bucket(bytes)];
  return found < wisdom->count ? NULL : &wisdom->inferred[found - wisdom->count];
}

/* ---- who decides (choose.c) ---- */

const char *tt_authority_name(tt_authority by);
/* Where its text makes no plan, the call is an error; of the others, the call runs as if nobody had decided. */
bool tt_authority_insists(tt_authority by);

/* What they say. All ranks have the same. */
typedef struct tt_authorities {
  const char *set;             /* by the program; NULL: nothing */
  const char *params;          /* TUTTI_PARAMS; "": not set */
  const tt_wisdom *wisdom;     /* NULL: none */
  const tt_dispatch *dispatch; /* of the wisdom, for this shape; NULL as that is */
  const tt_profile *profile;   /* NULL: none */
} tt_authorities;

typedef struct tt_choice {
  tt_authority by;
  const char *text;        /* the parameters; NULL: it says nothing of this call, */
  const char *why;         /* and why (static storage) */
  const char *source;      /* its file and line, "PATH:12"; "": none */
  const tt_winner *winner; /* of wisdom */
} tt_choice;

/* The region of a call on ranks with that topology. bytes: of the whole vector. */
tt_region tt_region_of(const tt_topo *topo, tt_collective collective, int64_t bytes, int64_t nic_count,
                       int64_t l2_bytes, int64_t core_count);
/* What one of them says, the others aside. ordered: the operator does not commute. */
tt_choice tt_choose_by(const tt_authorities *of, tt_authority by, const tt_region *region, bool ordered);
/* What the strongest says that says something. */
tt_choice tt_choose(const tt_authorities *of, const tt_region *region, bool ordered);
tt_choice tt_choose_fallback(void); /* what runs where nobody decides */
/* Lengths at which another library is faster: a bit for each bucket. */
typedef struct tt_outside_table {
  char library[TT_LIBRARY_TEXT];
  uint64_t wins[TT_COLLECTIVE_COUNT][TT_BUCKETS / 64];
} tt_outside_table;

/* As tt_dispatch_make: each length goes by the nearest that was measured, up to four times shorter or longer. */
void tt_outside_table_make(const tt_wisdom *wisdom, const char *library, const tt_region *shape,
                           tt_outside_table *table);
/* The row by which a call goes; NULL: nothing near it was measured of that library. */
const tt_outside *tt_outside_find(const tt_wisdom *wisdom, const char *library, const tt_region *call);

/* ---- lessons: who decides where nothing was measured (lessons.h) ---- */

typedef struct tt_lessons tt_lessons;

/* Errors name the file, the line and what is wrong; nothing of a file with an error is used. */
tutti_status tt_lessons_read(const char *path, tt_lessons **lessons);
void tt_lessons_destroy(tt_lessons *lessons); /* accepts NULL */
const char *tt_lessons_machine(const tt_lessons *lessons);
/* What the lessons say of communicators of that shape: it is added to wisdom->inferred. With floating point, so one
 * rank does it for all. */
tutti_status tt_lessons_infer(const tt_lessons *lessons, const tt_region *shape, tt_wisdom *wisdom);

/* ---- the machine's rates: probes (probes.c), a fit (fit.c), and the file that keeps it (fits.c) ---- */

/* A message from one rank to another and one back, again and again, each on buffers of its own: what runs is a plan. */
typedef struct tt_probe {
  tt_medium medium;
  bool combines;       /* the receiver combines it with its own block; else it stores it */
  bool is_new;         /* the sender writes it before it sends it */
  int64_t piece_bytes; /* what goes at once; READ: the whole block */
  int64_t pieces;      /* of a message, one behind the other: from 2 on, both ends are at work at a time */
  bool past;           /* it is so long that the receiver stores it past the cache */
  int64_t reuse_bytes; /* that a rank uses until it comes back to the same memory; at least what one round trip uses */
} tt_probe;

typedef struct tt_probe_time { /* of a message */
  double way_ns;               /* from its start to that of the answer */
  double send_ns, take_ns;     /* what the ends do meanwhile */
  double spread;               /* of way_ns, relative: half of what lies between the fastest round and the median */
} tt_probe_time;

/* What else is measured. Copies are of a rank's own memory. */
typedef struct tt_fit_facts {
  double request_ns; /* of the request that carries a probe's message, without one */
  double call_ns;    /* of a call of no bytes */
  int64_t cores;     /* of a machine, where its ranks share them; 0: each has its own */
  double hop_ns;     /* one way of the smallest message where each goes on to the next rank, of all; 0: not measured */
  tt_sim_end own[TT_SIM_ACTS];
  double alone_ns[TT_SIM_REUSES], all_ns[TT_SIM_REUSES]; /* a byte copied by one rank, and while `copiers` of them do */
  int64_t copiers;
} tt_fit_facts;

/* Bytes that a rank uses in a round trip. */
int64_t tt_probe_trip(const tt_probe *probe);
/* The list of probes for slots of so many bytes. read_bytes: from where on a block is read where it lies; 0: never.
 * memory_bytes: of the buffers. past_bytes: messages from there on are stored past the cache; 0: none are. Returns how
 * many there are. */
#define TT_PROBES_MOST 96
int tt_fit_probes(int64_t slot_bytes, int64_t cell_bytes, int64_t read_bytes, int64_t memory_bytes, int64_t past_bytes,
                  bool far, tt_probe probe[static TT_PROBES_MOST]);
/* Rates that give those times. */
void tt_fit_rates(const tt_probe *probe, const tt_probe_time *time, int count, const tt_fit_facts *facts,
                  tt_sim_rates *rates);

typedef struct tt_fit {
  tt_region shape; /* of the communicator; collective and bytes are not used */
  tt_sim_rates rates;
} tt_fit;

typedef struct tt_fits {
  char machine[TT_MACHINE_TEXT];
  char about[200];
  tt_fit *fit;
  int64_t count;
} tt_fits;

void tt_fits_destroy(tt_fits *fits); /* accepts NULL */
/* Errors name the file, the line or the number of the fit, and what is wrong with it. */
tutti_status tt_fits_read(const char *path, tt_fits **machine);
/* The fit of an equal shape; NULL: there is none. */
const tt_fit *tt_fits_find(const tt_fits *fits, const tt_region *shape);
/* Adds it to the file at that path, as tt_wisdom_write does. */
tutti_status tt_fits_write(const char *path, const char *machine, const char *about, const tt_fit *fit);

/* The text of profiles/default.json, put into the library by the build. */
extern const char tt_profile_shipped[];

#endif
