/* bench/simulated/plans.c - tutti's plans in SimGrid, under the rules of SMPI's messages.
 *
 *     simulated_plans --platform MACHINE RANKS PREFIX                    PREFIX.xml and PREFIX.hosts, for smpirun
 *     simulated_plans --play MACHINE RANKS COLLECTIVE BYTES PARAMETERS   its ns: by src/sim, and in SimGrid under
 *                                                                      each protocol
 *     simulated_plans MACHINE RANKS MOST COLLECTIVE BYTES [BYTES ...]    a line for each plan that is played:
 *
 *         COLLECTIVE BYTES NANOSECONDS|failed shipped|chosen|candidate MODELLED PARAMETERS
 *
 * Machines are those of tests/simgrid/machines.c. `shipped` is what the profile that ships takes for such a call.
 * `chosen` is the candidate that src/sim finds cheapest (candidates.h); `candidate` are the next ones, MOST in all.
 * MODELLED is src/sim's time in ns. In SimGrid all messages set off when they are sent, or those of 8 KiB and
 * more when their reader waits for them, too: the faster of the two counts, as for SMPI's. */
#include "candidates.h"

#include "tune/tune.h"

#include <string.h>

enum { SECONDS_MOST = 10 }; /* of a play */

static const int64_t protocols[] = {1 << 30, 8192}; /* bytes below which messages set off when they are sent */

typedef struct times {
  double model_ns, simgrid_ns[TT_COUNT(protocols)]; /* negative: none */
} times;

static double faster_ns(const times *of) {
  double a = of->simgrid_ns[0], b = of->simgrid_ns[1];
  return a < 0 || (b >= 0 && b < a) ? b : a;
}

static double play_under(int64_t eager_bytes, const point *of, int length, const plans *all,
                         const tt_sim_model *model) {
  int64_t total = point_total(of, length), blocks = all->plan[0]->block_count;
  if (total % blocks != 0)
    return -1;
  return play_once(&(played){.model = model,
                             .all = {all},
                             .call_count = 1,
                             .block_bytes = total / blocks,
                             .slice_bytes = all->plan[0]->slice_bytes,
                             .eager_bytes = eager_bytes,
                             .seconds_most = SECONDS_MOST});
}

static times times_of(const point *of, int length, const char *params) {
  plans all;
  tt_sim_model model;
  times found = {-1, {-1, -1}};
  if (point_plans(of, params, &all) == TUTTI_OK && point_model(of, &all, 1, &model) == TUTTI_OK) {
    found.model_ns = point_time(of, length, &all, &model);
    for (size_t n = 0; n < TT_COUNT(protocols); n++)
      found.simgrid_ns[n] = play_under(protocols[n], of, length, &all, &model);
  }
  plans_close(&all);
  return found;
}

static void print_times(const point *of, int length, const char *kind, const char *params) {
  times found = times_of(of, length, params);
  char text[32] = "failed";
  if (faster_ns(&found) >= 0)
    snprintf(text, sizeof text, "%.0f", faster_ns(&found));
  printf("%s %d %s %s %.0f %s\n", tt_compose_info(of->collective).name, (int)of->bytes[length], text, kind,
         found.model_ns, params);
  fflush(stdout);
}

/* ---- what is played ---- */

static int by_time(const void *a, const void *b) {
  double x = (*(const candidate *const *)a)->time_ns[0], y = (*(const candidate *const *)b)->time_ns[0];
  return (x > y) - (x < y);
}

static void print_candidates(const point *of, int most) {
  candidates all;
  candidates_make(of, &all);
  candidates_judge(of, most, &all);
  for (int length = 0; length < of->length_count; length++) {
    candidate *best[64];
    int count = 0;
    for (int n = 0; n < all.count; n++)
      if (all.of[n].alive >> length & 1 && count < (int)TT_COUNT(best)) {
        all.of[n].time_ns[0] = all.of[n].time_ns[length];
        best[count++] = &all.of[n];
      }
    qsort(best, (size_t)count, sizeof best[0], by_time);
    for (int k = 0; k < count; k++) {
      char params[240];
      snprintf(params, sizeof params, "%s slice=%d", best[k]->text, (int)best[k]->slice_bytes);
      print_times(of, length, k ? "candidate" : "chosen", best[k]->slice_bytes ? params : best[k]->text);
    }
  }
  free(all.of);
}

