/* tools/topo/topo.c - `tutti topo`: this machine, a recorded one, or the network that a switch file describes. */
#include "topo.h"

#include "tools/tools.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- what is shown ---- */

static bool is_folder(const char *path) {
  struct stat is;
  return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

/* What hwloc records begins with an angle bracket, which no switch has in its name. */
static tutti_status find_out(const char *path, bool *is_xml) {
  FILE *in = fopen(path, "r");
  if (!in)
    return tt_fail(TUTTI_ERR_ARGUMENT, "cannot open '%s': %s", path, strerror(errno));
  int first = ' ';
  while (isspace(first))
    first = getc(in);
  fclose(in);
  *is_xml = first == '<';
  return TUTTI_OK;
}

static tutti_status open_machine(const char *xml, const char *folder, topo_subject *subject) {
  tutti_status status = tt_machine_read(xml, &subject->arena, &subject->machine);
  return status == TUTTI_OK && folder ? tt_nics_find(folder, subject->nic, TT_NICS_MOST, &subject->nic_count) : status;
}

tutti_status topo_subject_open(const char *path, topo_subject *subject) {
  bool is_xml = false;
  *subject = (topo_subject){.path = path};
  tt_arena_init(&subject->arena);
  if (!path[0])
    return open_machine("", "", subject);
  if (is_folder(path)) {
    const char *xml = tt_arena_format(&subject->arena, "%s/machine.xml", path);
    if (!xml)
      return tt_fail(TUTTI_ERR_MEMORY, "no memory for '%s'", path);
    tutti_status status = find_out(xml, &is_xml);
    return status == TUTTI_OK ? open_machine(xml, path, subject) : status;
  }
  tutti_status status = find_out(path, &is_xml);
  if (status != TUTTI_OK)
    return status;
  return is_xml ? open_machine(path, NULL, subject) : tt_switches_open(path, &subject->arena, &subject->network);
}

void topo_subject_close(topo_subject *subject) { tt_arena_finish(&subject->arena); }

static tutti_status record(const char *folder, tt_arena *arena) {
  tt_nic nic[TT_NICS_MOST];
  int64_t count;
  const char *xml = tt_arena_format(arena, "%s/machine.xml", folder);
  const char *text = tt_arena_format(arena, "%s/nics.txt", folder);
  if (!xml || !text)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for '%s'", folder);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot make '%s': %s", folder, strerror(errno));
  tutti_status status = tt_machine_record(xml);
  if (status == TUTTI_OK)
    status = tt_nics_find("", nic, TT_NICS_MOST, &count);
  if (status != TUTTI_OK)
    return status;
  FILE *out = fopen(text, "w");
  if (out)
    tt_nics_record(nic, count, out);
  bool written = out && !ferror(out);
  if ((out && fclose(out) != 0) || !written)
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot write '%s': %s", text, strerror(errno));
  return TUTTI_OK;
}

tutti_status topo_subject_record(const char *folder) {
  tt_arena arena;
  tt_arena_init(&arena);
  tutti_status status = record(folder, &arena);
  tt_arena_finish(&arena);
  return status;
}

/* ---- the command ---- */

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

enum { FILE_NAME = 256, RANKS, SVG, RECORD, HELP };

static const struct option table[] = {
    {"file", required_argument, NULL, FILE_NAME},
    {"ranks", required_argument, NULL, RANKS},
    {"svg", required_argument, NULL, SVG},
    {"record", required_argument, NULL, RECORD},
    {"help", no_argument, NULL, HELP},
    {NULL, 0, NULL, 0},
};

typedef struct options {
  const char *file, *ranks, *svg, *record;
  int64_t rank_count;
} options;

static bool read_count(const char *text, int64_t *count) {
  char *rest;
  errno = 0;
  long long number = strtoll(text, &rest, 10);
  if (rest == text || *rest || errno || number < 1 || number > INT32_MAX / 64) {
    fprintf(stderr, "tutti topo: -n %s: expected a number from 1 to %d\n", text, INT32_MAX / 64);
    return false;
  }
  *count = number;
  return true;
}

/* -1: go on; else the exit status. */
static int take(int option, options *out) {
  switch (option) {
  case 'n':
    return read_count(optarg, &out->rank_count) ? -1 : 2;
  case FILE_NAME:
    out->file = optarg;
    return -1;
  case RANKS:
    out->ranks = optarg;
    return -1;
  case SVG:
    out->svg = optarg;
    return -1;
  case RECORD:
    out->record = optarg;
    return -1;
  case HELP:
    fputs(help, stdout);
    return 0;
  default:
    return 2;
  }
}

static int parse(int argc, char **argv, options *out) {
  int option;
  optind = 1;
  while ((option = getopt_long(argc, argv, "n:", table, NULL)) != -1) {
    int code = take(option, out);
    if (code >= 0)
      return code;
  }
  if (optind < argc) {
    fprintf(stderr, "tutti topo: '%s' is not an option; name a file with --file\n", argv[optind]);
    return 2;
  }
  if (out->record && out->file[0]) {
    fprintf(stderr, "tutti topo: --record writes this machine, but --file %s is another one; give only one of them\n",
            out->file);
    return 2;
  }
  if (out->rank_count && !out->ranks) {
    fprintf(stderr, "tutti topo: -n needs --ranks\n");
    return 2;
  }
  return -1;
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
  int code = parse(argc, argv, &given);
  if (code >= 0)
    return code;
  tutti_status status = show(&given, &subject);
  if (status == TUTTI_OK && given.record)
    status = topo_subject_record(given.record);
  topo_subject_close(&subject);
  if (status != TUTTI_OK)
    fprintf(stderr, "tutti topo: %s\n", tutti_last_error());
  return status == TUTTI_OK ? 0 : status == TUTTI_ERR_ARGUMENT ? 2 : 1;
}
