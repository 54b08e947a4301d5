/* bindings/mpi/stats.c - TUTTI_STATS: what ran on tutti, with which parameters, and what did not and why.
 *
 * Each rank counts lines; at MPI_Finalize rank 0 gets them all, adds up those that are alike, and prints a table, or
 * JSON into a file that is named so. */
#include "stats.h"

#include "error.h"
#include "settings.h"
#include "state.h"
#include "stats_print.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct lines {
  tt_mpi_line *line;
  int64_t count, room;
} lines;

static pthread_mutex_t guard = PTHREAD_MUTEX_INITIALIZER;
static lines counted;
static int64_t recent[TT_MPI_COLLECTIVE_COUNT][2]; /* the line that was counted last; mostly it is the next one too */

/* ---- lines ---- */

/* The end of a longer one: where its line in a file is. */
static const char *end_of(const char *authority) {
  size_t length = strlen(authority), room = sizeof((tt_mpi_line *)NULL)->authority - 1;
  return authority + (length > room ? length - room : 0);
}

/* The same as line_of makes of these: a call that is like the last one is counted without making a line. */
static bool is(const tt_mpi_line *line, int collective, bool passed, const char *text, const char *authority) {
  return line->collective == collective && line->passed == passed &&
         strncmp(line->text, text, sizeof line->text - 1) == 0 && strcmp(line->authority, end_of(authority)) == 0;
}

/* What it counts is 0 so far. It travels as bytes, all of which are set. */
static tt_mpi_line line_of(int collective, bool passed, const char *text, const char *authority) {
  tt_mpi_line line;
  memset(&line, 0, sizeof line);
  line.collective = collective;
  line.passed = passed;
  snprintf(line.text, sizeof line.text, "%s", text);
  snprintf(line.authority, sizeof line.authority, "%s", end_of(authority));
  return line;
}

static int64_t add(lines *to, const tt_mpi_line *like) {
  if (to->count == to->room) {
    to->room = to->room ? 2 * to->room : 32;
    tt_mpi_line *more = realloc(to->line, (size_t)to->room * sizeof *more);
    if (!more)
      tt_mpi_out_of_memory();
    to->line = more;
  }
  to->line[to->count] = *like;
  return to->count++;
}

static int64_t find(lines *in, const tt_mpi_line *like) {
  for (int64_t n = 0; n < in->count; n++)
    if (is(&in->line[n], like->collective, like->passed, like->text, like->authority))
      return n;
  return add(in, like);
}

/* ---- counting ---- */

/* Those words of `media` that the line lacks. */
static void add_media(tt_mpi_line *line, const char *media) {
  if (strcmp(line->media, media) == 0)
    return;
  for (size_t length; *media; media += length + (media[length] == '+')) {
    char word[sizeof line->media];
    length = strcspn(media, "+");
    snprintf(word, sizeof word, "%.*s", (int)length, media);
    if (strstr(line->media, word))
      continue;
    size_t used = strlen(line->media);
    snprintf(line->media + used, sizeof line->media - used, "%s%s", used ? "+" : "", word);
  }
}

/* One more. */
static tt_mpi_line *line_for(int collective, bool passed, const char *text, const char *authority) {
  int64_t *at = &recent[collective][passed];
  if (*at >= counted.count || !is(&counted.line[*at], collective, passed, text, authority)) {
    tt_mpi_line like = line_of(collective, passed, text, authority);
    *at = find(&counted, &like);
  }
  counted.line[*at].calls++;
  return &counted.line[*at];
}

void tt_mpi_count_served(tt_mpi_collective collective, int64_t bytes, int64_t ns, const char *params,
                         const char *authority, const char *media) {
  if (!tt_mpi.statistics)
    return;
  pthread_mutex_lock(&guard);
  tt_mpi_line *line = line_for((int)collective, false, params ? params : "", authority ? authority : "");
  line->bytes += bytes;
  line->ns += ns;
  add_media(line, media ? media : "");
  pthread_mutex_unlock(&guard);
}

void tt_mpi_count_passed(tt_mpi_collective collective, const char *why) {
  if (!tt_mpi.statistics)
    return;
  pthread_mutex_lock(&guard);
  line_for((int)collective, true, why ? why : "", "");
  pthread_mutex_unlock(&guard);
}

