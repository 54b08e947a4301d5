/* tests/simgrid/platform.c - the machine as SimGrid reads it: a host a node, the links of each group, explicit routes.
 *
 *     n0 --> fly.L.0 --> node.out.0 --> switch.out.0 --> switch.in.1 --> node.in.9 --> n9
 *
 * fly.L.H has the whole way's alpha and the slowest beta on it, for each packet by itself (a FATPIPE in SimGrid's
 * words); each host H has its own, because SimGrid looks at all packets on a link whenever one of them begins or ends.
 * A group of k links is one of the bandwidth of all, of which a packet gets no more than one link's thanks to fly.L.H.
 * There is one of these for each outermost level, since SimGrid gives packets of longer latency less of any link that
 * they share with others, and of a FATPIPE, too. Ways over a slow link have one of its rate: a packet alone on SHARED
 * links was seen to go as fast as its FATPIPE. Two ranks of a node have nothing but the innermost fly.L.H between them.
 */
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

static const tt_topo_level *nodes(const tt_topo *topo) {
  return topo->level_count > 1 ? &topo->level[topo->level_count - 2] : NULL;
}

int64_t platform_host(const tt_topo *topo, int64_t rank) { return nodes(topo) ? nodes(topo)->group_of[rank] : rank; }

int64_t platform_hosts(const tt_topo *topo) { return nodes(topo) ? nodes(topo)->group_count : topo->rank_count; }

/* fly.L.H, or slow.L.N.G where group G's link of level N is the slowest on the way and slower than usual. */
static void fly_name(const tt_sim_model *model, int64_t from, int64_t to, char name[static 64]) {
  int outermost = tt_sim_model_level(model, from, to);
  double slowest = slowest_ns(model, outermost);
  snprintf(name, 64, "fly.%d.%d", outermost, (int)platform_host(model->topo, from));
  for (int n = outermost; n + 1 < model->topo->level_count; n++)
    for (int way = 0; way < 2; way++) {
      int64_t group = model->topo->level[n].group_of[way ? to : from];
      if (link_ns(model, n, group) > slowest) {
        slowest = link_ns(model, n, group);
        snprintf(name, 64, "slow.%d.%d.%d", outermost, n, (int)group);
      }
    }
}

static void write_slow(const tt_sim_model *model, int outermost, FILE *file) {
  char name[64];
  for (int n = outermost; n < model->topo->level_count; n++)
    for (int64_t g = 0; g < model->topo->level[n].group_count; g++)
      if (link_ns(model, n, g) > slowest_ns(model, outermost)) {
        snprintf(name, sizeof name, "slow.%d.%d.%d", outermost, n, (int)g);
        write_link(file, name, bytes_per_us(link_ns(model, n, g)), model->level[outermost].alpha_ns / 1000, false);
      }
}

static void write_links(const tt_sim_model *model, int n, FILE *file) {
  const tt_sim_level *level = &model->level[n];
  char name[64];
  for (int64_t h = 0; h < platform_hosts(model->topo); h++) {
    snprintf(name, sizeof name, "fly.%d.%d", n, (int)h);
    write_link(file, name, bytes_per_us(slowest_ns(model, n)), level->alpha_ns / 1000, false);
  }
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
  fprintf(file, "<route src=\"n%d\" dst=\"n%d\" symmetrical=\"NO\"><link_ctn id=\"%s\"/>",
          (int)platform_host(model->topo, from), (int)platform_host(model->topo, to), fly);
  for (int n = outermost; n + 1 < model->topo->level_count; n++)
    if (model->level[n].links > 0)
      fprintf(file, "<link_ctn id=\"out.%d.%d\"/><link_ctn id=\"in.%d.%d\"/>", n,
              (int)model->topo->level[n].group_of[from], n, (int)model->topo->level[n].group_of[to]);
  fprintf(file, "</route>\n");
}

/* A rank of each host. */
static int64_t *first_ranks(const tt_topo *topo, int64_t hosts) {
  int64_t *first = calloc((size_t)hosts, sizeof *first);
  if (!first)
    abort();
  for (int64_t r = topo->rank_count; r-- > 0;)
    first[platform_host(topo, r)] = r;
  return first;
}

/* needed: [from][to]; NULL: all are. */
static void write_routes(const tt_sim_model *model, const bool *needed, FILE *file) {
  int64_t hosts = platform_hosts(model->topo), *first = first_ranks(model->topo, hosts);
  for (int64_t from = 0; from < hosts; from++)
    for (int64_t to = 0; to < hosts; to++)
      if (!needed || needed[from * hosts + to])
        write_route(model, first[from], first[to], file);
  free(first);
}

static void write_all(const tt_sim_model *model, const bool *needed, FILE *file) {
  fprintf(file, "<?xml version='1.0'?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
                "<platform version=\"4.1\"><zone id=\"all\" routing=\"Full\">\n");
  for (int64_t h = 0; h < platform_hosts(model->topo); h++)
    fprintf(file, "<host id=\"n%d\" speed=\"1Gf\"/>\n", (int)h);
  for (int n = 0; n < model->topo->level_count; n++)
    write_links(model, n, file);
  write_routes(model, needed, file);
  fprintf(file, "</zone></platform>\n");
}

void platform_write(const tt_sim_model *model, FILE *file) { write_all(model, NULL, file); }

static void need_routes(const tt_topo *topo, const tt_plan *plan, bool *needed) {
  int64_t hosts = platform_hosts(topo), from = platform_host(topo, plan->rank);
  for (uint32_t n = 0; n < plan->step_count; n++)
    if (plan->step[n].kind == TT_STEP_SEND)
      needed[from * hosts + platform_host(topo, plan->step[n].peer)] = true;
}

void platform_write_for(const played *of, FILE *file) {
  const tt_topo *topo = of->model->topo;
  int64_t hosts = platform_hosts(topo);
  bool *needed = calloc((size_t)(hosts * hosts), sizeof *needed);
  if (!needed)
    abort();
  for (int c = 0; c < of->call_count; c++)
    for (int64_t r = 0; r < topo->rank_count; r++)
      need_routes(topo, of->all[c]->plan[r], needed);
  write_all(of->model, needed, file);
  free(needed);
}
