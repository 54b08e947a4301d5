/* scripts/gen_algorithms.c - writes FOLDER/algorithms.md and FOLDER/pictures/algorithms/: presets and shapes, and every
 * collective with every preset that makes a plan of it.
 *
 * Nothing is known here of any of them: rows of tables are compiled (tools/plan), counted, simulated and drawn.
 * Formulas are found: the first of a few that gives the counts of all rank counts tried. */
#include "tools/plan/graph.h"
#include "tools/plan/picture.h"
#include "tools/plan/ranking.h"
#include "tools/plan/text.h"
#include "tools/shared/shared.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define RANKS 8
#define NODES "2x4"
#define GRID "2x4"

typedef struct section {
  tt_collective collective;
  plan_options options[2]; /* all ranks alike; on nodes */
  plan_ranking ranking[2];
  tt_collective same; /* an earlier one with the same plans; else itself */
} section;

static section sections[TT_COLLECTIVE_COUNT];
static const tt_preset *presets;
static size_t preset_count;

static _Noreturn void fail(const char *what) {
  fprintf(stderr, "gen_algorithms: %s: %s\n", what, tutti_last_error());
  exit(EXIT_FAILURE);
}

/* ---- what there is ---- */

static void init_options(plan_options *options, tt_collective collective, int64_t ranks, const char *map) {
  *options = (plan_options){.problem = {.collective = collective, .rank_count = ranks}, .map = map, .text_rank = -1};
  tt_arena_init(&options->arena);
  if (!tt_compose_info(collective).has_graph)
    return;
  options->graph_text = GRID;
  if (plan_graph_read(GRID, ranks, &options->arena, &options->graph) != TUTTI_OK)
    fail(GRID);
  options->problem.graph = &options->graph;
}

static bool has_same_plans(tt_collective a, tt_collective b) {
  tt_collective_info x = tt_compose_info(a), y = tt_compose_info(b);
  bool same = x.has_root == y.has_root && x.reduces == y.reduces && x.has_graph == y.has_graph && x.in == y.in &&
              x.out == y.out && x.form_count == y.form_count;
  for (int n = 0; n < x.form_count && same; n++)
    same = strcmp(x.form[n], y.form[n]) == 0;
  size_t length = strlen(x.name);
  return same && strncmp(x.name, y.name, length) == 0; /* allgather and allgatherv */
}

static void init_section(tt_collective collective) {
  static const char *const maps[] = {NULL, NODES};
  section *at = &sections[collective];
  at->collective = at->same = collective;
  for (int c = (int)collective; c-- > 0;)
    if (has_same_plans((tt_collective)c, collective))
      at->same = (tt_collective)c;
  for (int n = 0; n < 2 && at->same == collective; n++) {
    init_options(&at->options[n], collective, RANKS, maps[n]);
    if (plan_ranking_make(&at->options[n], &at->ranking[n]) != TUTTI_OK)
      fail(tt_compose_info(collective).name);
  }
}

static const plan_row *row_of(const plan_ranking *ranking, const tt_preset *preset) {
  for (size_t n = 0; n < ranking->count; n++)
    if (ranking->row[n].preset == preset)
      return ranking->row[n].reason[0] ? NULL : &ranking->row[n];
  return NULL;
}

/* Whether the preset makes a plan only where there are nodes. */
static bool needs_nodes(const section *at, const tt_preset *preset) { return !row_of(&at->ranking[0], preset); }

/* ---- pictures: of each collective with its cheapest preset, of each preset with the collective that suits it best
 * ---- */

/* The preset's row where it may be at home, else NULL. */
static const plan_row *home_row(const section *at, const tt_preset *preset) {
  bool apart = at->same != at->collective || at->collective == TT_BARRIER || at->collective == TT_EXSCAN ||
               tt_compose_info(at->collective).has_graph;
  return apart ? NULL : row_of(&at->ranking[needs_nodes(at, preset)], preset);
}

/* How much better it is than the table's first one, in logarithms. */
static double gain_of(const section *at, const tt_preset *preset) {
  const plan_ranking *ranking = &at->ranking[needs_nodes(at, preset)];
  const plan_row *first = row_of(ranking, &presets[0]);
  return first ? first->score - row_of(ranking, preset)->score : 0;
}

