/* Three collectives that no standard has, each a few lines of primitives, compiled, proven and run:
 *
 *   halves   rank 0's block to the lower half of the ranks, and the sum of the upper half's blocks to the last rank
 *   halo     a grid of ranks, each with a strip for each of its four neighbours (edges wrap around)
 *   servers  the first ranks are servers: each gets the workers' sum of its shard, changes it, and hands it out again
 *
 *     tutti run -n 8 compositions [DIRECTORY]     pictures of the plans go to DIRECTORY */
#include <tutti/composition.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LENGTH 1000 /* elements of a block */

static tutti_comm *comm;
static int64_t rank, size;
static const char *directory;

static void must(tutti_status status) {
  if (status == TUTTI_OK)
    return;
  fprintf(stderr, "rank %d: %s: %s\n", (int)rank, tutti_status_name(status), tutti_last_error());
  exit(1);
}

static void *room(int64_t blocks) {
  void *memory = calloc((size_t)(blocks * LENGTH), sizeof(float));
  if (!memory)
    exit(1);
  return memory;
}

/* What rank r has at index n of block b. */
static float value(int64_t r, int64_t b, int64_t n) { return (float)((r * 31 + b * 7 + n) % 97); }

static void fill(float *buffer, int64_t blocks) {
  for (int64_t n = 0; n < blocks * LENGTH; n++)
    buffer[n] = value(rank, n / LENGTH, n % LENGTH);
}

static void expect(const char *what, int64_t n, float got, float wanted) {
  if (got == wanted)
    return;
  fprintf(stderr, "%s: rank %d, element %d is %g, not %g\n", what, (int)rank, (int)n, (double)got, (double)wanted);
  exit(1);
}

/* Proves the plans; rank 0 writes their picture. */
static void show(tutti_composition *of, const char *name) {
  must(tutti_composition_verify(of, TUTTI_SUM));
  if (rank > 0 || !directory)
    return;
  char path[4096], *picture;
  snprintf(path, sizeof path, "%s/%s.svg", directory, name);
  must(tutti_composition_draw(of, &picture));
  FILE *file = fopen(path, "w");
  if (!file || fputs(picture, file) < 0 || fclose(file) != 0)
    perror(path);
  free(picture);
}

/* Starts it three times: the plan is made once. */
static void run(tutti_composition *of, const void *in, void *out, const tutti_block_table *blocks) {
  tutti_request *request;
  must(tutti_composition_init(of, in, out, blocks, TUTTI_FLOAT32, TUTTI_SUM, &request));
  for (int n = 0; n < 3; n++) {
    must(tutti_request_start(request));
    must(tutti_wait(&request));
  }
  tutti_request_destroy(request);
}

/* ---- halves ---- */

static void halves(void) {
  int64_t half = size / 2, lower[size], upper[size], counts[] = {LENGTH};
  for (int64_t r = 0; r < size; r++) {
    lower[r] = r;
    upper[r] = half + r;
  }
  tutti_composition *of;
  must(tutti_composition_create(comm, 1, &of));
  must(tutti_composition_stage(of, "halves"));
  if (half > 0)
    must(tutti_composition_multicast(of, 0, lower, half, 0, TUTTI_IN, TUTTI_OUT));
  must(tutti_composition_reduce(of, upper, size - half, size - 1, 0, TUTTI_IN, TUTTI_OUT));
  must(tutti_composition_set_params(of, "[core:2-nomial]"));
  show(of, "halves");
  float *in = room(1), *out = room(1);
  fill(in, 1);
  run(of, in, out, &(tutti_block_table){.counts = counts});
  for (int64_t n = 0; n < LENGTH; n++) {
    float sum = 0;
    for (int64_t r = half; r < size; r++)
      sum += value(r, 0, n);
    if (rank < half)
      expect("halves", n, out[n], value(0, 0, n));
    if (rank == size - 1)
      expect("halves", n, out[n], sum);
  }
  tutti_composition_destroy(of);
  free(in);
  free(out);
}

/* ---- halo ---- */

enum { NORTH, SOUTH, WEST, EAST, SIDES };

static int64_t columns(void) {
  int64_t count = 1;
  for (int64_t n = 2; n * n <= size; n++)
    count = size % n == 0 ? n : count;
  return count;
}

