/* tests/mpi/conform/case.c - a number becomes a case. Its digits say what is worth every combination: collective, mode,
 * in place, communicator, count, root. The rest (types, operators, layouts) is drawn from the number, other ones in
 * each pass over all combinations. */
#include "call.h"

#include <inttypes.h>
#include <stdio.h>

typedef enum count_kind { COUNT_ZERO, COUNT_ONE, COUNT_RANKS, COUNT_ODD, COUNT_LARGE, COUNT_KINDS } count_kind;

enum { COMMS = 7, ROOTS = 3, LARGE_ITEMS = 20000, LARGE_NEIGHBOR_ITEMS = 5000, ODD = 317 };

static const int digit_sizes[] = {COLLECTIVE_COUNT, 2 * MODE_COUNT, 2, COMMS, COUNT_KINDS, ROOTS};
enum { DIGITS = sizeof digit_sizes / sizeof digit_sizes[0] };

uint64_t case_total(void) {
  uint64_t total = 1;
  for (int k = 0; k < DIGITS; k++)
    total *= (uint64_t)digit_sizes[k];
  return total;
}

/* A large call moves about as much whatever its blocks are. */
static int64_t large(const test_case *of) {
  const collective_row *row = &collective_rows[of->collective];
  bool neighbors = row->out == UNIT_SOURCES, many = row->in == UNIT_RANKS || row->out == UNIT_RANKS;
  int64_t items = neighbors ? LARGE_NEIGHBOR_ITEMS : LARGE_ITEMS / (many ? of->comm->size : 1);
  return items / (row->reduces ? 1 : ITEMS);
}

static int64_t count(const test_case *of, count_kind kind) {
  int64_t counts[COUNT_KINDS] = {0, 1, of->comm->size - 1, ODD, large(of)};
  return counts[kind];
}

static void draw(test_case *of, uint64_t seed) {
  const collective_row *row = &collective_rows[of->collective];
  if (row->reduces) {
    reduction drawn = element_reduction((int)(seed % (uint64_t)element_reduction_count()));
    of->base = drawn.base;
    of->op = drawn.op;
    return;
  }
  of->base = element_base((int)(seed % (uint64_t)element_base_count()));
  of->in_layout = (layout_kind)((seed >> 16) % LAYOUT_COUNT);
  of->out_layout = (layout_kind)((seed >> 32) % LAYOUT_COUNT);
}

static const suite_comm *choose_comm(const collective_row *row, int index) {
  bool topology = row->out == UNIT_SOURCES;
  const suite_comm *comm = comms_get(topology, index % comms_count(topology));
  while (row->in == UNIT_TARGETS && comm->several)
    comm = comms_get(topology, ++index % comms_count(topology));
  return comm;
}

/* What Open MPI 4.1.4 or MPICH 4.0.2 do wrong themselves is replaced: displacements and types on one rank, all-to-all
 * in place, persistent calls started twice or beside others, reduce in place to another root than 0. tutti serves the
 * persistent calls of one rank too. */
static void avoid_known(test_case *of, bool plain) {
  const collective_row *row = &collective_rows[of->collective];
  if (of->comm->size == 1 && row->lists && !row->reduces)
    of->collective = ALLGATHER;
  if (of->mode == PERSISTENT && plain)
    of->mode = NONBLOCKING;
  if (of->collective == REDUCE && of->root > 0)
    of->in_place = false;
  if (row->in == UNIT_RANKS && row->out == UNIT_RANKS)
    of->in_place = false;
}

test_case case_of(uint64_t number, bool plain) {
  int digit[DIGITS];
  uint64_t rest = number;
  for (int k = 0; k < DIGITS; k++, rest /= (uint64_t)digit_sizes[k - 1])
    digit[k] = (int)(rest % (uint64_t)digit_sizes[k]);
  test_case made = {.number = number, .collective = (collective)digit[0], .mode = (call_mode)(digit[1] / 2)};
  made.comm = choose_comm(&collective_rows[made.collective], digit[3]);
  made.root = digit[5] * (made.comm->size - 1) / (ROOTS - 1);
  made.in_place = digit[2];
  if (plain || made.comm->size == 1) /* tutti leaves one rank to the MPI */
    avoid_known(&made, plain);
  made.in_place = made.in_place && collective_rows[made.collective].in_place != IN_PLACE_NEVER;
  made.wide = digit[1] % 2 && made.collective != BARRIER && invoke_has_large();
  draw(&made, mixed(number, 3));
  if ((plain || made.comm->size == 1) && made.base->bytes + made.base->second_bytes > 16)
    made.in_layout = made.out_layout =
        LAYOUT_PLAIN; /* Open MPI overruns what it keeps of an element that comes in parts */
  made.count = count(&made, (count_kind)digit[4]);
  return made;
}

void case_print(const test_case *of, char *text, size_t bytes) {
  static const char *const modes[MODE_COUNT] = {"", "i", "persistent "};
  const collective_row *row = &collective_rows[of->collective];
  int at = snprintf(text, bytes, "case %" PRIu64 ": %s%s%s, %s %s%s, count %" PRId64 ", %s of %d ranks", of->number,
                    modes[of->mode], row->name, of->wide ? "_c" : "", of->base->name,
                    row->reduces ? element_op_name(of->op) : "moved", of->in_place ? " in place" : "", of->count,
                    of->comm->name, of->comm->size);
  if (row->in_root || row->out_root)
    at += snprintf(text + at, bytes - (size_t)at, ", root %d", of->root);
  if (!row->reduces)
    snprintf(text + at, bytes - (size_t)at, ", %s -> %s", layout_name(of->in_layout), layout_name(of->out_layout));
}
