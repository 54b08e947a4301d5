/* tools/topo/topo.c - `tutti topo`: this machine, a recorded one, or the network that a switch file describes; and
 * where ranks would better be. */
#include "topo.h"
#include "calls.h"
#include "machine.h"
#include "network.h"
#include "place.h"
#include "ranks.h"
#include "subject.h"
#include "svg.h"

#include "tools/shared/shared.h"

#include <getopt.h> /* optind */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tutti topo [options]\n"
    "       tutti topo --place [options] COLLECTIVE [SIZE]\n"
    "       tutti topo --place [options] --stats FILE\n"
    "\n"
    "Shows a machine: which cores share what, memory, devices, and which NICs are rails. Or a network: the switches\n"
    "above each node (docs/topology.md).\n"
    "\n"
    "  --file FILE       show this instead: a folder written by --record, an XML file of lstopo, or a switch file\n"
    "  --ranks MAP       also show where ranks would be, and the resulting levels. MAP gives each rank a core, or\n"
    "                    in a network a node: 4x8 (4 of them with 8 ranks each), 7,8,3,1 (the number of ranks on\n"
    "                    each), 0,0,3,2: (the numbers themselves), or cyclic:4\n"
    "  -n N              number of ranks (needed if --ranks does not give it)\n"
    "  --svg FILE        draw it (- is standard output; then nothing else is printed)\n"
    "  --record FOLDER   write this machine's topology and NICs, for --file\n"
    "\n"
    "--place compares placements of the ranks by their modelled times, for a collective of SIZE bytes (1M) or for the\n"
    "collectives of a job, and says how a launcher is told:\n"
    "\n"
    "  --stats FILE      what TUTTI_STATS=FILE.json has written at the end of a job (docs/mpi.md)\n"
    "  --file FILE       the nodes and switches; otherwise all nodes are alike\n"
    "  -n N, --nodes N   the current placement: in rank order on so many nodes\n"
    "  --groups MAP      the current placement: a node for each rank, as for tutti plan\n"
    "  --params TEXT     parameters; otherwise those of the shipped profile, or of the statistics\n"
    "  --root R, --graph GRAPH, --model TEXT  as for tutti plan\n"
    "  --write FILE      write the best placement: a line for each rank, its host\n";

#define RANKS_MOST (INT32_MAX / 64)

typedef struct options {
  plan_options plan; /* of --place */
  const char *file, *ranks, *svg, *record, *stats, *write;
  const char *size; /* behind the collective */
  bool place;
} options;

static int take_help(void *out, const char *value) {
  (void)out;
  (void)value;
  fputs(help, stdout);
  return TOOL_HELPED;
}

static const tool_option rows[] = {
    PLAN_SUBJECT_ROWS,
    {"params", 0, TOOL_TEXT, offsetof(options, plan.params), NULL},
    {"place", 0, TOOL_SET, offsetof(options, place), NULL},
    {"stats", 0, TOOL_TEXT, offsetof(options, stats), NULL},
    {"write", 0, TOOL_TEXT, offsetof(options, write), NULL},
    {"file", 0, TOOL_TEXT, offsetof(options, file), NULL},
    {"ranks", 0, TOOL_TEXT, offsetof(options, ranks), NULL},
    {"svg", 0, TOOL_TEXT, offsetof(options, svg), NULL},
    {"record", 0, TOOL_TEXT, offsetof(options, record), NULL},
    {"help", 0, TOOL_DO, 0, take_help},
};

#define FAIL(...) tool_fail("topo", TOOL_WRONG, __VA_ARGS__)

static int check_shown(const options *out, int argc, char **argv) {
  const plan_options *plan = &out->plan;
  if (optind < argc)
    return FAIL("'%s' is not an option; name a file with --file", argv[optind]);
  if (out->record && out->file[0])
    return FAIL("--record writes this machine; --file %s is another", out->file);
  if (plan->problem.rank_count && !out->ranks)
    return FAIL("-n goes with --ranks");
  if (plan->problem.rank_count > RANKS_MOST)
    return FAIL("-n %" PRId64 ": a number from 1 to %d is needed", plan->problem.rank_count, RANKS_MOST);
  if (plan->map || plan->node_count || plan->graph_text || plan->models || plan->params[0] || out->stats || out->write)
    return FAIL("--groups, --nodes, --graph, --model, --params, --stats and --write go with --place");
  return TOOL_GO_ON;
}

/* What plan_subject_check needs beside the options: a collective, and how many ranks. */
static int take_calls(options *out, int argc, char **argv) {
  if (!out->stats) {
    out->plan.collective = optind < argc ? argv[optind++] : NULL;
    out->size = optind < argc ? argv[optind++] : NULL;
    return 0;
  }
  out->plan.collective = out->plan.graph_text ? "neighbor-all-to-all" : "barrier"; /* the file has those that count */
  if (out->plan.params[0])
    return FAIL("--params: the statistics have the parameters of each collective");
  if (!out->plan.problem.rank_count && !out->plan.map &&
      topo_stats_ranks(out->stats, &out->plan.problem.rank_count) != TUTTI_OK)
    return FAIL("%s", tutti_last_error());
  return 0;
}

static int check_place(options *out, int argc, char **argv) {
  if (out->ranks || out->svg || out->record)
    return FAIL(
        "--place: --ranks, --svg and --record are for what is shown; give the placement with --nodes or --groups");
  if (take_calls(out, argc, argv) != 0 || plan_subject_check(&out->plan) != 0)
    return TOOL_WRONG;
  return optind < argc ? FAIL("--place: '%s' is one word too many; write COLLECTIVE SIZE", argv[optind]) : TOOL_GO_ON;
}

static int parse(int argc, char **argv, options *out) {
  plan_subject_init("topo", &out->plan);
  int result = tool_options_read(argc, argv, "", rows, TT_COUNT(rows), out);
  if (result != TOOL_GO_ON)
    return result;
  return out->place ? check_place(out, argc, argv) : check_shown(out, argc, argv);
}

static tutti_status show(const options *given, topo_subject *subject) {
  tutti_status status = topo_subject_open(given->file, subject);
  bool silent = given->svg && strcmp(given->svg, "-") == 0;
  if (status == TUTTI_OK && given->place)
    return topo_place(&(topo_place_options){&given->plan, given->size, given->stats, given->write}, subject);
  if (status == TUTTI_OK && !silent) {
    status = (subject->machine ? topo_print_machine : topo_print_network)(subject);
    if (status == TUTTI_OK && !given->file[0])
      status = topo_print_own_switches(&subject->arena);
    if (status == TUTTI_OK && given->ranks)
      status = topo_print_ranks(subject, given->ranks, given->plan.problem.rank_count);
  }
  return status == TUTTI_OK && given->svg ? topo_write_svg(subject, given->svg) : status;
}

int tt_tool_topo(int argc, char **argv) {
  options given = {.file = ""};
  topo_subject subject;
  int parsed = parse(argc, argv, &given);
  if (parsed != TOOL_GO_ON) {
    plan_options_finish(&given.plan);
    return parsed == TOOL_HELPED ? EXIT_SUCCESS : TOOL_MISUSED;
  }
  tutti_status status = show(&given, &subject);
  if (status == TUTTI_OK && given.record)
    status = topo_subject_record(given.record);
  topo_subject_close(&subject);
  plan_options_finish(&given.plan);
  int failed = status == TUTTI_ERR_ARGUMENT ? TOOL_MISUSED : EXIT_FAILURE;
  return status == TUTTI_OK ? EXIT_SUCCESS : tool_fail("topo", failed, "%s", tutti_last_error());
}