static int64_t neighbor(int64_t of, int side) {
  int64_t wide = columns(), high = size / wide, row = of / wide, column = of % wide;
  row += side == SOUTH ? 1 : side == NORTH ? high - 1 : 0;
  column += side == EAST ? 1 : side == WEST ? wide - 1 : 0;
  return row % high * wide + column % wide;
}

/* Block 4r + side: the strip that rank r sends that way. It comes in from the opposite side. */
static void halo(void) {
  static const int opposite[SIDES] = {SOUTH, NORTH, EAST, WEST};
  int64_t blocks = SIDES * size, *counts = calloc((size_t)blocks, sizeof *counts);
  int64_t *in_at = calloc((size_t)blocks, sizeof *in_at), *out_at = calloc((size_t)blocks, sizeof *out_at);
  if (!counts || !in_at || !out_at)
    exit(1);
  tutti_composition *of;
  must(tutti_composition_create(comm, blocks, &of));
  must(tutti_composition_stage(of, "halo"));
  for (int64_t b = 0; b < blocks; b++) {
    int side = (int)(b % SIDES);
    int64_t to = neighbor(b / SIDES, side);
    must(tutti_composition_multicast(of, b / SIDES, &to, 1, b, TUTTI_IN, TUTTI_OUT));
    counts[b] = LENGTH;
    in_at[b] = side * LENGTH;
    out_at[b] = opposite[side] * LENGTH;
  }
  show(of, "halo");
  float *in = room(SIDES), *out = room(SIDES);
  fill(in, SIDES);
  run(of, in, out, &(tutti_block_table){counts, in_at, out_at});
  for (int64_t n = 0; n < SIDES * LENGTH; n++) {
    int side = (int)(n / LENGTH);
    expect("halo", n, out[n], value(neighbor(rank, side), opposite[side], n % LENGTH));
  }
  tutti_composition_destroy(of);
  free(counts);
  free(in_at);
  free(out_at);
  free(in);
  free(out);
}

/* ---- servers ---- */

static int64_t server_count(void) { return size > 3 ? 2 : 1; }

/* Block s is server s's shard. There and back are two compositions, with the server's work between them. */
static void servers(void) {
  int64_t shards = server_count(), workers[size], counts[] = {LENGTH, LENGTH};
  for (int64_t r = 0; r < size; r++)
    workers[r] = shards + r;
  int64_t worker_count = size - shards;
  if (worker_count == 0)
    return;
  tutti_composition *there, *back;
  must(tutti_composition_create(comm, shards, &there));
  must(tutti_composition_create(comm, shards, &back));
  must(tutti_composition_stage(there, "push"));
  must(tutti_composition_stage(back, "pull"));
  for (int64_t s = 0; s < shards; s++) {
    must(tutti_composition_reduce(there, workers, worker_count, s, s, TUTTI_IN, TUTTI_OUT));
    must(tutti_composition_multicast(back, s, workers, worker_count, s, TUTTI_IN, TUTTI_OUT));
  }
  must(tutti_composition_set_params(there, "[core:chain] slice=1K"));
  must(tutti_composition_set_params(back, "[core:2-nomial]"));
  show(there, "push");
  show(back, "pull");
  float *gradient = room(shards), *sum = room(shards), *weights = room(shards);
  fill(gradient, shards);
  tutti_block_table blocks = {.counts = counts};
  run(there, gradient, sum, &blocks);
  for (int64_t n = 0; n < shards * LENGTH; n++)
    sum[n] *= 0.5F; /* a server's own shard; the others are nobody's */
  run(back, sum, weights, &blocks);
  for (int64_t n = 0; n < shards * LENGTH && rank >= shards; n++) {
    float wanted = 0;
    for (int64_t r = shards; r < size; r++)
      wanted += value(r, n / LENGTH, n % LENGTH);
    expect("servers", n, weights[n], wanted * 0.5F);
  }
  tutti_composition_destroy(there);
  tutti_composition_destroy(back);
  free(gradient);
  free(sum);
  free(weights);
}

int main(int count, char **arguments) {
  tutti_context *context;
  directory = count > 1 ? arguments[1] : NULL;
  must(tutti_context_create(NULL, &context));
  must(tutti_comm_create(context, &comm));
  rank = tutti_comm_rank(comm);
  size = tutti_comm_size(comm);
  halves();
  halo();
  servers();
  if (rank == 0)
    printf("halves, halo, servers: right on %d ranks\n", (int)size);
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
  return 0;
}
