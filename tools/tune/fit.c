/* tools/tune/fit.c - rounds over all probes, so that what disturbs the machine for a while disturbs each of them a
 * little. Then what messages do not tell: copies, calls of no bytes, shared cores. */
#include "fit.h"
#include "probe.h"

#include "bench/stats.h"
#include "call/call.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BATCH_NS 2000000
#define MEMORY (64 << 20)
#define MEMORY_OF_MANY (16 << 20) /* where a machine has many ranks */
#define MANY_RANKS 8
#define CALLS 500
#define SHORT 64

typedef struct fitting {
  tutti_comm *comm, *words;
  tune_fit *out;
  tune_trip *trip;
  int64_t *calls;                     /* of a batch, of each probe */
  int64_t peer[2 * TT_PROBES_MOST];   /* of rank 0 in each probe */
  tt_probe_time (*round)[FIT_ROUNDS]; /* of each probe; sums over the two ends until all have told theirs */
  unsigned char *memory;
  int64_t memory_bytes;
  bool says;
} fitting;

/* ---- who with whom ---- */

static int64_t machine_of(const tutti_comm *comm, int64_t rank) {
  return comm->team->machine ? comm->team->machine[rank] : 0;
}

/* The first rank on rank 0's machine, or on another one; -1: there is none. */
static int64_t find_peer(const tutti_comm *comm, bool far) {
  for (int64_t r = 1; r < comm->size; r++)
    if ((machine_of(comm, r) != machine_of(comm, 0)) == far)
      return r;
  return -1;
}

static int64_t read_bytes(const tutti_comm *comm) {
  size_t least = comm->ops->refer_least ? comm->ops->refer_least(comm->transport) : SIZE_MAX;
  return least < INT64_MAX / 2 ? (int64_t)least : 0;
}

static void list_probes(fitting *of) {
  of->out->read_bytes = read_bytes(of->comm);
  const tutti_comm *comm = of->comm;
  int64_t together = of->out->fit.shape.ranks_per_node, slot = (int64_t)tt_comm_slot_bytes(together, comm->apart);
  int64_t cell = comm->apart ? 0 : tt_options_get()->direct_bytes / comm->size / 2;
  int64_t past = tt_options_get()->bytes.nontemporal;
  for (int far = 0; far < 2; far++) {
    int64_t peer = find_peer(comm, far);
    if (peer < 0)
      continue;
    int before = of->out->probe_count;
    of->out->probe_count +=
        tt_fit_probes(slot, cell, read_bytes(comm), of->memory_bytes, past, far, of->out->probe + before);
    for (int n = before; n < of->out->probe_count; n++)
      of->peer[n] = peer;
  }
}

/* ---- messages ---- */

static bool takes_part(const fitting *of, int n) { return of->comm->rank == 0 || of->comm->rank == of->peer[n]; }

static tutti_status run_probe(fitting *of, int n, int round) {
  tt_probe_time sum = {.way_ns = 0};
  tutti_status status = tutti_barrier(of->words);
  if (status == TUTTI_OK && takes_part(of, n))
    status = tune_trip_run(&of->trip[n], of->calls[n], &sum);
  of->round[n][round] = sum;
  return status;
}

/* Once through the memory of each, and how often the next batches go. */
static tutti_status calibrate(fitting *of) {
  int count = of->out->probe_count;
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < count && status == TUTTI_OK; n++) {
    of->calls[n] = of->trip[n].turns + 2;
    status = run_probe(of, n, 0);
  }
  for (int n = 0; n < count && status == TUTTI_OK; n++) {
    int64_t turns = of->trip[n].turns, batch = (int64_t)(BATCH_NS / 2 / fmax(of->round[n][0].way_ns, 1)) + 1;
    of->calls[n] = batch > turns ? batch : turns;
  }
  return status == TUTTI_OK ? tutti_broadcast(of->calls, of->calls, count, TUTTI_INT64, 0, of->words) : status;
}

