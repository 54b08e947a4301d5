/* One rank of tests/system/media_test.py: makes the calls that a file lists and writes what went by each medium.
 *
 *     media CASES RESULTS BYTES [alloc]      a line of CASES: allreduce ring; n is BYTES, as in tutti plan */
#include "api/api.h"
#include "conformance/invoke.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANKS = 16, LINE = 200 };

static struct {
  tutti_context *context;
  tutti_comm *comm;
  tutti_graph *graph;
  int64_t rank, size, elements;
  bool shared;
  char *in, *out;
  int64_t counts[RANKS], offsets[RANKS], byte_offsets[RANKS];
  tutti_type types[RANKS];
} self;

static void must(tutti_status status, const char *what) {
  if (status == TUTTI_OK)
    return;
  fprintf(stderr, "rank %" PRId64 ": %s: %s\n", self.rank, what, tutti_last_error());
  exit(1);
}

static char *memory(size_t bytes) {
  void *made = NULL;
  if (self.shared)
    must(tutti_alloc(self.context, bytes, &made), "memory");
  else
    made = malloc(bytes);
  if (!made)
    exit(1);
  return memset(made, 0, bytes);
}

/* Everyone's neighbors are those on either side. */
static void open_job(int64_t bytes) {
  must(tutti_context_create(NULL, &self.context), "context");
  must(tutti_comm_create(self.context, &self.comm), "communicator");
  self.rank = tutti_comm_rank(self.comm);
  self.size = tutti_comm_size(self.comm);
  self.elements = bytes / 4;
  if (self.size > RANKS)
    exit(1);
  int64_t beside[2] = {(self.rank + self.size - 1) % self.size, (self.rank + 1) % self.size};
  must(tutti_graph_create(self.comm, 2, beside, 2, beside, &self.graph), "graph");
  self.in = memory((size_t)(bytes * self.size));
  self.out = memory((size_t)(bytes * self.size));
}

static bool is_neighbor(tt_collective collective) { return tt_compose_info(collective).has_graph; }

/* All blocks are equally long: of one vector, or of what goes over an edge. */
static call_arguments arguments_of(tt_collective collective) {
  bool parts = tt_compose_side(collective, TT_IN).unit == TT_EACH_RANK ||
               tt_compose_side(collective, TT_OUT).unit == TT_EACH_RANK;
  int64_t count = parts && !is_neighbor(collective) ? self.elements / self.size : self.elements;
  for (int64_t n = 0; n < RANKS; n++) {
    self.counts[n] = count;
    self.offsets[n] = n * count;
    self.byte_offsets[n] = n * count * 4;
    self.types[n] = TUTTI_FLOAT32;
  }
  bool typed = tt_compose_side(collective, TT_IN).typed;
  const int64_t *offsets = typed ? self.byte_offsets : self.offsets;
  return (call_arguments){.in = self.in,
                          .out = self.out,
                          .count = count,
                          .in_count = count,
                          .out_count = count,
                          .in_counts = self.counts,
                          .in_offsets = offsets,
                          .out_counts = self.counts,
                          .out_offsets = offsets,
                          .in_types = self.types,
                          .out_types = self.types,
                          .type = TUTTI_FLOAT32,
                          .op = TUTTI_SUM,
                          .comm = self.comm,
                          .graph = self.graph};
}

static void write_sent(FILE *results, const char *line) {
  tt_sent sent[TT_MEDIUM_COUNT];
  tt_sent_range foreseen[TT_MEDIUM_COUNT];
  tt_comm_tallied(self.comm, sent, foreseen);
  for (int n = 0; n < TT_MEDIUM_COUNT; n++)
    if (sent[n].slots > 0)
      fprintf(results, "%s|%" PRId64 "|%s|%" PRId64 "|%" PRId64 "|%" PRId64 "\n", line, self.rank, tt_medium_name[n],
              sent[n].messages, sent[n].bytes, sent[n].slots);
}

static void run_case(FILE *results, char *line) {
  char text[LINE];
  line[strcspn(line, "\n")] = '\0';
  strcpy(text, line);
  char *name = text, *params = strchr(text, ' ');
  *params++ = '\0';
  tt_collective collective = tt_compose_find(name);
  call_arguments arguments = arguments_of(collective);
  must(tutti_comm_set_params(self.comm, name, params), line);
  must(tt_comm_tally(self.comm, self.shared), line);
  must(call_invoke(collective, CALL_BLOCK, &arguments, NULL), line);
  write_sent(results, line);
}

int main(int argc, char **argv) {
  char line[LINE], path[300];
  if (argc < 4)
    return 2;
  FILE *cases = fopen(argv[1], "r");
  self.shared = argc > 4;
  open_job(strtoll(argv[3], NULL, 10));
  snprintf(path, sizeof path, "%s.%" PRId64, argv[2], self.rank);
  FILE *results = fopen(path, "w");
  if (!cases || !results)
    return 1;
  while (fgets(line, sizeof line, cases))
    run_case(results, line);
  fclose(cases);
  tutti_graph_destroy(self.graph);
  tutti_comm_destroy(self.comm);
  if (self.shared) {
    tutti_free(self.context, self.in);
    tutti_free(self.context, self.out);
  } else {
    free(self.in);
    free(self.out);
  }
  tutti_context_destroy(self.context);
  return fclose(results) == 0 ? 0 : 1;
}