static tutti_status print_shipped(const point *of, const tt_profile *profile) {
  plans all;
  tt_sim_model model;
  tutti_status status = point_plans(of, "linear", &all);
  if (status == TUTTI_OK)
    status = point_model(of, &all, 1, &model);
  for (int n = 0; n < of->length_count && status == TUTTI_OK; n++) {
    int64_t nics = model.level[all.topo->level_count - 2].links;
    tt_region region = tt_region_of(all.topo, of->collective, point_total(of, n), nics, 0, of->on->per_node);
    const tt_rule *rule = tt_profile_find(profile, &region);
    print_times(of, n, "shipped", rule ? rule->text : tt_choose_fallback().text);
  }
  plans_close(&all);
  return status;
}

/* ---- command line ---- */

static int write_platform(const point *of, const char *prefix) {
  plans all;
  tt_sim_model model;
  char path[4096];
  tutti_status status = plans_begin(&all, of->ranks, NULL, false);
  if (status == TUTTI_OK)
    status = machine_place(of->on, &all);
  if (status == TUTTI_OK)
    status = point_model(of, &all, 1, &model);
  snprintf(path, sizeof path, "%s.xml", prefix);
  FILE *platform = status == TUTTI_OK ? fopen(path, "w") : NULL;
  snprintf(path, sizeof path, "%s.hosts", prefix);
  FILE *hosts = platform ? fopen(path, "w") : NULL;
  for (int64_t r = 0; r < of->ranks && hosts; r++)
    fprintf(hosts, "n%d\n", (int)platform_host(all.topo, r));
  if (hosts)
    platform_write(&model, platform);
  bool written = hosts && fclose(hosts) == 0 && fclose(platform) == 0;
  if (written)
    printf("%.15g\n", model.gamma_ns); /* which no platform has */
  else
    fprintf(stderr, "simulated_plans: cannot write %s\n", path);
  plans_close(&all);
  return written ? 0 : 1;
}

static const machine *machine_named(const char *key) {
  size_t count;
  const machine *all = machines_all(&count);
  for (size_t n = 0; n < count; n++)
    if (strcmp(all[n].key, key) == 0)
      return &all[n];
  fprintf(stderr, "simulated_plans: there is no machine '%s'\n", key);
  exit(2);
}

static tt_collective collective_named(const char *name) {
  tt_collective found = tt_compose_find(name);
  if (found < TT_COLLECTIVE_COUNT)
    return found;
  fprintf(stderr, "simulated_plans: there is no collective '%s'\n", name);
  exit(2);
}

static int play_one(char **argv) {
  point of = {.on = machine_named(argv[0]),
              .ranks = atoll(argv[1]),
              .collective = collective_named(argv[2]),
              .bytes = {atoll(argv[3])},
              .length_count = 1};
  times found = times_of(&of, 0, argv[4]);
  printf("%.0f %.0f %.0f\n", found.model_ns, found.simgrid_ns[0], found.simgrid_ns[1]);
  return faster_ns(&found) >= 0 ? 0 : 1;
}

static int print_points(int argc, char **argv) {
  point of = {.on = machine_named(argv[1]), .ranks = atoll(argv[2]), .collective = collective_named(argv[4])};
  tt_profile *profile;
  for (int n = 5; n < argc && of.length_count < LENGTHS_MOST; n++)
    of.bytes[of.length_count++] = atoll(argv[n]);
  tutti_status status = tt_profile_open(NULL, &profile);
  if (status == TUTTI_OK)
    status = print_shipped(&of, profile);
  if (status != TUTTI_OK)
    return fprintf(stderr, "simulated_plans: %s\n", tutti_last_error()), 1;
  print_candidates(&of, atoi(argv[3]));
  tt_profile_close(profile);
  return 0;
}

int main(int argc, char **argv) {
  if (argc == 5 && strcmp(argv[1], "--platform") == 0)
    return write_platform(&(point){.on = machine_named(argv[2]), .ranks = atoll(argv[3])}, argv[4]);
  if (argc == 7 && strcmp(argv[1], "--play") == 0)
    return play_one(argv + 2);
  if (argc < 6 || argv[1][0] == '-')
    return fprintf(stderr, "usage: simulated_plans MACHINE RANKS MOST COLLECTIVE BYTES [BYTES ...]\n"), 2;
  return print_points(argc, argv);
}