static void say(const fitting *of, int round) {
  if (of->says && isatty(STDERR_FILENO))
    fprintf(stderr, round < FIT_ROUNDS ? "\r\033[Kfit: round %d of %d\r" : "\r\033[K", round + 1, FIT_ROUNDS);
}

static tutti_status run_rounds(fitting *of) {
  tutti_status status = calibrate(of);
  for (int round = 0; round < FIT_ROUNDS && status == TUTTI_OK; round++) {
    say(of, round);
    for (int n = 0; n < of->out->probe_count && status == TUTTI_OK; n++)
      status = run_probe(of, n, round);
  }
  say(of, FIT_ROUNDS);
  return status;
}

static tutti_status share(fitting *of) {
  int64_t numbers = of->out->probe_count * FIT_ROUNDS * (int64_t)(sizeof(tt_probe_time) / sizeof(double));
  return tutti_allreduce(of->round, of->round, numbers, TUTTI_FLOAT64, TUTTI_SUM, of->words);
}

/* The lower quartile: what disturbs the machine never makes it faster. */
static double middle_of(const tt_probe_time *round, size_t at, double *spread) {
  double value[FIT_ROUNDS];
  for (int n = 0; n < FIT_ROUNDS; n++)
    value[n] = *(const double *)(const void *)((const char *)&round[n] + at) / 2; /* of the two ends */
  qsort(value, FIT_ROUNDS, sizeof *value, bench_by_value);
  double low = value[FIT_ROUNDS / 4];
  *spread = low > 0 ? (value[FIT_ROUNDS / 2] - value[0]) / low / 2 : 0;
  return low;
}

static void summarize(fitting *of) {
  for (int n = 0; n < of->out->probe_count; n++) {
    double ignored;
    tt_probe_time *time = &of->out->time[n];
    time->send_ns = middle_of(of->round[n], offsetof(tt_probe_time, send_ns), &ignored);
    time->take_ns = middle_of(of->round[n], offsetof(tt_probe_time, take_ns), &ignored);
    time->way_ns = middle_of(of->round[n], offsetof(tt_probe_time, way_ns), &time->spread);
  }
}

static tutti_status measure_trips(fitting *of) {
  int count = of->out->probe_count, opened = 0;
  tutti_status status = TUTTI_OK;
  for (; opened < count && status == TUTTI_OK; opened++)
    status = tune_trip_open(of->comm, &of->out->probe[opened], 0, of->peer[opened], of->memory, &of->trip[opened]);
  if (status == TUTTI_OK)
    status = run_rounds(of);
  if (status == TUTTI_OK)
    status = share(of);
  if (status == TUTTI_OK)
    summarize(of);
  for (int n = 0; n < opened; n++)
    tune_trip_close(&of->trip[n]);
  return status;
}

/* ---- what they do not tell ---- */

/* Of a request that carries nothing. */
static tutti_status measure_request(fitting *of) {
  double time_ns[FIT_ROUNDS];
  tt_probe nothing = {.medium = TT_MEDIUM_SLOT, .combines = true, .pieces = 1};
  tune_message message;
  tutti_status status = tune_message_open(of->comm, &nothing, 0, 1, of->memory, &message);
  for (int round = 0; round < FIT_ROUNDS && status == TUTTI_OK; round++) {
    int64_t begin_ns = tt_clock_ns();
    for (int n = 0; n < CALLS && status == TUTTI_OK; n++)
      status = tune_message_run(&message, of->memory, of->memory);
    time_ns[round] = (double)(tt_clock_ns() - begin_ns) / CALLS;
    if (status == TUTTI_OK)
      status = tutti_barrier(of->words);
  }
  tune_message_close(&message);
  if (status == TUTTI_OK)
    of->out->facts.request_ns = bench_median(time_ns, FIT_ROUNDS);
  return status;
}

