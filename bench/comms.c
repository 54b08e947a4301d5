/* bench/comms.c - what communicators cost: time of a split, beside a barrier and an allgather of as much, and of the
 * split, the first call and the end of one that is used once; bytes of one, when it is made and after its first calls;
 * time and bytes of many that are alive at once, used once and destroyed in any order.
 *
 *     tutti run -n 8 build/bin/bench_comms [COUNT]    medians of COUNT splits, default 10000; ranks of one machine
 *
 * Of fewer than 10,000 at once the seconds are those of 10,000. */
#include "api/api.h"
#include "transport/shm/self.h"
#include "transport/transport.h"

#include "stats.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>

enum { ALIVE = 100, MANY = 10000, LARGE = 100000, COUNT_MOST = 1000000, WORDS = 4 };

static tutti_comm *comm;
static int64_t *gathered;

static void must(tutti_status status) {
  if (status == TUTTI_OK)
    return;
  fprintf(stderr, "%s\n", tutti_last_error());
  exit(1);
}

static void *get_memory(size_t bytes) {
  void *memory = malloc(bytes);
  if (memory)
    return memory;
  fprintf(stderr, "bench_comms: no memory for %zu bytes\n", bytes);
  exit(1);
}

/* ---- time ---- */

static void split(void) {
  tutti_comm *part;
  must(tutti_comm_split(comm, 0, 0, &part));
  tutti_comm_destroy(part);
}

static void allgather(void) {
  static int64_t in[WORDS];
  must(tutti_allgather(in, gathered, WORDS, TUTTI_INT64, comm));
}

static void barrier(void) { must(tutti_barrier(comm)); }

static void use(tutti_comm *part) {
  double in = 1, out;
  must(tutti_allreduce(&in, &out, 1, TUTTI_FLOAT64, TUTTI_SUM, part));
}

static void split_and_use(void) {
  tutti_comm *part;
  must(tutti_comm_split(comm, 0, 0, &part));
  use(part);
  tutti_comm_destroy(part);
}

static void measure(const char *name, void (*call)(void), int count) {
  double *took_us = get_memory((size_t)count * sizeof *took_us), all_us = 0;
  for (int n = 0; n < count; n++) {
    int64_t began = tt_clock_ns();
    call();
    took_us[n] = (double)(tt_clock_ns() - began) * 1e-3;
    all_us += took_us[n];
  }
  double median_us = bench_median(took_us, count);
  if (tutti_comm_rank(comm) == 0)
    printf("%-22s %10.2f %10.2f\n", name, median_us, all_us / count);
  free(took_us);
}

/* ---- memory ---- */

typedef struct bytes {
  uint64_t own, shared; /* of this rank; of all ranks */
} bytes;

static bytes now(const tutti_context *context) {
  must(tutti_barrier(comm));
  return (bytes){mallinfo2().uordblks, ((const tt_shm *)context->transport)->segment->head->bump};
}

/* Since `before`, which becomes now. */
static void report(const char *what, const tutti_context *context, bytes *before) {
  bytes after = now(context);
  int64_t ranks = tutti_comm_size(comm);
  if (tutti_comm_rank(comm) == 0)
    printf("%-22s %10.0f %10.0f\n", what, (double)(after.own - before->own) / (double)ALIVE,
           (double)(after.shared - before->shared) / (double)(ALIVE * ranks));
  *before = after;
}

static void measure_memory(const tutti_context *context) {
  static tutti_comm *part[ALIVE + 1];
  static double in[LARGE], out[LARGE];
  must(tutti_comm_split(comm, 0, 0, &part[ALIVE])); /* what comes with the first one only */
  bytes before = now(context);
  for (int n = 0; n < ALIVE; n++)
    must(tutti_comm_split(comm, 0, 0, &part[n]));
  report("a split", context, &before);
  for (int n = 0; n < ALIVE; n++)
    must(tutti_allreduce(in, out, 1, TUTTI_FLOAT64, TUTTI_SUM, part[n]));
  report("then 8 B", context, &before);
  for (int n = 0; n < ALIVE; n++)
    must(tutti_allreduce(in, out, LARGE, TUTTI_FLOAT64, TUTTI_SUM, part[n]));
  report("then 800 KB", context, &before);
  for (int n = 0; n <= ALIVE; n++)
    tutti_comm_destroy(part[n]);
}

static void print_seconds(const char *what, int count, int64_t began_ns) {
  must(tutti_barrier(comm));
  if (tutti_comm_rank(comm) == 0)
    printf("%-22s %10.3f\n", what, (double)(tt_clock_ns() - began_ns) * 1e-9 / count * (double)MANY);
}

/* All are alive at once. Each rank destroys them in another order. */
static void measure_many(const tutti_context *context, int count) {
  tutti_comm **part = get_memory((size_t)count * sizeof(tutti_comm *));
  tt_random random;
  bytes before = now(context);
  int64_t began = tt_clock_ns();
  for (int n = 0; n < count; n++)
    must(tutti_comm_split(comm, 0, 0, &part[n]));
  print_seconds("made", count, began);
  began = tt_clock_ns();
  for (int n = 0; n < count; n++)
    use(part[n]);
  print_seconds("used once", count, began);
  bytes after = now(context);
  tt_random_init(&random, (uint64_t)tutti_comm_rank(comm));
  tt_random_shuffle(&random, part, count, sizeof *part);
  began = tt_clock_ns();
  for (int n = 0; n < count; n++)
    tutti_comm_destroy(part[n]);
  print_seconds("destroyed in any order", count, began);
  if (tutti_comm_rank(comm) == 0)
    printf("%-22s %10.0f %10.0f\n", "a rank's bytes", (double)(after.own - before.own) / count,
           (double)(after.shared - before.shared) / (double)(count * tutti_comm_size(comm)));
  free(part);
}

static int read_count(const char *text) {
  char *rest;
  long count = strtol(text, &rest, 10);
  if (rest != text && !*rest && count >= 1 && count <= COUNT_MOST)
    return (int)count;
  fprintf(stderr, "bench_comms: COUNT '%s': 1 to %d\n", text, COUNT_MOST);
  exit(2);
}

int main(int count, char **arguments) {
  int calls = count > 1 ? read_count(arguments[1]) : MANY;
  tutti_context *context;
  must(tutti_context_create(NULL, &context));
  if (context->ops != tt_shm_ops()) {
    fprintf(stderr, "bench_comms: all ranks must be on one machine, because the program counts its shared memory\n");
    return 1;
  }
  must(tutti_comm_create(context, &comm));
  gathered = get_memory((size_t)tutti_comm_size(comm) * WORDS * sizeof *gathered);
  if (tutti_comm_rank(comm) == 0)
    printf("%d ranks %24s %10s\n", (int)tutti_comm_size(comm), "median us", "mean us");
  measure("split and destroy", split, calls);
  measure("split, 8 B, destroy", split_and_use, calls);
  measure("allgather of 32 B", allgather, calls);
  measure("barrier", barrier, calls);
  if (tutti_comm_rank(comm) == 0)
    printf("a rank's bytes %17s %10s\n", "own", "shared");
  measure_memory(context);
  if (tutti_comm_rank(comm) == 0)
    printf("%d at once %22s\n", MANY, "seconds");
  measure_many(context, calls < MANY ? calls : MANY);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
  free(gathered);
  return 0;
}
