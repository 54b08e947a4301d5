/* base/options.c - every environment variable that tutti reads: one row each, parsed once for the process.
 *
 * The documentation (docs/environment.md) and `tutti info` are made from this table. A value that does not parse is
 * reported on stderr and replaced by the default; an empty value is the default. */
#include "base/base.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROW(name, kind, minimum, fallback, member, help)                                                               \
  {name, kind, minimum, fallback, help, offsetof(tt_options, member)}

static const tt_option table[] = {
    ROW("TUTTI_LOG", TT_OPTION_INT, 0, "1", log,
        "What to log: 0 errors, 1 also warnings, 2 also information, 3 also debugging."),
    ROW("TUTTI_TIMEOUT", TT_OPTION_TIME, 0, "0", timeout_ns,
        "A call fails when it has waited this long for other ranks; 0: never."),
    ROW("TUTTI_CREATE_TIMEOUT", TT_OPTION_TIME, 0, "60s", create_timeout_ns,
        "Making a context or communicator fails after this time and names the missing ranks; 0: never."),
    ROW("TUTTI_VERIFY", TT_OPTION_FLAG, 0, "0", verify, "Prove every plan before its first use."),
    ROW("TUTTI_SPIN", TT_OPTION_INT, 0, "2000", spin,
        "Number of polls before a rank yields, if every rank has a core of its own."),
    ROW("TUTTI_SHARED_SPIN", TT_OPTION_TIME, 0, "500ns", shared_spin_ns,
        "How long a rank spins before it yields where ranks share cores, if it waits for ranks on other cores."),
    ROW("TUTTI_YIELD", TT_OPTION_TIME, 0, "200us", yield_ns, "How long a rank yields before it sleeps."),
    ROW("TUTTI_PROGRESS", TT_OPTION_TEXT, 0, "", progress,
        "thread: a thread of tutti advances outstanding requests while the program computes; empty: only calls advance "
        "them."),
    ROW("TUTTI_PROGRESS_CORE", TT_OPTION_INT, -1, "-1", progress_core,
        "Core of the progress thread; -1: any core on which the program may run."),
    ROW("TUTTI_SLOT_BYTES", TT_OPTION_BYTES, 0, "0", slot_bytes, "Size of a slot; 0: depends on the ranks per node."),
    ROW("TUTTI_SLOT_COUNT", TT_OPTION_INT, 1, "4", slot_count, "Number of slots of a stream."),
    ROW("TUTTI_DIRECT_BYTES", TT_OPTION_BYTES, 0, "16K", direct_bytes, "Largest message of the direct executor."),
    ROW("TUTTI_MEDIUM", TT_OPTION_TEXT, 0, "", medium,
        "The medium between ranks of a machine, wherever it is possible: cell, slot, published, lent or read (the last "
        "two in pieces of any length); empty: chosen block by block."),
    ROW("TUTTI_LEND_BYTES", TT_OPTION_BYTES, 1, "4K", bytes.lend,
        "Shortest piece that is lent to its readers, where possible, instead of being copied into a slot."),
    ROW("TUTTI_READ_BYTES", TT_OPTION_BYTES, 0, "0", read_bytes,
        "Shortest piece that is read from another process's memory with `single-copy`; 0: depends on how fast that is "
        "on this machine."),
    ROW("TUTTI_FETCH_BYTES", TT_OPTION_BYTES, 1, "1M", bytes.fetch,
        "Largest piece that is read at once from another process's memory if it is only stored."),
    ROW("TUTTI_COMBINE_BYTES", TT_OPTION_BYTES, 1, "128K", bytes.combine,
        "Largest piece that is read at once from another process's memory if it is combined; it stays in the cache."),
    ROW("TUTTI_NONTEMPORAL_BYTES", TT_OPTION_BYTES, 0, "16M", bytes.nontemporal,
        "Size of all blocks together from which results that are not read soon bypass the cache."),
    ROW("TUTTI_CMA", TT_OPTION_FLAG, 1, "1", cma,
        "Test whether ranks may read each other's memory. If so, parameters with `single-copy` copy messages only "
        "once."),
    ROW("TUTTI_HEAP", TT_OPTION_TEXT, 0, "", heap.wanted,
        "on: `tutti run` and `tutti mpirun` preload libtutti-heap.so, so that ranks of a machine read each other's "
        "large blocks of malloc where they lie. parts: also blocks of which calls use only a part. statics: also "
        "static arrays of the program. Both: parts,statics."),
    ROW("TUTTI_HEAP_BYTES", TT_OPTION_BYTES, 4096, "64K", heap.bytes, "Shortest block of that heap."),
    ROW("TUTTI_PARAMS", TT_OPTION_TEXT, 0, "", choice.params,
        "Parameters for every collective, instead of the profile's choice; a call for which they make no plan is an "
        "error."),
    ROW("TUTTI_PROFILE", TT_OPTION_TEXT, 0, "", choice.profile, "Path of a profile file; empty: the one that ships."),
    ROW("TUTTI_WISDOM", TT_OPTION_TEXT, 0, "", choice.wisdom,
        "Path of the choices that `tutti tune` has measured; empty: those of this machine in the user's cache; off: "
        "none."),
    ROW("TUTTI_GROUPS", TT_OPTION_TEXT, 0, "", groups,
        "Group map of level \"node\", to try hierarchical plans on one machine: 2x4, 5,3 or cyclic:2."),
    ROW("TUTTI_NODES", TT_OPTION_TEXT, 0, "", nodes,
        "Map of ranks to pretended machines, to try tutti between machines on one: 2x4, 5,3 or cyclic:2; empty: the "
        "real machines."),
    ROW("TUTTI_NICS", TT_OPTION_TEXT, 0, "", nics,
        "NICs that carry data between machines, in order: eth0,eth1; empty: all suitable ones."),
    ROW("TUTTI_FAR", TT_OPTION_TEXT, 0, "tcp", far,
        "Transport between machines: tcp, or another that `tutti info` lists, such as ucx for RDMA fabrics."),
    ROW("TUTTI_FAR_SLOTS", TT_OPTION_INT, 1, "16", between.slots,
        "Number of slots of a stream between machines, over tcp and ucx; at most 1024."),
    ROW("TUTTI_FAR_BULK", TT_OPTION_BYTES, 1, "16K", between.bulk_bytes,
        "Shortest message between machines that justifies another connection or NIC while others are busy."),
    ROW("TUTTI_FAR_BATCH", TT_OPTION_BYTES, 1, "64K", between.batch_bytes,
        "Bytes that one system call of tcp sends, unless a message is longer."),
    ROW("TUTTI_TOPOLOGY", TT_OPTION_TEXT, 0, "", topology,
        "Path of a file that lists the switches above each machine: Slurm's topology.conf, or see docs/topology.md. "
        "Without it the levels of a job are node and core."),
    ROW("TUTTI_BOOT", TT_OPTION_TEXT, 0, "", set.boot, "How ranks find each other; set by the launcher."),
    ROW("TUTTI_RANK", TT_OPTION_INT, -1, "-1", set.rank, "Number of this rank; set by the launcher."),
    ROW("TUTTI_SIZE", TT_OPTION_INT, -1, "-1", set.size, "Number of ranks; set by the launcher."),
};

