/* tools/plan/measure.c - alpha, beta and gamma of this machine: two ranks over shared memory, a fraction of a second.
 *
 * Both ranks send each other 8 bytes, then 4 MiB (an allgather of two): a line through both times has alpha and beta.
 * Then they exchange and combine 4 MiB (an allreduce of two); what that takes longer is gamma. Of many batches the
 * fastest counts: it is the one that the rest of the machine disturbed least. */
#include "measure.h"

#include <tutti/tutti.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define SMALL 8
#define LARGE (4 << 20)
#define BATCHES 20
#define LIMIT_S 30
#define BOOT_BYTES 4096

enum { EXCHANGE_SMALL, EXCHANGE_LARGE, COMBINE_LARGE, POINTS };

static const struct {
  const char *collective;
  int64_t bytes, calls;
} points[POINTS] = {{"allgather", SMALL, 1000}, {"allgather", LARGE, 4}, {"allreduce", LARGE, 4}};

/* Memory of both ranks and of the process that asks. */
typedef struct shared {
  pthread_barrier_t barrier;
  char boot[2][BOOT_BYTES];
  double time_ns[POINTS]; /* of a call */
  char error[2][256];
} shared;

typedef struct rank {
  shared *all;
  int64_t number;
} rank;

static tutti_status boot_allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns,
                                   char *missing, size_t missing_size) {
  const rank *self = user;
  (void)timeout_ns, (void)missing, (void)missing_size; /* the process has an alarm */
  if (bytes > BOOT_BYTES)
    return TUTTI_ERR_ARGUMENT;
  memcpy(self->all->boot[self->number], mine, bytes);
  pthread_barrier_wait(&self->all->barrier);
  for (size_t r = 0; r < 2; r++)
    memcpy((char *)all + r * bytes, self->all->boot[r], bytes);
  pthread_barrier_wait(&self->all->barrier);
  return TUTTI_OK;
}

/* ---- one rank ---- */

static tutti_status call(int point, float *data, int64_t number, tutti_comm *comm) {
  int64_t count = points[point].bytes / (int64_t)sizeof *data;
  if (point == COMBINE_LARGE)
    return tutti_allreduce(data, data + count, count, TUTTI_FLOAT32, TUTTI_SUM, comm);
  return tutti_allgather(data + number * count, data, count, TUTTI_FLOAT32, comm);
}

static tutti_status time_point(int point, float *data, const rank *self, tutti_comm *comm) {
  tutti_status status = tutti_comm_set_params(comm, points[point].collective, "[core:star]");
  for (int batch = 0; batch < BATCHES && status == TUTTI_OK; batch++) {
    status = tutti_barrier(comm);
    int64_t begin_ns = tt_clock_ns();
    for (int64_t n = 0; n < points[point].calls && status == TUTTI_OK; n++)
      status = call(point, data, self->number, comm);
    double time_ns = (double)(tt_clock_ns() - begin_ns) / (double)points[point].calls;
    if (self->number == 0 && (batch == 0 || time_ns < self->all->time_ns[point]))
      self->all->time_ns[point] = time_ns;
  }
  return status;
}

static tutti_status time_points(const rank *self, tutti_context *context) {
  tutti_comm *comm = NULL;
  float *data = malloc(2 * LARGE);
  tutti_status status = data ? tutti_comm_create(context, &comm) : TUTTI_ERR_MEMORY;
  if (data)
    memset(data, 1, 2 * LARGE); /* what was never written is one page of zeros to all readers */
  for (int point = 0; point < POINTS && status == TUTTI_OK; point++)
    status = time_point(point, data, self, comm);
  tutti_comm_destroy(comm);
  free(data);
  return status;
}

static void run_rank(shared *all, int64_t number) {
  rank self = {all, number};
  tutti_boot boot = {sizeof boot, number, 2, &self, boot_allgather};
  tutti_context_options options;
  tutti_context *context = NULL;
  alarm(LIMIT_S);
  tutti_context_options_init(&options);
  options.boot = &boot;
  tutti_status status = tutti_context_create(&options, &context);
  if (status == TUTTI_OK)
    status = time_points(&self, context);
  if (status != TUTTI_OK)
    snprintf(all->error[number], sizeof all->error[number], "%s", tutti_last_error());
  tutti_context_destroy(context);
  _exit(status == TUTTI_OK ? 0 : 1);
}

/* ---- both ---- */

static shared *open_shared(void) {
  shared *all = mmap(NULL, sizeof *all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED)
    return NULL;
  pthread_barrierattr_t attributes;
  pthread_barrierattr_init(&attributes);
  pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
  pthread_barrier_init(&all->barrier, &attributes, 2);
  return all;
}

static bool run_both(shared *all) {
  pid_t pid[2];
  bool good = true;
  fflush(NULL); /* or both would print it again */
  for (int64_t n = 0; n < 2; n++)
    if ((pid[n] = fork()) == 0)
      run_rank(all, n);
  for (int n = 0; n < 2; n++) {
    int ended = 0;
    good = pid[n] > 0 && waitpid(pid[n], &ended, 0) == pid[n] && WIFEXITED(ended) && WEXITSTATUS(ended) == 0 && good;
  }
  return good;
}

static void write_model(const double time_ns[static POINTS], char text[static PLAN_MODEL]) {
  double beta = (time_ns[EXCHANGE_LARGE] - time_ns[EXCHANGE_SMALL]) / (LARGE - SMALL);
  double alpha = time_ns[EXCHANGE_SMALL] - SMALL * beta;
  double gamma = (time_ns[COMBINE_LARGE] - time_ns[EXCHANGE_LARGE]) / LARGE;
  snprintf(text, PLAN_MODEL, "core:alpha=%.0fns,beta=%.4f;gamma=%.4f", alpha > 0 ? alpha : 0, beta > 0 ? beta : 0,
           gamma > 0 ? gamma : 0);
}

tutti_status plan_measure(char text[static PLAN_MODEL]) {
  shared *all = open_shared();
  if (!all)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the measurement");
  tutti_status status = TUTTI_OK;
  if (run_both(all))
    write_model(all->time_ns, text);
  else
    status = tt_fail(TUTTI_ERR_SYSTEM, "the ranks that measure failed: %s%s", all->error[0],
                     all->error[1][0] || all->error[0][0] ? all->error[1] : "a signal ended them");
  munmap(all, sizeof *all);
  return status;
}
