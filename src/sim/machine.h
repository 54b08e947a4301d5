/* sim/machine.h - what the files of the simulator share: lanes, streams, packets, ports and the clock.
 *
 *     sim.c       makes a machine, runs it, and says when ranks are through
 *     network.c   lanes and streams of all plans, numbered through
 *     symmetry.c  ranks that stand for others
 *     run.c       lanes go on as far as their waits, packets and slots let them
 *     port.c      packets wait for ports and links, and are on their way
 *     ends.c      what ranks of bound plans do at the ends of streams
 *     cores.c     whose turn it is where ranks share cores
 *     clock.c     which lanes are to be visited, and what will happen, by time */
#ifndef TT_SIM_MACHINE_H
#define TT_SIM_MACHINE_H

#include "sim/sim.h"

#define TT_NONE UINT32_MAX

typedef struct tt_sim_packet {
  struct tt_sim_packet *next; /* of the same lane; of the free ones */
  uint32_t lane;              /* that sends it */
  uint32_t step;              /* the first, in its lane */
  uint32_t slice;             /* the first, in its step's block */
  uint32_t pieces;            /* slices of blocks */
  uint32_t readers;           /* that have not used it up */
  uint32_t level;             /* of the topology */
  int64_t bytes;
  tt_medium medium; /* of bound plans */
  bool is_new;      /* its rank has written it in this call */
  double ready_ps;
} tt_sim_packet;

/* A packet on its way to one reader. */
typedef struct tt_sim_delivery {
  struct tt_sim_delivery *next;       /* of the same stream; of the free ones */
  struct tt_sim_delivery *next_at_in; /* waiting for the same way in */
  tt_sim_packet *packet;
  uint32_t stream;
  uint32_t left; /* pieces that are not used */
  uint32_t port; /* that it leaves through and is free when it has come; TT_NONE: none */
  bool arrived;
} tt_sim_delivery;

typedef struct tt_sim_stream {
  uint32_t id, source, reader; /* of the lanes; ranks */
  uint32_t to;                 /* the reader's number among all ranks; of those that stand for others, an image's */
  uint32_t send_lane, recv_lane;
  int64_t held;                  /* packets begun and not used up */
  tt_sim_delivery *first, *last; /* those that have left */
} tt_sim_stream;

/* A call that goes on. */
typedef struct tt_sim_running {
  const tt_sim_call *of;
  int64_t slice_bytes; /* INT64_MAX: nothing is cut */
  uint32_t *rank_lane; /* first lane of each rank */
  double *rank_ps;     /* of the result */
  int64_t busy;        /* packets that have not come to their readers, and lanes that work */
} tt_sim_running;

typedef struct tt_sim_lane {
  tt_sim_running *call;
  const tt_plan *plan; /* of its rank; where ranks stand for others, perhaps of another one that is like it */
  const tt_lane *of;
  uint32_t rank;
  uint32_t *stream;                   /* of each step; of a published sending lane: of each reader */
  uint32_t step;                      /* the current one; step_count: through */
  int64_t slice, slices;              /* of the current step: done, all */
  bool entered;                       /* slices is set */
  bool works;                         /* until an event */
  bool awake;                         /* in the list of lanes to visit */
  bool waits;                         /* in the list of another lane's waiters, for what follows */
  uint32_t waits_step;                /* that the other lane is past this step */
  int64_t waits_slice;                /* or has done this slice of it; -1: only the former */
  uint32_t first_waiter, next_waiter; /* its own waiters; the next of those that it is in */
  uint32_t next_awake;
  double reuse;                /* of bound plans: bytes used since the current step's places were */
  bool in_message;             /* a packet of the current message has left */
  tt_sim_packet *open;         /* being filled */
  tt_sim_packet *first, *last; /* waiting for a port */
  uint32_t next_at_port, next_at_core;
} tt_sim_lane;

