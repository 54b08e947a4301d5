/* tools/report/maps.c - of one collective: a row for each shape of communicators, a column for each length; and the
 * times of winners over the length, both on logarithmic axes. */
#include "page.h"

#include "tools/export/algorithm.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <math.h>

#define WIDTH 840.0
#define NAMES 270.0 /* beside the chart */
#define HEIGHT 260.0
#define LEFT 70.0
#define BOTTOM 30.0

bool report_same_shape(const tt_region *a, const tt_region *b) {
  return a->rank_count == b->rank_count && a->node_count == b->node_count && a->ranks_per_node == b->ranks_per_node &&
         a->nic_count == b->nic_count;
}

bool report_is_even(const tt_region *shape) {
  return shape->ranks_per_node == (shape->rank_count + shape->node_count - 1) / shape->node_count;
}

void report_shape_text(const tt_region *shape, char text[static REPORT_SHAPE]) {
  char nodes[40] = "", each[32] = "", nics[32] = "";
  if (shape->node_count > 1)
    snprintf(nodes, sizeof nodes, " on %" PRId64 " nodes", shape->node_count);
  if (!report_is_even(shape))
    snprintf(each, sizeof each, " of up to %" PRId64, shape->ranks_per_node);
  if (shape->node_count > 1 && shape->nic_count != 1)
    snprintf(nics, sizeof nics, ", %" PRId64 " NICs", shape->nic_count);
  snprintf(text, REPORT_SHAPE, "%" PRId64 " ranks%s%s%s", shape->rank_count, nodes, each, nics);
}

static const tt_winner *winner_of(const tt_wisdom *wisdom, tt_collective collective, int64_t number) {
  const tt_winner *winner = &wisdom->winner[number];
  return winner->region.collective == collective ? winner : NULL;
}

/* The first winner of a shape begins its row. */
static bool begins_shape(const tt_wisdom *wisdom, tt_collective collective, int64_t number) {
  const tt_winner *winner = winner_of(wisdom, collective, number);
  for (int64_t n = 0; n < number && winner; n++)
    if (winner_of(wisdom, collective, n) && report_same_shape(&wisdom->winner[n].region, &winner->region))
      return false;
  return winner != NULL;
}

/* The least length above `bytes`; -1: none. */
static int64_t next_bytes(const tt_wisdom *wisdom, tt_collective collective, int64_t bytes) {
  int64_t next = -1;
  for (int64_t n = 0; n < wisdom->count; n++) {
    const tt_winner *winner = winner_of(wisdom, collective, n);
    if (winner && winner->region.bytes > bytes && (next < 0 || winner->region.bytes < next))
      next = winner->region.bytes;
  }
  return next;
}

static int64_t find(const tt_wisdom *wisdom, const tt_region *shape, int64_t bytes) {
  for (int64_t n = 0; n < wisdom->count; n++) {
    const tt_region *region = &wisdom->winner[n].region;
    if (region->collective == shape->collective && region->bytes == bytes && report_same_shape(region, shape))
      return n;
  }
  return -1;
}

static void put_cell(const tt_wisdom *wisdom, int64_t number, FILE *out) {
  export_choice choice;
  if (number < 0) {
    fputs("<td></td>", out);
    return;
  }
  const tt_winner *winner = &wisdom->winner[number];
  if (!export_choose(winner, &choice)) {
    fprintf(out, "<td><a href=\"#w%" PRId64 "\">?</a></td>", number);
    return;
  }
  int hue = (int)choice.algorithm * 7 % EXPORT_ALGORITHM_COUNT * 360 / EXPORT_ALGORITHM_COUNT; /* neighbors differ */
  fprintf(out, "<td style=\"background:hsl(%d 55%% var(--cell))\"><a href=\"#w%" PRId64 "\">%s%s", hue, number,
          export_algorithm_name(choice.algorithm), choice.plain ? "" : "+");
  if (winner->rules_ns > 0 && winner->time_ns > 0)
    fprintf(out, "<small>%.2fx</small>", (double)winner->rules_ns / (double)winner->time_ns);
  fputs("</a></td>", out);
}

static void put_lengths(const tt_wisdom *wisdom, tt_collective collective, FILE *out) {
  char text[16];
  fputs("<div class=\"wide\"><table class=\"map\">\n<tr><th></th>", out);
  for (int64_t b = next_bytes(wisdom, collective, -1); b >= 0; b = next_bytes(wisdom, collective, b)) {
    tt_format_bytes(b, text);
    fprintf(out, "<th>%s</th>", text);
  }
  fputs("</tr>\n", out);
}

