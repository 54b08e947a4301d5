/* tools/topo/svg_machine.c - a machine as boxes: packages side by side, in them NUMA nodes, L3s and cores; below each
 * NUMA node what is attached to it.
 *
 * One walk both measures and draws: it gives the height of what it went through, and draws where there is a file. */
#include "svg.h"
#include "text.h"

#include "transport/transport.h"

enum { CORE = 30, LINE_CORES = 8, PAD = 8, HEAD = 18, LEVELS = 3, MARGIN = 16 };
enum { LINE = LINE_CORES * CORE, PACKAGE_WIDTH = LINE + 6 * PAD };

/* A part of the machine: the cores with these numbers at the first `depth` of package, NUMA node and L3. */
typedef struct part {
  topo_subject *subject;
  int depth;
  int32_t number[LEVELS];
} part;

static int32_t number_of(const tt_machine_core *core, int level) {
  return level == 0 ? core->package : level == 1 ? core->numa : core->l3;
}

static bool has_core(const part *of, int64_t core) {
  for (int n = 0; n < of->depth; n++)
    if (number_of(&of->subject->machine->core[core], n) != of->number[n])
      return false;
  return true;
}

/* The first core from `from` on that begins another part one level deeper; -1: none. */
static int64_t next_part(const part *of, int64_t from) {
  const tt_machine *machine = of->subject->machine;
  for (int64_t n = from; n < machine->core_count; n++) {
    bool seen = !has_core(of, n);
    for (int64_t before = 0; before < n && !seen; before++)
      seen = has_core(of, before) &&
             number_of(&machine->core[before], of->depth) == number_of(&machine->core[n], of->depth);
    if (!seen)
      return n;
  }
  return -1;
}

/* ---- what is in a box ---- */

static int put_cores(const part *of, FILE *out, int x, int y) {
  const tt_machine *machine = of->subject->machine;
  int count = 0;
  for (int64_t n = 0; n < machine->core_count; n++)
    if (has_core(of, n)) {
      int at_x = x + count % LINE_CORES * CORE, at_y = y + count / LINE_CORES * CORE;
      topo_svg_box(out, at_x + 1, at_y + 1, CORE - 2, CORE - 2, machine->core[n].usable ? "core" : "lost");
      topo_svg_text(out, at_x + CORE / 2, at_y + CORE / 2 + 4, machine->core[n].usable ? "middle" : "middle dim",
                    topo_number_text(&of->subject->arena, n));
      count++;
    }
  return (count + LINE_CORES - 1) / LINE_CORES * CORE;
}

static int put_line(topo_subject *subject, FILE *out, int x, int y, const char *format, const char *name,
                    const char *what) {
  const char *text = tt_arena_format(&subject->arena, format, name, what);
  topo_svg_text(out, x, y + HEAD - 4, "dim", text ? text : "");
  return HEAD;
}

/* "eth0, 100 Gbit/s" */
static const char *nic_text(topo_subject *subject, const tt_nic *nic) {
  const char *text =
      tt_arena_format(&subject->arena, "%s, %s", nic->name, topo_speed_text(&subject->arena, nic->bits_per_second));
  return nic->bits_per_second && text ? text : nic->name;
}

/* As a job takes them: the first that are fit. */
static bool is_rail(const topo_subject *subject, int64_t at) {
  int64_t before = 0;
  for (int64_t n = 0; n < at; n++)
    before += !subject->nic[n].unfit[0];
  return !subject->nic[at].unfit[0] && before < TT_RAILS_MOST;
}

/* numa -1: what is attached to none. */
static int put_attached(topo_subject *subject, int32_t numa, FILE *out, int x, int y) {
  const tt_machine *machine = subject->machine;
  int32_t number = numa < 0 ? -1 : machine->numa[numa].number;
  int top = y;
  for (int64_t n = 0; n < subject->nic_count; n++)
    if (subject->nic[n].numa_node == number)
      y += put_line(subject, out, x, y, "%s, %s", nic_text(subject, &subject->nic[n]),
                    is_rail(subject, n) ? "rail" : "no rail");
  for (int64_t n = 0; n < machine->device_count; n++)
    if (machine->device[n].numa == numa)
      y += put_line(subject, out, x, y, "%s, %s", machine->device[n].name, machine->device[n].kind);
  return y - top;
}

