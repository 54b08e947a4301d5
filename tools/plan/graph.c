/* tools/plan/graph.c - graphs of neighbor collectives from the command line: periodic grids, or files of edges. */
#include "graph.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DIMENSIONS 8

typedef struct edges {
  tt_arena *arena;
  int32_t *from, *to;
  int64_t count, room, ranks;
} edges;

static void add(edges *all, int64_t from, int64_t to) {
  if (all->count == all->room) {
    all->room = all->room ? 2 * all->room : 64;
    int32_t *more[2];
    for (int n = 0; n < 2; n++) {
      more[n] = tt_arena_alloc(all->arena, (size_t)all->room, sizeof *more[n]);
      if (more[n] && all->count > 0)
        memcpy(more[n], n ? all->to : all->from, (size_t)all->count * sizeof *more[n]);
    }
    all->from = more[0];
    all->to = more[1];
  }
  if (all->arena->failed)
    return;
  all->from[all->count] = (int32_t)from;
  all->to[all->count++] = (int32_t)to;
}

/* ---- grids ---- */

/* Lengths of a grid's dimensions, 0 of them where the text is none. */
static int read_grid(const char *text, int64_t length[static DIMENSIONS]) {
  int count = 0;
  for (const char *at = text; count < DIMENSIONS; at++) {
    char *rest;
    errno = 0;
    length[count] = isdigit((unsigned char)*at) ? strtoll(at, &rest, 10) : 0;
    if (length[count] < 1 || length[count] > INT32_MAX || errno)
      return 0;
    count++;
    if (*rest == '\0')
      return count;
    if (*rest != 'x')
      return 0;
    at = rest;
  }
  return 0;
}

/* The last dimension runs fastest. One of a single rank has no edges; in one of two, both lead to the same rank. */
static void add_neighbors(edges *all, int64_t rank, const int64_t *length, int count) {
  for (int64_t d = count - 1, stride = 1; d >= 0; stride *= length[d--]) {
    int64_t at = rank / stride % length[d];
    for (int64_t step = -1; step <= 1 && length[d] > 1; step += 2)
      add(all, rank, rank + ((at + step + length[d]) % length[d] - at) * stride);
  }
}

static tutti_status make_grid(edges *all, const int64_t *length, int count, const char *text) {
  int64_t ranks = 1;
  for (int d = 0; d < count; d++)
    if (__builtin_mul_overflow(ranks, length[d], &ranks) || ranks > PLAN_RANKS_MOST)
      return tt_fail(TUTTI_ERR_ARGUMENT, "--graph %s: the limit is %d ranks", text, PLAN_RANKS_MOST);
  if (all->ranks && all->ranks != ranks)
    return tt_fail(TUTTI_ERR_ARGUMENT, "--graph %s has %" PRId64 " ranks, but -n is %" PRId64, text, ranks, all->ranks);
  all->ranks = ranks;
  for (int64_t rank = 0; rank < ranks; rank++)
    add_neighbors(all, rank, length, count);
  return TUTTI_OK;
}

/* ---- files ---- */

/* "0 1", blanks around; false where something else stands there. */
static bool read_edge(const char *line, int64_t edge[static 2]) {
  char *rest = (char *)line;
  for (int n = 0; n < 2; n++) {
    const char *begin = rest;
    errno = 0;
    edge[n] = strtoll(begin, &rest, 10);
    if (rest == begin || errno || edge[n] < 0 || edge[n] >= PLAN_RANKS_MOST)
      return false;
  }
  return rest[strspn(rest, " \t\r\n")] == '\0';
}

static tutti_status read_lines(edges *all, FILE *file, const char *path) {
  char *line = NULL;
  size_t size = 0;
  tutti_status status = TUTTI_OK;
  int64_t edge[2], most = -1;
  for (int64_t number = 1; status == TUTTI_OK && getline(&line, &size, file) >= 0; number++) {
    if (line[strspn(line, " \t\r\n")] == '\0' || line[0] == '#')
      continue;
    if (!read_edge(line, edge))
      status = tt_fail(TUTTI_ERR_ARGUMENT, "%s, line %" PRId64 ": an edge must be two ranks below %d, such as: 0 1",
                       path, number, PLAN_RANKS_MOST);
    for (int n = 0; n < 2 && status == TUTTI_OK; n++)
      most = edge[n] > most ? edge[n] : most;
    if (status == TUTTI_OK && all->ranks && most >= all->ranks)
      status = tt_fail(TUTTI_ERR_ARGUMENT, "%s, line %" PRId64 ": rank %" PRId64 " is not one of %" PRId64, path,
                       number, most, all->ranks);
    if (status == TUTTI_OK)
      add(all, edge[0], edge[1]);
  }
  if (status == TUTTI_OK && !feof(file))
    status = tt_fail(TUTTI_ERR_SYSTEM, "--graph %s: cannot read it: %s", path, strerror(errno));
  free(line);
  all->ranks = all->ranks ? all->ranks : most + 1;
  return status;
}

static tutti_status read_file(edges *all, const char *path) {
  FILE *file = fopen(path, "r");
  if (!file)
    return tt_fail(TUTTI_ERR_ARGUMENT, "--graph %s is neither a grid such as 4x4 nor a file: %s", path,
                   strerror(errno));
  tutti_status status = read_lines(all, file, path);
  fclose(file);
  return status;
}

tutti_status plan_graph_read(const char *text, int64_t rank_count, tt_arena *arena, tt_graph *graph) {
  edges all = {.arena = arena, .ranks = rank_count};
  int64_t length[DIMENSIONS];
  int dimensions = read_grid(text, length);
  tutti_status status = dimensions > 0 ? make_grid(&all, length, dimensions, text) : read_file(&all, text);
  if (status != TUTTI_OK)
    return status;
  if (arena->failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " edges", all.count);
  *graph = (tt_graph){.rank_count = all.ranks, .edge_count = all.count, .from = all.from, .to = all.to};
  return tt_compose_graph(graph, arena);
}