void report_map(const tt_wisdom *wisdom, tt_collective collective, FILE *out) {
  char shape[REPORT_SHAPE];
  put_lengths(wisdom, collective, out);
  for (int64_t n = 0; n < wisdom->count; n++) {
    const tt_region *region = &wisdom->winner[n].region;
    if (!begins_shape(wisdom, collective, n))
      continue;
    report_shape_text(region, shape);
    fprintf(out, "<tr><th>%s</th>", shape);
    for (int64_t b = next_bytes(wisdom, collective, -1); b >= 0; b = next_bytes(wisdom, collective, b))
      put_cell(wisdom, find(wisdom, region, b), out);
    fputs("</tr>\n", out);
  }
  fputs("</table></div>\n", out);
}

/* ---- the chart ---- */

typedef struct range {
  double least, most; /* logarithms */
} range;

static void widen(range *of, double value) {
  double log = log10(value > 1 ? value : 1);
  of->least = fmin(of->least, log);
  of->most = fmax(of->most, log);
}

static double place(const range *of, double value, double from, double to) {
  double width = of->most > of->least ? of->most - of->least : 1;
  return from + (log10(value > 1 ? value : 1) - of->least) / width * (to - from);
}

static void put_grid(const range *bytes, const range *time, FILE *out) {
  char text[32];
  for (int power = (int)time->least; power <= (int)time->most; power++) {
    double ns = pow(10, power), y = place(time, ns, HEIGHT - BOTTOM, 10);
    tool_format_time(ns, text);
    fprintf(out,
            "<path class=\"grid\" d=\"M%.0f %.1fH%.0f\"/><text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
            LEFT, y, WIDTH - NAMES, LEFT - 8, y + 4, text);
  }
  for (int64_t b = 8; b > 0 && (double)b <= pow(10, bytes->most) * 1.001; b = b <= INT64_MAX / 8 ? 8 * b : 0) {
    double x = place(bytes, (double)b, LEFT, WIDTH - NAMES);
    tt_format_bytes(b, text);
    if (x >= LEFT)
      fprintf(out, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n", x, HEIGHT - 10, text);
  }
}

/* A line, a dot for each winner, and its name beside the chart. */
static void put_line(const tt_wisdom *wisdom, const tt_region *shape, int number, const range *bytes, const range *time,
                     FILE *out) {
  char name[REPORT_SHAPE];
  fprintf(out, "<g style=\"--hue:hsl(%d 65%% 50%%)\">", number * 137 % 360);
  for (int dots = 0; dots < 2; dots++) {
    fputs(dots ? "" : "<polyline points=\"", out);
    for (int64_t b = next_bytes(wisdom, shape->collective, -1); b >= 0; b = next_bytes(wisdom, shape->collective, b)) {
      int64_t n = find(wisdom, shape, b);
      if (n < 0)
        continue;
      double x = place(bytes, (double)b, LEFT, WIDTH - NAMES);
      double y = place(time, (double)wisdom->winner[n].time_ns, HEIGHT - BOTTOM, 10);
      fprintf(out, dots ? "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>" : "%.1f,%.1f ", x, y);
    }
    fputs(dots ? "" : "\"/>", out);
  }
  report_shape_text(shape, name);
  fprintf(out, "<circle cx=\"%.0f\" cy=\"%d\" r=\"4\"/></g><text x=\"%.0f\" y=\"%d\">%s</text>\n", WIDTH - NAMES + 15,
          16 + 16 * number, WIDTH - NAMES + 26, 20 + 16 * number, name);
}

void report_chart(const tt_wisdom *wisdom, tt_collective collective, FILE *out) {
  range bytes = {1e9, 0}, time = {1e9, 0};
  int lines = 0;
  for (int64_t n = 0; n < wisdom->count; n++)
    if (winner_of(wisdom, collective, n)) {
      widen(&bytes, (double)wisdom->winner[n].region.bytes);
      widen(&time, (double)wisdom->winner[n].time_ns);
    }
  if (bytes.most <= bytes.least)
    return;
  time = (range){floor(time.least), ceil(time.most)};
  fprintf(out,
          "<svg class=\"chart\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n<title>time of a call, by "
          "length</title>\n",
          WIDTH, HEIGHT, WIDTH, HEIGHT);
  put_grid(&bytes, &time, out);
  for (int64_t n = 0; n < wisdom->count; n++)
    if (begins_shape(wisdom, collective, n))
      put_line(wisdom, &wisdom->winner[n].region, lines++, &bytes, &time, out);
  fputs("</svg>\n", out);
}
