/* tests/simgrid/play.c - plans as SimGrid's actors: one a lane, and as many a rank and level as it has ports there.
 *
 * A lane does its steps in order. What it sends it hands to the rank's ports, a packet at a time, and goes on. A port
 * takes the packet that was ready first, then the lower round; waits for a port of the receiver, in the order of
 * asking; and lets SimGrid carry it. What a rank combines, it combines one after the other. None of this knows how
 * src/sim does the same: only the rules are shared.
 *
 * With eager_bytes there are no ports, and a packet is a message as SMPI has them. A shorter one sets off when it is
 * sent, but for those of a stream, of which a few are under way; any other when its reader waits for it, too, and the
 * sending lane goes on to its next message when that is over, as a rank that calls MPI_Send does. All share links with
 * all. */
#include "compare.h"

#include <assert.h>
#include <search.h>

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/host.h>
#include <simgrid/mailbox.h>
#include <simgrid/mutex.h>
#include <simgrid/semaphore.h>

/* Short messages of a stream: so many bytes, but 2 .. MESSAGES. SimGrid's own time grows with the square of all that
 * are under way. */
enum { UNDER_WAY_BYTES = 16384, UNDER_WAY_MESSAGES = 16 };

typedef struct message {
  struct message *next;
  struct stream *stream;
  int64_t bytes, pieces;
  double ready;
  uint32_t round, lane;
} message;

typedef struct stream {
  int call;
  uint32_t id;
  int64_t source, reader;
  sg_sem_t arrived;
  message *first, *last;                   /* arrived, not taken; with eager_bytes, also those on their way */
  int64_t left;                            /* pieces of the one that was taken */
  sg_mailbox_t box[2];                     /* with eager_bytes: of short messages, and of others */
  sg_comm_t under_way[UNDER_WAY_MESSAGES]; /* the last short ones */
  unsigned short_count;                    /* sent */
} stream;

typedef struct lane {
  int call;
  const tt_plan *plan;
  const tt_lane *of;
  uint32_t number, step;
  int64_t slice;      /* of the step: done */
  message *open;      /* that is not full */
  sg_comm_t long_one; /* under way; NULL: none is */
  sg_sem_t wake;
  struct lane *waiters, *next_waiter;
} lane;

typedef struct port {
  sg_sem_t ready, in;
  message *waiting;
} port;

static struct {
  const played *of;
  int level_count;
  lane *lane;
  uint32_t *rank_lane[CALLS_MOST];
  uint32_t lanes_left;
  port *port;      /* [rank][level] */
  sg_mutex_t *own; /* of each rank */
  sg_host_t *host;
  void *streams;
  double end_us;
} all;

static void *need(size_t count, size_t size) {
  void *memory = calloc(count, size);
  if (!memory)
    abort();
  return memory;
}

/* ---- streams ---- */

static int compare_streams(const void *x, const void *y) {
  const stream *a = x, *b = y;
  if (a->call != b->call)
    return a->call < b->call ? -1 : 1;
  if (a->id != b->id)
    return a->id < b->id ? -1 : 1;
  if (a->source != b->source)
    return a->source < b->source ? -1 : 1;
  return a->reader == b->reader ? 0 : a->reader < b->reader ? -1 : 1;
}

static sg_mailbox_t new_mailbox(void) {
  static unsigned count;
  char name[16];
  snprintf(name, sizeof name, "%u", count++);
  return sg_mailbox_by_name(name);
}

static stream *stream_of(const lane *one, int64_t source, int64_t reader) {
  stream key = {.call = one->call, .id = one->of->id, .source = source, .reader = reader};
  void *found = tfind(&key, &all.streams, compare_streams);
  if (found)
    return *(stream **)found;
  stream *made = need(1, sizeof *made);
  *made = key;
  made->arrived = sg_sem_init(0);
  for (size_t n = 0; n < TT_COUNT(made->box) && all.of->eager_bytes > 0; n++)
    made->box[n] = new_mailbox();
  if (!tsearch(made, &all.streams, compare_streams))
    abort();
  return made;
}

/* ---- ports ---- */