/* ---- boxes ---- */

static const char *head_text(const part *of) {
  static const char *const names[LEVELS] = {"package", "NUMA", "L3"};
  const tt_machine *machine = of->subject->machine;
  tt_arena *arena = &of->subject->arena;
  int level = of->depth - 1;
  int32_t number = of->number[level];
  const char *text = level == 0   ? tt_arena_format(arena, "%s %d", names[level], (int)number)
                     : level == 1 ? tt_arena_format(arena, "%s %d, %s", names[level], (int)machine->numa[number].number,
                                                    topo_bytes_text(arena, machine->numa[number].memory_bytes))
                                  : tt_arena_format(arena, "%s %d, %s", names[level], (int)number,
                                                    topo_bytes_text(arena, machine->l3_bytes[number]));
  return text ? text : "";
}

static int put_parts(const part *of, FILE *out, int x, int y, int width);

static int put_inside(const part *of, FILE *out, int x, int y, int width) {
  int height = of->depth == LEVELS ? put_cores(of, out, x, y) : put_parts(of, out, x, y, width);
  bool numa = of->depth == 2 && of->number[1] >= 0;
  return height + (numa ? put_attached(of->subject, of->number[1], out, x, y + height) : 0);
}

/* A part without a number has no box: what is in it stands there by itself. */
static int put_part(const part *of, FILE *out, int x, int y, int width) {
  static const char *const classes[LEVELS] = {"package", "numa", "l3"};
  if (of->number[of->depth - 1] < 0)
    return put_inside(of, out, x, y, width);
  int height = HEAD + put_inside(of, NULL, x + PAD, y + HEAD, width - 2 * PAD) + PAD;
  topo_svg_box(out, x, y, width, height, classes[of->depth - 1]);
  topo_svg_text(out, x + PAD, y + HEAD - 4, "title", head_text(of));
  put_inside(of, out, x + PAD, y + HEAD, width - 2 * PAD);
  return height;
}

static part inner_part(const part *of, int64_t core) {
  part inner = *of;
  inner.number[inner.depth++] = number_of(&of->subject->machine->core[core], of->depth);
  return inner;
}

static int put_parts(const part *of, FILE *out, int x, int y, int width) {
  int top = y;
  for (int64_t core = next_part(of, 0); core >= 0; core = next_part(of, core + 1)) {
    part inner = inner_part(of, core);
    y += (y > top ? PAD : 0) + put_part(&inner, out, x, y + (y > top ? PAD : 0), width);
  }
  return y - top;
}

/* ---- the whole ---- */

static int put_rest(topo_subject *subject, FILE *out, int x, int y) {
  const tt_machine *machine = subject->machine;
  int top = y;
  for (int64_t n = 0; n < machine->numa_count; n++)
    if (machine->numa[n].core_count == 0) {
      y += put_line(subject, out, x, y, "NUMA %s, %s, no cores",
                    topo_number_text(&subject->arena, machine->numa[n].number),
                    topo_bytes_text(&subject->arena, machine->numa[n].memory_bytes));
      y += put_attached(subject, (int32_t)n, out, x, y);
    }
  y += put_attached(subject, -1, out, x, y);
  return y - top;
}

topo_svg_size topo_svg_machine(topo_subject *subject, FILE *out) {
  part all = {.subject = subject};
  int x = MARGIN, tallest = 0, y = MARGIN + HEAD;
  topo_svg_text(out, x, MARGIN + HEAD - 8, "title", subject->machine->name[0] ? subject->machine->name : "machine");
  for (int64_t core = next_part(&all, 0); core >= 0; core = next_part(&all, core + 1)) {
    part package = inner_part(&all, core);
    int height = put_part(&package, out, x, y, PACKAGE_WIDTH);
    tallest = height > tallest ? height : tallest;
    x += PACKAGE_WIDTH + MARGIN;
  }
  y += tallest + PAD;
  y += put_rest(subject, out, MARGIN, y);
  return (topo_svg_size){.width = x > 2 * MARGIN ? x : PACKAGE_WIDTH, .height = y + MARGIN};
}