int64_t tt_mpi_clock_ns(void) {
  struct timespec now;
  if (!tt_mpi.statistics)
    return 0;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

/* ---- of all ranks ---- */

static int64_t *number_of(tt_mpi_total *total, const tt_mpi_line *line) {
  if (!line->passed)
    return &total->served;
  return strcmp(line->text, tt_mpi_one_rank) == 0 ? &total->alone : &total->passed;
}

static void take_rank(tt_mpi_report *report, lines *sums, const tt_mpi_line *line, int64_t line_count) {
  int64_t ns[TT_MPI_COLLECTIVE_COUNT] = {0};
  for (int64_t n = 0; n < line_count; n++, line++) {
    tt_mpi_total *total = &report->of[line->collective];
    tt_mpi_line like = line_of(line->collective, line->passed, line->text, line->authority);
    int64_t at = find(sums, &like);
    tt_mpi_line *sum = &sums->line[at];
    sum->calls += line->calls;
    sum->bytes += line->bytes;
    add_media(sum, line->media);
    *number_of(total, line) += line->calls;
    total->bytes += line->bytes;
    ns[line->collective] += line->ns;
  }
  for (int c = 0; c < TT_MPI_COLLECTIVE_COUNT; c++)
    report->of[c].ns = ns[c] > report->of[c].ns ? ns[c] : report->of[c].ns;
}

static int in_order(const void *a, const void *b) {
  const tt_mpi_line *x = a, *y = b;
  if (x->collective != y->collective)
    return x->collective < y->collective ? -1 : 1;
  if (x->passed != y->passed)
    return x->passed < y->passed ? -1 : 1;
  if (x->calls != y->calls)
    return x->calls > y->calls ? -1 : 1;
  int texts = strcmp(x->text, y->text);
  return texts != 0 ? texts : strcmp(x->authority, y->authority);
}

static void finish_report(tt_mpi_report *report, const lines *sums) {
  for (int c = 0; c < TT_MPI_COLLECTIVE_COUNT; c++) {
    report->all.served += report->of[c].served;
    report->all.passed += report->of[c].passed;
    report->all.alone += report->of[c].alone;
    report->all.bytes += report->of[c].bytes;
  }
  if (sums->count > 0)
    qsort(sums->line, (size_t)sums->count, sizeof *sums->line, in_order);
  report->line = sums->line;
  report->line_count = sums->count;
}

/* Everyone's lines, on rank 0. counts: room for a number of each rank. An int counts lines; their bytes may be more. */
static tt_mpi_line *gather(MPI_Comm over, int ranks, int *counts) {
  MPI_Datatype type;
  int mine = (int)counted.count, total = 0;
  PMPI_Gather(&mine, 1, MPI_INT, counts, 1, MPI_INT, 0, over);
  int *offsets = calloc((size_t)ranks, sizeof *offsets);
  for (int r = 0; offsets && r < ranks; r++) {
    offsets[r] = total;
    total += counts[r];
  }
  tt_mpi_line *all = malloc(((size_t)total + 1) * sizeof *all);
  if (!offsets || !all)
    tt_mpi_out_of_memory();
  PMPI_Type_contiguous((int)sizeof *all, MPI_BYTE, &type);
  PMPI_Type_commit(&type);
  PMPI_Gatherv(counted.line, mine, type, all, counts, offsets, type, 0, over);
  PMPI_Type_free(&type);
  free(offsets);
  return all;
}

/* ---- where to ---- */

static bool ends_in(const char *text, const char *end) {
  size_t length = strlen(text), tail = strlen(end);
  return length >= tail && strcmp(text + length - tail, end) == 0;
}

static void say_unwritten(const char *name) {
  fprintf(stderr, "tutti: TUTTI_STATS: cannot write '%s': %s\n", name, strerror(errno));
}

/* NULL: to stderr. */
static FILE *open_file(const char *name) {
  if (!name || strcmp(name, "1") == 0)
    return NULL;
  FILE *file = fopen(name, "w");
  if (!file)
    say_unwritten(name);
  return file;
}

static void close_file(FILE *file, const char *name) {
  bool failed = ferror(file) != 0;
  if (fclose(file) != 0 || failed)
    say_unwritten(name);
}

static void print(const tt_mpi_report *report) {
  const char *name = tt_mpi_settings_read(false).statistics;
  FILE *file = open_file(name);
  if (file && ends_in(name, ".json"))
    tt_mpi_stats_json(report, file);
  else
    tt_mpi_stats_table(report, file ? file : stderr);
  if (file)
    close_file(file, name);
}

void tt_mpi_stats_print(void) {
  tt_mpi_report report = {.ranks = 0};
  lines sums = {0};
  MPI_Comm over = tt_mpi.session ? tt_mpi.world : MPI_COMM_WORLD;
  int rank;
  PMPI_Comm_rank(over, &rank);
  PMPI_Comm_size(over, &report.ranks);
  int *counts = calloc((size_t)report.ranks, sizeof *counts);
  if (!counts)
    tt_mpi_out_of_memory();
  tt_mpi_line *all = gather(over, report.ranks, counts), *line = all;
  for (int r = 0; r < report.ranks && rank == 0; line += counts[r++])
    take_rank(&report, &sums, line, counts[r]);
  finish_report(&report, &sums);
  if (rank == 0)
    print(&report);
  free(sums.line);
  free(all);
  free(counts);
  free(counted.line);
  counted = (lines){0};
}
