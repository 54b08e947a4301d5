/* tests/simgrid/platform.c - the machine as SimGrid reads it: a host a rank, the links of each group, explicit routes.
 *
 *     r0 --> fly.L --> node.out.0 --> switch.out.0 --> switch.in.1 --> node.in.9 --> r37
 *
 * fly.L has the whole way's alpha and the slowest beta on it, for each packet by itself (a FATPIPE in SimGrid's words).
 * A group of k links is one of the bandwidth of all, of which a packet gets no more than one link's thanks to fly.L.
 * There is one of these for each outermost level, since SimGrid gives packets of longer latency less of any link that
 * they share with others, and of a FATPIPE, too. Ways over a slow link have one of its rate: a packet alone on SHARED
 * links was seen to go as fast as its FATPIPE. */
#include "compare.h"

static double bytes_per_us(double beta_ns) { return 1000 / (beta_ns > 1e-9 ? beta_ns : 1e-9); }

static void write_link(FILE *file, const char *name, double rate, double latency_us, bool shared) {
  fprintf(file, "<link id=\"%s\" bandwidth=\"%.15gBps\" latency=\"%.15gs\" sharing_policy=\"%s\"/>\n", name, rate,
          latency_us, shared ? "SHARED" : "FATPIPE");
}

static double slowest_ns(const tt_sim_model *model, int outermost) {
  double slowest = model->level[outermost].beta_ns;
  for (int n = outermost; n < model->topo->level_count; n++)
    if (model->level[n].links > 0 && model->level[n].beta_ns > slowest)
      slowest = model->level[n].beta_ns;
  return slowest;
}

static double link_ns(const tt_sim_model *model, int n, int64_t group) {
  return model->level[n].links == 1 ? tt_sim_link_ns(model, n, group, 0) : model->level[n].beta_ns;
}

/* fly.L, or fly.L.N.G where group G's link of level N is the slowest on the way and slower than usual. */
static void fly_name(const tt_sim_model *model, int64_t from, int64_t to, char name[static 64]) {
  int outermost = tt_sim_model_level(model, from, to);
  double slowest = slowest_ns(model, outermost);
  snprintf(name, 64, "fly.%d", outermost);
  for (int n = outermost; n + 1 < model->topo->level_count; n++)
    for (int way = 0; way < 2; way++) {
      int64_t group = model->topo->level[n].group_of[way ? to : from];
      if (link_ns(model, n, group) > slowest) {
        slowest = link_ns(model, n, group);
        snprintf(name, 64, "fly.%d.%d.%d", outermost, n, (int)group);
      }
    }
}

static void write_slow(const tt_sim_model *model, int outermost, FILE *file) {
  char name[64];
  for (int n = outermost; n < model->topo->level_count; n++)
    for (int64_t g = 0; g < model->topo->level[n].group_count; g++)
      if (link_ns(model, n, g) > slowest_ns(model, outermost)) {
        snprintf(name, sizeof name, "fly.%d.%d.%d", outermost, n, (int)g);
        write_link(file, name, bytes_per_us(link_ns(model, n, g)), model->level[outermost].alpha_ns / 1000, false);
      }
}

static void write_links(const tt_sim_model *model, int n, FILE *file) {
  const tt_sim_level *level = &model->level[n];
  char name[64];
  snprintf(name, sizeof name, "fly.%d", n);
  write_link(file, name, bytes_per_us(slowest_ns(model, n)), level->alpha_ns / 1000, false);
  write_slow(model, n, file);
  for (int64_t g = 0; g < model->topo->level[n].group_count && level->links > 0; g++)
    for (int way = 0; way < 2; way++) {
      double rate = 0;
      for (int64_t link = 0; link < level->links; link++)
        rate += bytes_per_us(tt_sim_link_ns(model, n, g, link));
      snprintf(name, sizeof name, "%s.%d.%d", way ? "in" : "out", n, (int)g);
      write_link(file, name, rate, 0, true);
    }
}

static void write_route(const tt_sim_model *model, int64_t from, int64_t to, FILE *file) {
  int outermost = tt_sim_model_level(model, from, to);
  char fly[64];
  fly_name(model, from, to, fly);
  fprintf(file, "<route src=\"r%d\" dst=\"r%d\" symmetrical=\"NO\"><link_ctn id=\"%s\"/>", (int)from, (int)to, fly);
  for (int n = outermost; n + 1 < model->topo->level_count; n++)
    if (model->level[n].links > 0)
      fprintf(file, "<link_ctn id=\"out.%d.%d\"/><link_ctn id=\"in.%d.%d\"/>", n,
              (int)model->topo->level[n].group_of[from], n, (int)model->topo->level[n].group_of[to]);
  fprintf(file, "</route>\n");
}

static void write_routes(const played *of, const tt_plan *plan, bool *known, FILE *file) {
  for (uint32_t n = 0; n < plan->step_count; n++)
    if (plan->step[n].kind == TT_STEP_SEND && !known[plan->step[n].peer]) {
      known[plan->step[n].peer] = true;
      write_route(of->model, plan->rank, plan->step[n].peer, file);
    }
}

void platform_write(const played *of, FILE *file) {
  fprintf(file, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                "<platform version=\"4.1\"><zone id=\"all\" routing=\"Full\">\n");
  int64_t ranks = of->model->topo->rank_count;
  for (int64_t r = 0; r < ranks; r++)
    fprintf(file, "<host id=\"r%d\" speed=\"1Gf\"/>\n", (int)r);
  for (int n = 0; n < of->model->topo->level_count; n++)
    write_links(of->model, n, file);
  for (int64_t r = 0; r < ranks; r++) {
    bool *known = calloc((size_t)ranks, sizeof *known);
    if (!known)
      abort();
    for (int c = 0; c < of->call_count; c++)
      write_routes(of, of->all[c]->plan[r], known, file);
    free(known);
  }
  fprintf(file, "</zone></platform>\n");
}