static inline bool tt_sim_is_through(const tt_sim_lane *lane) { return lane->step == lane->of->step_count; }

/* A rank's ways out at one level. */
typedef struct tt_sim_port {
  uint32_t first_lane; /* whose first packet waits here */
  uint32_t next_ready;
  int64_t busy; /* packets that are leaving */
  bool ready;   /* in the list of ports to serve */
} tt_sim_port;

/* A rank's ways in at one level, for which packets wait in the order of asking. */
typedef struct tt_sim_way_in {
  tt_sim_delivery *first, *last; /* waiting */
  int64_t busy;                  /* packets that are coming */
} tt_sim_way_in;

/* When each of several links is free, and how long a byte takes on it. */
typedef struct tt_sim_links {
  double *free_ps, *byte_ns; /* [owner][count] */
  int64_t count;             /* 0: there is always one */
} tt_sim_links;

/* What ends at a time: a packet's way, its port's part in it, a lane's work. */
typedef struct tt_sim_event {
  double time_ps;
  uint64_t order;            /* of events at one time: set by the clock */
  tt_sim_delivery *delivery; /* NULL: none */
  uint32_t port, lane;       /* TT_NONE: none */
  bool starts;               /* the lane's rank makes the call; else the lane's work is done */
} tt_sim_event;

typedef struct tt_sim_clock {
  double now_ps;
  tt_sim_event *event; /* a heap */
  size_t count, room;
  uint64_t order;
} tt_sim_clock;

typedef struct tt_sim_list { /* of numbers, through what they number; TT_NONE: empty */
  uint32_t first, last;
} tt_sim_list;

typedef struct tt_sim_ends tt_sim_ends;
typedef struct tt_sim_cores tt_sim_cores;

typedef struct tt_sim_machine {
  const tt_sim_model *model;
  tt_sim_running *call;
  struct {
    const tt_symmetry *symmetry;  /* NULL: all ranks are simulated */
    int32_t *rank_of, *number_of; /* of those simulated, among all; and back. Where there is a symmetry */
  } ranks;
  uint32_t call_count;
  uint32_t rank_count; /* of those that are simulated, numbered through */
  uint32_t level_count, lane_count, stream_count;
  double slowest_ns[TT_TOPO_LEVELS]; /* a byte of a packet that crosses this level and all within it */
  tt_sim_lane *lane;                 /* of the first call's ranks, then of the second one's */
  tt_sim_stream *stream;
  tt_sim_port *port; /* [rank][level] */
  tt_sim_way_in *in; /* [rank][level] */
  struct {
    tt_sim_links out[TT_TOPO_LEVELS], in[TT_TOPO_LEVELS]; /* of each group */
    bool unused[TT_TOPO_LEVELS];                          /* no packet would wait for them */
  } link;
  struct {               /* what ranks do themselves */
    double *done_ps;     /* when each rank's is done */
    tt_sim_ends *ends;   /* NULL: plans are not bound */
    tt_sim_cores *cores; /* NULL: each rank has one */
  } work;
  tt_sim_clock clock;
  tt_sim_list awake;   /* lanes to visit */
  tt_sim_list ready;   /* ports to serve */
  uint32_t lanes_left; /* that are not through */
  struct {
    tt_sim_packet *packet;
    tt_sim_delivery *delivery;
  } unused;
  struct {
    int64_t room;
    bool wanted;
  } spans;
  bool failed; /* memory is exhausted */
  tt_sim_result *result;
  tt_arena arena;
} tt_sim_machine;

static inline void tt_sim_works(tt_sim_lane *lane) {
  lane->call->busy += !lane->works;
  lane->works = true;
}

/* The lane's rank is not through with its call before. */
static inline void tt_sim_through_at(const tt_sim_lane *lane, double time_ps) {
  double *rank_ps = &lane->call->rank_ps[lane->rank];
  *rank_ps = time_ps > *rank_ps ? time_ps : *rank_ps;
}