/* Of the collectives in which the preset is about as good as anywhere, the one in which it gains most. */
static const section *home_of(const tt_preset *preset) {
  const section *home = NULL;
  double best = INFINITY;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    const plan_row *row = home_row(&sections[c], preset);
    best = row ? fmin(best, row->score) : best;
  }
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    const plan_row *row = home_row(&sections[c], preset);
    bool good = row && row->score < best + 0.75;
    if (good && (!home || gain_of(&sections[c], preset) > gain_of(home, preset) + 1e-9))
      home = &sections[c];
  }
  return home;
}

static bool is_drawn(const section *at, const tt_preset *preset) {
  return at->ranking[0].row[0].preset == preset || home_of(preset) == at;
}

static void picture_name(const section *at, const tt_preset *preset, char name[static 128]) {
  snprintf(name, 128, "pictures/algorithms/%s-%s.svg", tt_compose_info(at->collective).name, preset->name);
}

static void draw(const section *at, const tt_preset *preset, const char *folder) {
  char name[128], path[1024];
  plan_options options = at->options[needs_nodes(at, preset)];
  plan_work work;
  picture_name(at, preset, name);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  options.picture.svg = path;
  if (plan_work_open(&options, preset->text, &work) != TUTTI_OK || plan_work_lower(&work, RANKS) != TUTTI_OK ||
      plan_picture_write(&work) != TUTTI_OK)
    fail(path);
  plan_work_close(&work);
}

/* ---- formulas ---- */

enum { COUNTS = 3 }; /* rounds, messages, bytes */

static double log_of(double p, double k) { return ceil(log(p) / log(k) - 1e-9); }
static double one(double p) { return p > 0; }
static double log2_up(double p) { return log_of(p, 2); }
static double log3_up(double p) { return log_of(p, 3); }
static double log4_up(double p) { return log_of(p, 4); }
static double others(double p) { return p - 1; }
static double share(double p) { return (p - 1) / p; }
static double block(double p) { return 1 / p; }
static double log_and_others(double p) { return log2_up(p) + p - 1; }
static double all(double p) { return p; }

static const struct {
  const char *text;
  double (*of)(double p);
} terms[] = {
    {"", one},           {"log p", log2_up},
    {"p - 1", others},   {"(p - 1)/p", share},
    {"1/p", block},      {"log p + p - 1", log_and_others},
    {"p", all},          {"log3 p", log3_up},
    {"log4 p", log4_up},
};

static const struct {
  const char *text;
  double value;
} factors[] = {{"", 1}, {"2 ", 2}, {"3 ", 3}, {"4 ", 4}, {"1/2 ", 0.5}};

static const int64_t tried[] = {2, 4, 8, 16, 32, 3, 5, 6, 7, 9, 11, 12, 13, 15, 17, 27};
enum { POWERS = 5 }; /* the first of them are powers of two */

typedef struct sample {
  double count[COUNTS];
  bool known;
} sample;

static void take_sample(const section *at, const tt_preset *preset, int64_t ranks, sample *to) {
  plan_options options;
  plan_work work;
  init_options(&options, at->collective, ranks, NULL);
  to->known = plan_work_open(&options, preset->text, &work) == TUTTI_OK && plan_work_lower(&work, ranks) == TUTTI_OK;
  if (to->known) {
    tt_plan_counts most = plan_busiest(&work);
    to->count[0] = work.plan[0]->time_count;
    to->count[1] = (double)most.messages;
    to->count[2] = (double)most.blocks / (double)plan_unit_blocks(&work);
  }
  plan_work_close(&work);
  plan_options_finish(&options);
}

static bool fits(const sample *samples, size_t count, int which, double (*of)(double), double factor) {
  for (size_t n = 0; n < count; n++)
    if (!samples[n].known || fabs(samples[n].count[which] - factor * of((double)tried[n])) > 1e-9)
      return false;
  return true;
}

/* " = 2 log p"; empty where none fits. */
static void find_formula(const sample *samples, int which, char text[static 64]) {
  *text = '\0';
  for (int all = 1; all >= 0; all--)
    for (size_t t = 0; t < TT_COUNT(terms); t++)
      for (size_t f = 0; f < TT_COUNT(factors); f++)
        if (fits(samples, all ? TT_COUNT(tried) : POWERS, which, terms[t].of, factors[f].value)) {
          bool sum = strchr(terms[t].text, '-') && !strchr(terms[t].text, '/') && factors[f].text[0];
          if (terms[t].text[0])
            snprintf(text, 64, sum ? " = %s(%s)%s" : " = %s%s%s", factors[f].text, terms[t].text, all ? "" : " *");
          return;
        }
}

