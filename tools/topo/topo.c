/* tools/topo/topo.c - `tutti topo`: this machine, a recorded one, or the network that a switch file describes. */
#include "topo.h"
#include "machine.h"
#include "network.h"
#include "ranks.h"
#include "subject.h"
#include "svg.h"

#include "tools/shared/shared.h"

#include <getopt.h> /* optind */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char help[] =
    "usage: tutti topo [options]\n"
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
    "  --record FOLDER   write this machine's topology and NICs, for --file\n";

#define RANKS_MOST (INT32_MAX / 64)

typedef struct options {
  const char *file, *ranks, *svg, *record;
  int64_t rank_count;
} options;

static int take_count(void *to, const char *text) {
  options *out = to;
  if (tool_read_number(text, 1, RANKS_MOST, &out->rank_count))
    return 0;
  return tool_fail("topo", TOOL_WRONG, "-n %s: a number from 1 to %d is needed", text, RANKS_MOST);
}

static int take_help(void *out, const char *value) {
  (void)out;
  (void)value;
  fputs(help, stdout);
  return TOOL_HELPED;
}

static const tool_option rows[] = {
    {NULL, 'n', TOOL_TAKE, 0, take_count},
    {"file", 0, TOOL_TEXT, offsetof(options, file), NULL},
    {"ranks", 0, TOOL_TEXT, offsetof(options, ranks), NULL},
    {"svg", 0, TOOL_TEXT, offsetof(options, svg), NULL},
    {"record", 0, TOOL_TEXT, offsetof(options, record), NULL},
    {"help", 0, TOOL_DO, 0, take_help},
};

static int parse(int argc, char **argv, options *out) {
  int result = tool_options_read(argc, argv, "", rows, TT_COUNT(rows), out);
  if (result != TOOL_GO_ON)
    return result;
  if (optind < argc)
    return tool_fail("topo", TOOL_WRONG, "'%s' is not an option; name a file with --file", argv[optind]);
  if (out->record && out->file[0])
    return tool_fail("topo", TOOL_WRONG, "--record writes this machine; --file %s is another", out->file);
  if (out->rank_count && !out->ranks)
    return tool_fail("topo", TOOL_WRONG, "-n goes with --ranks");
  return TOOL_GO_ON;
}

static tutti_status show(const options *given, topo_subject *subject) {
  tutti_status status = topo_subject_open(given->file, subject);
  bool silent = given->svg && strcmp(given->svg, "-") == 0;
  if (status == TUTTI_OK && !silent) {
    status = (subject->machine ? topo_print_machine : topo_print_network)(subject);
    if (status == TUTTI_OK && !given->file[0])
      status = topo_print_own_switches(&subject->arena);
    if (status == TUTTI_OK && given->ranks)
      status = topo_print_ranks(subject, given->ranks, given->rank_count);
  }
  return status == TUTTI_OK && given->svg ? topo_write_svg(subject, given->svg) : status;
}

int tt_tool_topo(int argc, char **argv) {
  options given = {.file = ""};
  topo_subject subject;
  int parsed = parse(argc, argv, &given);
  if (parsed != TOOL_GO_ON)
    return parsed == TOOL_HELPED ? EXIT_SUCCESS : TOOL_MISUSED;
  tutti_status status = show(&given, &subject);
  if (status == TUTTI_OK && given.record)
    status = topo_subject_record(given.record);
  topo_subject_close(&subject);
  int failed = status == TUTTI_ERR_ARGUMENT ? TOOL_MISUSED : EXIT_FAILURE;
  return status == TUTTI_OK ? EXIT_SUCCESS : tool_fail("topo", failed, "%s", tutti_last_error());
}