/* network.c: all of the machine but what moves. */
tutti_status tt_sim_network(tt_sim_machine *machine, const tt_sim_call *call);
int64_t tt_sim_block_bytes(const tt_sim_call *call, uint32_t block); /* a plan's block */

/* symmetry.c: ranks that stand for others */
tutti_status tt_sim_symmetry_make(tt_sim_machine *machine, const tt_sim_call *call);
void tt_sim_symmetry_count(tt_sim_machine *machine); /* counts of the ranks simulated become those of all */
/* Rank number `number`'s plan names a rank: which it is. */
int64_t tt_sim_peer(const tt_sim_machine *machine, uint32_t number, int64_t peer);
/* A packet from rank `source` to simulated rank `reader` stands for one from `*source` to `*to`: the first is
 * simulated. */
void tt_sim_stand_in(const tt_sim_machine *machine, int64_t source, uint32_t reader, uint32_t *number, uint32_t *to);
static inline int64_t tt_sim_rank_of(const tt_sim_machine *machine, uint32_t number) {
  return machine->ranks.symmetry ? machine->ranks.rank_of[number] : (int64_t)number;
}
static inline const tt_plan *tt_sim_plan_of(const tt_sim_machine *machine, const tt_sim_call *call, uint32_t number) {
  return call->plan[machine->ranks.symmetry ? number % machine->ranks.symmetry->unit_size : number];
}

/* ends.c: what ranks of bound plans do at the ends of streams */
tutti_status tt_sim_ends_make(tt_sim_machine *machine, const tt_sim_bound *bound);
void tt_sim_ends_enter(tt_sim_machine *machine, tt_sim_lane *lane);           /* its current step begins */
bool tt_sim_ends_new(const tt_sim_machine *machine, const tt_sim_lane *lane); /* a send of what this call has made */
tt_medium tt_sim_ends_medium(const tt_sim_machine *machine, const tt_sim_lane *lane); /* of its current step, a send */
/* When the rank's own work on that many bytes of the lane's current step, which begins then, is done. */
double tt_sim_ends_work(tt_sim_machine *machine, tt_sim_lane *lane, int64_t bytes, double begin_ps);

/* cores.c: whose turn it is */
void tt_sim_cores_make(tt_sim_machine *machine, const tt_sim_bound *bound);
void tt_sim_cores_queue(tt_sim_machine *machine, uint32_t lane); /* its current piece has to be worked on */
void tt_sim_cores_serve(tt_sim_machine *machine);
int64_t tt_sim_core_of(const tt_sim_bound *bound, int64_t rank); /* of all machines; only where ranks share cores */

/* run.c: all calls, to their end. */
tutti_status tt_sim_go(tt_sim_machine *machine);
/* The rank's own work on the lane's current piece; returns when it is done. */
double tt_sim_begin_work(tt_sim_machine *machine, uint32_t lane, double begin_ps);

/* clock.c: lanes to visit now, and what ends later */
void tt_sim_start(tt_sim_machine *machine, uint32_t lane); /* at 0, or when its rank makes the call */
void tt_sim_wake(tt_sim_machine *machine, uint32_t lane);
void tt_sim_later(tt_sim_machine *machine, tt_sim_event event);
bool tt_sim_next(tt_sim_clock *clock, tt_sim_event *event);

/* port.c */
void tt_sim_depart(tt_sim_machine *machine, tt_sim_packet *packet); /* it is complete; takes it */
void tt_sim_serve(tt_sim_machine *machine);                         /* all ports that can take a packet */
void tt_sim_left(tt_sim_machine *machine, uint32_t port);
void tt_sim_arrived(tt_sim_machine *machine, tt_sim_delivery *delivery);
void tt_sim_used_up(tt_sim_machine *machine, tt_sim_stream *stream); /* the first delivery of the stream */
void tt_sim_add_span(tt_sim_machine *machine, const tt_sim_span *span);

#endif