/* ---- text ---- */

static void print_presets(FILE *out) {
  fputs("| preset | parameters | what it is |\n|---|---|---|\n", out);
  for (size_t n = 0; n < preset_count; n++)
    fprintf(out, "| `%s` | `%s` | %s |\n", presets[n].name, presets[n].text, presets[n].help);
}

static void print_k(FILE *out, const tt_shape_info *info) {
  if (info->k_most)
    fprintf(out, "%d to %d", info->k_least, info->k_most);
}

static void print_labellings(FILE *out, const tt_shape_info *info) {
  const char *before = "";
  for (int n = 0; n < TT_LABELLING_COUNT; n++)
    if (info->labellings >> n & 1) {
      fprintf(out, "%s%s", before, tt_labelling_name((tt_labelling)n));
      before = ", ";
    }
}

static void print_shapes(FILE *out) {
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  fputs(
      "\n## Shapes\n\n"
      "A tree joins f groups by their labels, 0 to f-1; the root has label 0. [plan.md](plan.md) says what labelling\n"
      "and order are.\n\n"
      "| shape | K | tree | rounds | labelling | order |\n|---|---|---|---|---|---|\n",
      out);
  for (size_t n = 0; n < count; n++) {
    const tt_shape_info *info = tt_shape_about(shapes[n]);
    fprintf(out, "| `%s%s` | ", info->k_most ? "K-" : "", info->name);
    print_k(out, info);
    fprintf(out, " | %s | %s | ", info->tree, info->rounds);
    print_labellings(out, info);
    fprintf(out, " | %s |\n", info->has_order ? "near, far" : "");
  }
}

static void print_cell(FILE *out, double value, const char *formula) { fprintf(out, " %.4g%s |", value, formula); }

static void print_times(FILE *out, const plan_ranking *ranking, const plan_row *row) {
  for (int n = 0; n < ranking->size_count; n++) {
    char time[32];
    bool best = row->time_ns[n] <= plan_ranking_best(ranking, n);
    tool_format_time(row->time_ns[n], time);
    fprintf(out, best ? " **%s** |" : " %s |", time);
  }
  fputc('\n', out);
}

static void print_row(FILE *out, const section *at, const plan_ranking *ranking, const plan_row *row, bool formulas) {
  sample samples[TT_COUNT(tried)];
  char formula[COUNTS][64] = {"", "", ""};
  for (size_t n = 0; n < TT_COUNT(tried) && formulas; n++)
    take_sample(at, row->preset, tried[n], &samples[n]);
  for (int n = 0; n < COUNTS && formulas; n++)
    find_formula(samples, n, formula[n]);
  fprintf(out, "| `%s` |", row->preset->name);
  print_cell(out, row->rounds, formula[0]);
  print_cell(out, (double)row->messages, formula[1]);
  print_cell(out, strtod(row->bytes, NULL), formula[2]);
  print_times(out, ranking, row);
}

static void print_head(FILE *out, const plan_ranking *ranking) {
  fprintf(out, "\n| %s | rounds | messages | bytes / n |", ranking->title);
  for (int n = 0; n < ranking->size_count; n++) {
    char size[16];
    tt_format_bytes(ranking->size[n], size);
    fprintf(out, ranking->size_count > 1 ? " n = %s |" : " time |", size);
  }
  fputs("\n|---|---|---|---|", out);
  for (int n = 0; n < ranking->size_count; n++)
    fputs("---|", out);
  fputc('\n', out);
}

static void print_flat(FILE *out, const section *at) {
  const plan_ranking *ranking = &at->ranking[0];
  print_head(out, ranking);
  for (size_t n = 0; n < ranking->count && !ranking->row[n].reason[0]; n++)
    print_row(out, at, ranking, &ranking->row[n], !tt_compose_info(at->collective).has_graph);
}