static tutti_status measure_call(fitting *of) {
  double time_ns[FIT_ROUNDS];
  tutti_status status = tutti_barrier(of->words);
  for (int round = 0; round < FIT_ROUNDS && status == TUTTI_OK; round++) {
    int64_t begin_ns = tt_clock_ns();
    for (int n = 0; n < CALLS && status == TUTTI_OK; n++)
      status = tutti_broadcast(of->memory, of->memory, 0, TUTTI_FLOAT32, 0, of->comm);
    time_ns[round] = (double)(tt_clock_ns() - begin_ns) / CALLS;
    if (status == TUTTI_OK)
      status = tutti_barrier(of->words);
  }
  if (status == TUTTI_OK)
    of->out->facts.call_ns = bench_median(time_ns, FIT_ROUNDS);
  return status;
}

/* From rank to rank, all around: each is on a core that another one has just used. */
static tutti_status measure_hop(fitting *of) {
  const tutti_comm *comm = of->comm;
  tt_probe probe = {.medium = TT_MEDIUM_SLOT, .combines = true, .piece_bytes = SHORT, .pieces = 1};
  tune_message *message = calloc((size_t)comm->size, sizeof *message);
  double time_ns[FIT_ROUNDS];
  tutti_status status = message ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for messages");
  for (int64_t r = 0; r < comm->size && status == TUTTI_OK; r++)
    status = tune_message_open(of->comm, &probe, r, (r + 1) % comm->size, of->memory, &message[r]);
  tune_message *next = message ? &message[comm->rank] : NULL;
  tune_message *last = message ? &message[(comm->rank + comm->size - 1) % comm->size] : NULL;
  for (int round = 0; round < FIT_ROUNDS && status == TUTTI_OK; round++) {
    status = tutti_barrier(of->words);
    int64_t begin_ns = tt_clock_ns();
    for (int n = 0; n < CALLS && status == TUTTI_OK; n++) {
      status = tune_message_run(comm->rank == 0 ? next : last, of->memory, of->memory + SHORT);
      if (status == TUTTI_OK)
        status = tune_message_run(comm->rank == 0 ? last : next, of->memory, of->memory + SHORT);
    }
    time_ns[round] = (double)(tt_clock_ns() - begin_ns) / CALLS / (double)comm->size;
  }
  for (int64_t r = 0; message && r < comm->size; r++)
    if (message[r].composition)
      tune_message_close(&message[r]);
  free(message);
  if (status == TUTTI_OK)
    of->out->facts.hop_ns = bench_median(time_ns, FIT_ROUNDS);
  return status;
}

/* Rank 0 alone; then as many as there are cores. */
static tutti_status measure_kernels(fitting *of) {
  tt_fit_facts *facts = &of->out->facts;
  int64_t together = of->out->fit.shape.ranks_per_node;
  facts->copiers = facts->cores > 0 ? facts->cores : together;
  tutti_status status = tutti_barrier(of->words);
  if (of->comm->rank == 0) {
    tune_kernels_copy(of->memory, of->memory_bytes, facts->alone_ns);
    tune_kernels_own(of->memory, facts->alone_ns, facts->own);
    tune_kernels_gamma(of->memory, of->out->gamma);
  }
  if (status == TUTTI_OK)
    status = tutti_barrier(of->words);
  if (machine_of(of->comm, of->comm->rank) == machine_of(of->comm, 0) && of->comm->rank < facts->copiers)
    tune_kernels_copy(of->memory, of->memory_bytes, facts->all_ns);
  return status == TUTTI_OK ? tutti_barrier(of->words) : status;
}

/* ---- all of it ---- */

static tutti_status open_memory(fitting *of) {
  int64_t most = of->out->fit.shape.ranks_per_node > MANY_RANKS ? MEMORY_OF_MANY : MEMORY;
  void *memory = NULL;
  of->memory_bytes = most;
  of->trip = calloc(2 * TT_PROBES_MOST, sizeof *of->trip);
  of->calls = calloc(2 * TT_PROBES_MOST, sizeof *of->calls);
  of->round = calloc(2 * TT_PROBES_MOST, sizeof *of->round);
  if (!of->trip || !of->calls || !of->round || posix_memalign(&memory, 4096, (size_t)most) != 0)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for buffers of %" PRId64 " bytes", most);
  of->memory = memset(memory, 0, (size_t)most);
  return TUTTI_OK;
}