static bool goes_before(const message *a, const message *b) {
  if (a->ready != b->ready)
    return a->ready < b->ready;
  return a->round != b->round ? a->round < b->round : a->lane < b->lane;
}

static message *take(port *from) {
  message **best = &from->waiting;
  for (message **at = best; *at; at = &(*at)->next)
    if (goes_before(*at, *best))
      best = at;
  message *taken = *best;
  *best = taken->next;
  taken->next = NULL;
  return taken;
}

static void append(message **list, message *one) {
  while (*list)
    list = &(*list)->next;
  *list = one;
}

static void arrive(message *one) {
  stream *to = one->stream;
  if (to->first)
    to->last->next = one;
  else
    to->first = one;
  to->last = one;
  sg_sem_release(to->arrived);
}

/* argv[1]: its number. It is never done. */
static void port_main(int argc, char **argv) {
  (void)argc;
  int number = atoi(argv[1]), level = number % all.level_count;
  port *own = &all.port[number];
  sg_actor_daemonize(sg_actor_self());
  for (;;) {
    sg_sem_acquire(own->ready);
    sg_actor_sleep_for(1e-6); /* a picosecond: all that happens now has happened */
    message *one = take(own);
    port *reader = &all.port[one->stream->reader * all.level_count + level];
    sg_sem_acquire(reader->in);
    sg_host_sendto(all.host[one->stream->source], all.host[one->stream->reader], (double)one->bytes);
    sg_sem_release(reader->in);
    arrive(one);
  }
}

/* ---- messages as SMPI has them ---- */

static bool is_short(const message *one) { return one->bytes < all.of->eager_bytes; }

/* What is put into a mailbox with a receiver sets off at once. */
static void open_mailboxes(lane *one) {
  for (uint32_t n = 0; n < one->of->step_count; n++) {
    const tt_step *step = &one->plan->step[one->of->first_step + n];
    if (step->kind == TT_STEP_RECV || step->kind == TT_STEP_RECV_REDUCE)
      sg_mailbox_set_receiver(sg_mailbox_get_name(stream_of(one, step->peer, one->plan->rank)->box[0]));
  }
}

static void wait_over(sg_comm_t *way) {
  if (*way)
    sg_comm_wait(*way);
  *way = NULL;
}

static unsigned most_under_way(int64_t bytes) {
  int64_t most = UNDER_WAY_BYTES / (bytes > 0 ? bytes : 1);
  return most < 2 ? 2 : most > UNDER_WAY_MESSAGES ? UNDER_WAY_MESSAGES : (unsigned)most;
}

/* Behind the last of those that may be under way at once. */
static void post_short(stream *to, message *one) {
  unsigned count = to->short_count++;
  sg_comm_t *way = &to->under_way[count % UNDER_WAY_MESSAGES];
  wait_over(way);
  wait_over(&to->under_way[(count + UNDER_WAY_MESSAGES - most_under_way(one->bytes)) % UNDER_WAY_MESSAGES]);
  *way = sg_mailbox_put_async(to->box[0], one, one->bytes);
}

static void post(lane *from, message *one) {
  wait_over(&from->long_one);
  if (is_short(one))
    post_short(one->stream, one);
  else
    from->long_one = sg_mailbox_put_async(one->stream->box[1], one, one->bytes);
  arrive(one);
}

/* What an actor has under way when it ends is lost. */
static void wait_for_all(lane *one) {
  wait_over(&one->long_one);
  for (uint32_t n = 0; n < one->of->step_count; n++) {
    const tt_step *step = &one->plan->step[one->of->first_step + n];
    if (step->kind == TT_STEP_SEND)
      for (int k = 0; k < UNDER_WAY_MESSAGES; k++)
        wait_over(&stream_of(one, one->plan->rank, step->peer)->under_way[k]);
  }
}

static void fetch(const message *one) {
  if (all.of->eager_bytes > 0)
    sg_mailbox_get(one->stream->box[is_short(one) ? 0 : 1]);
}

/* ---- lanes ---- */

static const tt_step *current(const lane *one) { return &one->plan->step[one->of->first_step + one->step]; }

static int64_t slice_bytes(void) { return all.of->slice_bytes > 0 ? all.of->slice_bytes : all.of->block_bytes; }