/* Presets that need nodes, and the best one that does not. */
static void print_nodes(FILE *out, const section *at) {
  const plan_ranking *ranking = &at->ranking[1];
  bool other = false, any = false;
  for (size_t n = 0; n < ranking->count; n++)
    any |= !ranking->row[n].reason[0] && needs_nodes(at, ranking->row[n].preset);
  if (any)
    print_head(out, ranking);
  for (size_t n = 0; n < ranking->count && any && !ranking->row[n].reason[0]; n++) {
    bool nodes = needs_nodes(at, ranking->row[n].preset);
    if (nodes || !other)
      print_row(out, at, ranking, &ranking->row[n], false);
    other |= !nodes;
  }
}

static void print_forms(FILE *out, const section *at) {
  tt_collective_info info = tt_compose_info(at->collective);
  for (int n = 0; n < info.form_count; n++) {
    tt_composition composition;
    tt_arena arena;
    tt_arena_init(&arena);
    if (tt_compose(&at->options[0].problem, info.form[n], &composition) != TUTTI_OK)
      fail(info.name);
    if (composition.stage[0].family_count <= TT_STAGE_FAMILIES)
      fprintf(out, "\nForm `%s`:\n\n", info.form[n]);
    char *text = tt_ir_print(&composition, &arena), *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line && composition.stage[0].family_count <= TT_STAGE_FAMILIES;
         line = strtok_r(NULL, "\n", &rest))
      fprintf(out, "    %s\n", line);
    tt_arena_finish(&arena);
  }
}

static void print_section(FILE *out, const section *at, const char *folder) {
  fprintf(out, "\n## %s\n", tt_compose_info(at->collective).name);
  if (at->same != at->collective) {
    fprintf(out, "\nThe plans are those of %s, with blocks of different lengths.\n", tt_compose_info(at->same).name);
    return;
  }
  print_forms(out, at);
  fprintf(out, "\nn: %s.\n", at->ranking[0].unit);
  print_flat(out, at);
  print_nodes(out, at);
  for (size_t n = 0; n < preset_count; n++)
    if (is_drawn(at, &presets[n])) {
      char name[128];
      picture_name(at, &presets[n], name);
      fprintf(out, "\n`%s`: %s\n\n![%s, %s](%s)\n", presets[n].name, presets[n].help,
              tt_compose_info(at->collective).name, presets[n].name, name);
      draw(at, &presets[n], folder);
    }
}

static void print_all(FILE *out, const char *folder) {
  fputs("# Algorithms\n\n"
        "`make docs` writes this page from the tables: every collective with every preset that makes a plan of it, for "
        "8 ranks.\n\n"
        "Rounds, messages and bytes are the most that a rank has, sends or receives. Formulas hold for p ranks; those "
        "with a\n"
        "star hold only for powers of two. log is the logarithm to base 2, rounded up. Times are modelled\n"
        "([plan.md](plan.md)), with the best in bold, for messages that cost\n\n",
        out);
  fprintf(out, "    %s     between equal ranks\n    %s     on two nodes\n", sections[0].ranking[0].model,
          sections[0].ranking[1].model);
  fputs("\n"
        "Presets are ordered by their times / the best time (geometric mean over the sizes).\n"
        "`tutti plan COLLECTIVE -n N --params all` shows the same for other ranks, sizes and rates.\n\n"
        "## Presets\n\n",
        out);
  print_presets(out);
  print_shapes(out);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    print_section(out, &sections[c], folder);
}

int main(int argc, char **argv) {
  char path[1024];
  if (argc != 2) {
    fputs("usage: gen_algorithms FOLDER\n", stderr);
    return 2;
  }
  presets = tt_preset_table(&preset_count);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    init_section((tt_collective)c);
  static const char *const folders[] = {"", "/pictures", "/pictures/algorithms"};
  for (size_t n = 0; n < TT_COUNT(folders); n++) {
    snprintf(path, sizeof path, "%s%s", argv[1], folders[n]);
    mkdir(path, 0777); /* it may be there */
  }
  snprintf(path, sizeof path, "%s/algorithms.md", argv[1]);
  FILE *out = fopen(path, "w");
  if (!out) {
    fprintf(stderr, "gen_algorithms: %s: %s\n", path, strerror(errno));
    return EXIT_FAILURE;
  }
  print_all(out, argv[1]);
  return fclose(out) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