static tutti_status measure(fitting *of) {
  tutti_status status = measure_trips(of);
  if (status == TUTTI_OK)
    status = measure_request(of);
  if (status == TUTTI_OK)
    status = measure_call(of);
  if (status == TUTTI_OK && of->out->facts.cores > 0 && !of->comm->apart)
    status = measure_hop(of);
  if (status == TUTTI_OK)
    status = measure_kernels(of);
  return status == TUTTI_OK
             ? tutti_broadcast(&of->out->facts, &of->out->facts, sizeof of->out->facts, TUTTI_BYTE, 0, of->words)
             : status;
}

tutti_status tune_fit_measure(tutti_comm *comm, tutti_comm *words, bool says, tune_fit *out) {
  fitting of = {.comm = comm, .words = words, .out = out, .says = says};
  int64_t cores = sysconf(_SC_NPROCESSORS_ONLN);
  *out = (tune_fit){.probe_count = 0};
  tutti_status status = tt_comm_place(comm);
  out->fit.shape = tt_comm_region(comm, 0, 0);
  out->facts.cores = out->fit.shape.ranks_per_node > cores ? cores : 0;
  if (status == TUTTI_OK)
    status = open_memory(&of);
  if (status == TUTTI_OK && comm->size > 1) {
    list_probes(&of);
    status = measure(&of);
  }
  if (status == TUTTI_OK)
    tt_fit_rates(out->probe, out->time, out->probe_count, &out->facts, &out->fit.rates);
  free(of.trip);
  free(of.calls);
  free(of.round);
  free(of.memory);
  return status;
}

/* ---- for people ---- */

static void print_probe(const tt_probe *probe, const tt_probe_time *time) {
  char piece[16], reuse[16], way[32], send[32], take[32];
  tt_format_bytes(probe->piece_bytes, piece);
  tt_format_bytes(probe->reuse_bytes, reuse);
  tool_format_time(time->way_ns, way);
  tool_format_time(time->send_ns / (double)probe->pieces, send);
  tool_format_time(time->take_ns / (double)probe->pieces, take);
  printf("  %-9s %-7s%-5s %7s x%-3" PRId64 " %7s %11s %4.0f%% %11s %11s\n", tt_medium_name[probe->medium],
         probe->combines ? "combine" : "store",
         probe->is_new ? " new"
         : probe->past ? " past"
                       : "",
         piece, probe->pieces, reuse, way, 100 * time->spread, send, take);
}

void tune_fit_print(const tune_fit *of) {
  const tt_sim_rates *rates = &of->fit.rates;
  printf("  %-9s %-12s %12s %7s %11s %5s %11s %11s\n", "medium", "receiver", "pieces", "reuse", "one way", "+-", "send",
         "take");
  for (int n = 0; n < of->probe_count; n++)
    print_probe(&of->probe[n], &of->time[n]);
  printf("\n  a call %.0f ns; a request %.0f ns; way within a machine %.0f ns", rates->call_ns, of->facts.request_ns,
         rates->within.alpha_ns);
  if (rates->between.beta_ns > 0)
    printf(", between machines %.0f ns and %.3f ns a byte", rates->between.alpha_ns, rates->between.beta_ns);
  if (rates->cores > 0)
    printf("; %" PRId64 " cores, %.0f ns to another rank", rates->cores, rates->switch_ns);
  if (of->read_bytes > 0)
    printf("; blocks are read where they lie from %" PRId64 " bytes on", of->read_bytes);
  printf("\n  copies, ns a byte:");
  for (int k = 0; k < TT_SIM_REUSES; k++)
    printf(" %.3f", of->facts.alone_ns[k]);
  printf("; of %" PRId64 " ranks at once:", of->facts.copiers);
  for (int k = 0; k < TT_SIM_REUSES; k++)
    printf(" %.3f", of->facts.all_ns[k]);
  printf("\n  combined in the cache, ns a byte:");
  for (int n = 0; n < TUNE_GAMMAS; n++)
    printf(" %s %.3f", of->gamma[n].name, of->gamma[n].byte_ns);
  printf("\n");
}