static int64_t slice_count(void) { return (all.of->block_bytes + slice_bytes() - 1) / slice_bytes(); }

static int64_t piece_bytes(const lane *one) {
  bool last = one->slice + 1 == slice_count();
  return last ? all.of->block_bytes - one->slice * slice_bytes() : slice_bytes();
}

static bool is_past(const lane *one, uint32_t step, int64_t slice) {
  return one->step > step || (one->step == step && slice >= 0 && one->slice > slice);
}

static void wait_for(lane *one, const tt_wait *wait) {
  lane *other = &all.lane[all.rank_lane[one->call][one->plan->rank] + wait->lane];
  while (!is_past(other, wait->step, wait->whole ? -1 : one->slice)) {
    one->next_waiter = other->waiters;
    other->waiters = one;
    sg_sem_acquire(one->wake);
  }
}

static void wake_waiters(lane *one) {
  lane *waiter = one->waiters;
  one->waiters = NULL;
  while (waiter) {
    lane *next = waiter->next_waiter;
    sg_sem_release(waiter->wake);
    waiter = next;
  }
}

static bool ends_message(const lane *one, const tt_step *step) {
  bool last = step->flags & TT_STEP_LAST || one->step + 1 == one->of->step_count || step[1].peer != step->peer;
  return last && one->slice + 1 == slice_count();
}

static void depart(lane *one) {
  message *full = one->open;
  int64_t rank = one->plan->rank;
  one->open = NULL;
  full->ready = simgrid_get_clock();
  if (all.of->eager_bytes > 0) {
    post(one, full);
    return;
  }
  port *to = &all.port[rank * all.level_count + tt_sim_model_level(all.of->model, rank, full->stream->reader)];
  append(&to->waiting, full);
  sg_sem_release(to->ready);
}

static void send_piece(lane *one, const tt_step *step) {
  int64_t bytes = piece_bytes(one);
  if (one->open && all.of->slice_bytes > 0 && bytes > slice_bytes() - one->open->bytes)
    depart(one);
  if (!one->open) {
    one->open = need(1, sizeof *one->open);
    *one->open =
        (message){.stream = stream_of(one, one->plan->rank, step->peer), .round = step->time, .lane = one->number};
  }
  one->open->bytes += bytes;
  one->open->pieces++;
  if (ends_message(one, step) || (all.of->slice_bytes > 0 && one->open->bytes == slice_bytes()))
    depart(one);
}

static void receive_piece(const lane *one, const tt_step *step) {
  stream *from = stream_of(one, step->peer, one->plan->rank);
  if (from->left == 0) {
    sg_sem_acquire(from->arrived);
    message *taken = from->first;
    fetch(taken);
    from->first = taken->next;
    from->left = taken->pieces;
    free(taken);
  }
  from->left--;
}

static void work(const lane *one, const tt_step *step) {
  bool combines = step->kind == TT_STEP_RECV_REDUCE || step->flags & TT_STEP_ONTO;
  double rate_ns = combines ? all.of->model->gamma_ns : step->kind == TT_STEP_COPY ? all.of->model->copy_ns : 0;
  if (rate_ns <= 0)
    return;
  sg_mutex_lock(all.own[one->plan->rank]);
  sg_actor_sleep_for(rate_ns * (double)piece_bytes(one) * tt_sim_work_factor(all.of->model, one->plan->rank) / 1000);
  sg_mutex_unlock(all.own[one->plan->rank]);
}

static void do_slice(lane *one, const tt_step *step) {
  for (uint32_t n = 0; n < step->wait_count; n++)
    wait_for(one, &one->plan->wait[step->wait_first + n]);
  if (step->kind == TT_STEP_SEND)
    send_piece(one, step);
  else if (step->kind == TT_STEP_RECV || step->kind == TT_STEP_RECV_REDUCE)
    receive_piece(one, step);
  if (step->kind != TT_STEP_SEND)
    work(one, step);
}