const tt_option *tt_option_table(size_t *count) {
  *count = TT_COUNT(table);
  return table;
}

static tutti_status parse_int(const char *text, int64_t minimum, int64_t *value) {
  char *end;
  errno = 0;
  int64_t number = strtoll(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0')
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is not a number", text);
  if (number < minimum)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%" PRId64 " is less than %" PRId64, number, minimum);
  *value = number;
  return TUTTI_OK;
}

static tutti_status parse_measure(const tt_option *row, const char *text, int64_t *value) {
  tutti_status status = row->kind == TT_OPTION_BYTES ? tt_parse_bytes(text, value) : tt_parse_time(text, value);
  if (status == TUTTI_OK && *value < row->minimum)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s is less than %" PRId64, text, row->minimum);
  return status;
}

static tutti_status parse_flag(const char *text, int64_t *value) {
  if (strcmp(text, "0") != 0 && strcmp(text, "1") != 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' is neither 0 nor 1", text);
  *value = text[0] - '0';
  return TUTTI_OK;
}

static tutti_status parse_text(const char *text, const char *fallback, const char **value) {
  char *copy = strdup(text);
  *value = copy != NULL ? copy : fallback;
  return copy != NULL ? TUTTI_OK : tt_fail(TUTTI_ERR_MEMORY, "no memory for '%s'", text);
}

static tutti_status parse_row(const tt_option *row, const char *text, tt_options *options) {
  assert(row->offset < sizeof *options);
  void *member = (char *)options + row->offset;
  switch (row->kind) {
  case TT_OPTION_FLAG:
    return parse_flag(text, member);
  case TT_OPTION_INT:
    return parse_int(text, row->minimum, member);
  case TT_OPTION_BYTES:
  case TT_OPTION_TIME:
    return parse_measure(row, text, member);
  case TT_OPTION_TEXT:
    return parse_text(text, row->fallback, member);
  }
  assert(false); /* an option of no kind */
  return TUTTI_ERR_ARGUMENT;
}

static tt_options options;
static pthread_once_t options_once = PTHREAD_ONCE_INIT;

static void parse_environment(void) {
  for (size_t r = 0; r < TT_COUNT(table); r++) {
    const tt_option *row = &table[r];
    const char *text = getenv(row->name);
    if (text != NULL && text[0] != '\0' && parse_row(row, text, &options) == TUTTI_OK)
      continue;
    if (text != NULL && text[0] != '\0') {
      fprintf(stderr, "tutti: %s: %s; using '%s'\n", row->name, tutti_last_error(), row->fallback);
      tt_fail_clear();
    }
    tutti_status status = parse_row(row, row->fallback, &options);
    assert(status == TUTTI_OK || status == TUTTI_ERR_MEMORY); /* defaults parse */
    (void)status;
  }
}

const tt_options *tt_options_get(void) {
  pthread_once(&options_once, parse_environment);
  return &options;
}

int64_t tt_options_far_slots(void) {
  const int64_t slots = tt_options_get()->between.slots, most = 1024; /* who reads late walks over what has come */
  assert(slots >= 1);
  return slots < most ? slots : most;
}