static void lane_main(int argc, char **argv) {
  (void)argc;
  lane *one = &all.lane[atoi(argv[1])];
  double late_ns = tt_sim_late_ns(all.of->model, one->plan->rank);
  if (all.of->eager_bytes > 0)
    open_mailboxes(one);
  sg_actor_sleep_for(late_ns > 0 ? late_ns / 1000 : 1e-6); /* until all have */
  while (one->step < one->of->step_count) {
    do_slice(one, current(one));
    if (++one->slice == slice_count()) {
      one->slice = 0;
      one->step++;
    }
    wake_waiters(one);
  }
  assert(!one->open);
  if (all.of->eager_bytes > 0)
    wait_for_all(one);
  all.lanes_left--;
  all.end_us = simgrid_get_clock();
}

/* ---- all ---- */

static void start(const char *kind, uint32_t number, int64_t rank, xbt_main_func_t code) {
  char text[16];
  snprintf(text, sizeof text, "%u", number);
  const char *argv[] = {kind, text};
  sg_actor_create_(kind, all.host[rank], code, 2, argv);
}

static void add_lanes(int call, int64_t rank) {
  const tt_plan *plan = all.of->all[call]->plan[rank];
  all.rank_lane[call][rank] = all.lanes_left;
  for (uint32_t n = 0; n < plan->lane_count; n++, all.lanes_left++)
    all.lane[all.lanes_left] =
        (lane){.call = call, .plan = plan, .of = &plan->lane[n], .number = all.lanes_left, .wake = sg_sem_init(0)};
}

static void add_rank(int64_t rank) {
  char name[16];
  snprintf(name, sizeof name, "n%d", (int)platform_host(all.of->model->topo, rank));
  all.host[rank] = sg_host_by_name(name);
  all.own[rank] = sg_mutex_init();
  for (int n = 0; n < all.level_count; n++) {
    uint32_t number = (uint32_t)(rank * all.level_count + n);
    int64_t ports = all.of->model->level[n].ports;
    all.port[number] = (port){.ready = sg_sem_init(0), .in = sg_sem_init((int)ports)};
    for (int64_t k = 0; k < ports && all.of->eager_bytes == 0; k++)
      start("port", number, rank, port_main);
  }
}

static void add_ranks(void) {
  size_t count = (size_t)all.of->model->topo->rank_count, lane_count = 0;
  int calls = all.of->call_count;
  for (size_t n = 0; n < count * (size_t)calls; n++)
    lane_count += all.of->all[n / count]->plan[n % count]->lane_count;
  all.lane = need(lane_count, sizeof *all.lane);
  all.port = need(count * (size_t)all.level_count, sizeof *all.port);
  all.own = need(count, sizeof(sg_mutex_t));
  all.host = need(count, sizeof(sg_host_t));
  for (size_t r = 0; r < count; r++)
    add_rank((int64_t)r);
  for (int c = 0; c < calls; c++) {
    all.rank_lane[c] = need(count, sizeof *all.rank_lane[c]);
    for (size_t r = 0; r < count; r++)
      add_lanes(c, (int64_t)r);
  }
  for (uint32_t n = 0; n < all.lanes_left; n++)
    start("lane", n, all.lane[n].plan->rank, lane_main);
}

double play(const played *of, const char *platform) {
  /* CM02 is rates and latencies as they stand, shared max-min; the rest takes TCP's corrections out of it. */
  char *argv[] = {(char *)"compare",
                  (char *)"--cfg=network/model:CM02",
                  (char *)"--cfg=network/bandwidth-factor:1",
                  (char *)"--cfg=network/latency-factor:1",
                  (char *)"--cfg=network/weight-S:0",
                  (char *)"--cfg=network/TCP-gamma:0",
                  (char *)"--cfg=network/crosstraffic:0",
                  (char *)"--cfg=network/loopback-lat:0",
                  (char *)"--cfg=contexts/stack-size:64",
                  (char *)"--log=root.thres:critical",
                  NULL};
  int argc = TT_COUNT(argv) - 1;
  all.of = of;
  all.level_count = of->model->topo->level_count;
  simgrid_init(&argc, argv);
  simgrid_load_platform(platform);
  add_ranks();
  simgrid_run();
  return all.lanes_left == 0 ? all.end_us * 1000 : -1;
}
