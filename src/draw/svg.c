/* draw/svg.c - the picture of a collective: rounds across, ranks down by group, an arrow for each message.
 *
 *            round 0   round 1          colour   level
 *     rank 0 --------.---------         width    blocks of a message
 *                 \ /                   ends     filled: received; with a plus: combined with what was there
 *     rank 1 ------x-.---------         square   copied within the rank; before and after a row: input and result
 *
 * It has its own background and follows the reader's light or dark theme, so that it can stand on any page. */
#include "draw/svg.h"

#include <assert.h>
#include <string.h>

static const char style[] =
    "text{font-family:'DejaVu Sans',Verdana,'Segoe UI',sans-serif;font-size:12px;fill:#24292f}"
    ".title{font-size:17px}.small{font-size:11px}.mono{font-family:'DejaVu Sans "
    "Mono',Menlo,Consolas,monospace}.dim{fill:#5d6670}"
    ".panel{fill:#ffffff;stroke:#d4d9df}.group{fill:#f1f4f7}.row{stroke:#c3cad2}.fence{stroke-width:2px}"
    ".column{stroke:#d4d9df;stroke-dasharray:2 4}.end{fill:#6b7785;stroke:#6b7785;stroke-width:1.5px}"
    ".result{fill:none}path{fill:none}"
    ".back{fill:#ffffff}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9aa5b1}.panel{fill:#14181e;stroke:#343c46}"
    ".group{fill:#1d232b}.row{stroke:#4a535e}.column{stroke:#343c46}.back{fill:#14181e}}";

static uint32_t common_divisor(uint32_t a, uint32_t b) {
  while (b != 0) {
    uint32_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}

/* Blocks as a part of the whole vector: "n", "3n/4", "1..2 n/13". */
static void format_part(uint32_t fewest, uint32_t most, uint32_t all, char text[static 48]) {
  assert(fewest <= most && all > 0);
  uint32_t common = common_divisor(common_divisor(fewest, most), all);
  char factor[28] = "", divisor[16] = "";
  if (fewest != most)
    snprintf(factor, sizeof factor, "%u..%u ", fewest / common, most / common);
  else if (most != common)
    snprintf(factor, sizeof factor, "%u", most / common);
  if (all != common)
    snprintf(divisor, sizeof divisor, "/%u", all / common);
  snprintf(text, 48, "%sn%s", factor, divisor);
}

/* ---- what lies behind ---- */

static void put_groups(const tt_svg *to) {
  const tt_draw_grid *grid = to->grid;
  for (int64_t row = 0, first = 0; row < grid->rank_count; row++) {
    bool last = row + 1 == grid->rank_count || grid->group_at[row + 1] != grid->group_at[row];
    if (!last)
      continue;
    double top = grid->y[grid->rank_at[first]] - grid->row_height / 2;
    double end = grid->y[grid->rank_at[row]] + grid->row_height / 2;
    fprintf(to->out, "<rect class=\"group\" x=\"20\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"6\"/>\n", top,
            to->width - 40, end - top);
    if (grid->group_at[grid->rank_count - 1] > 0) {
      char name[48];
      snprintf(name, sizeof name, "%s %d", to->picture->topo->level[0].name, grid->group_at[row]);
      tt_svg_text(to, 32, (top + end) / 2 + 4, "font-weight=\"600\"", name);
    }
    first = row + 1;
  }
}

static void put_rows(const tt_svg *to) {
  const tt_draw_grid *grid = to->grid;
  double begin = grid->left - 4, end = grid->left + grid->column_count * grid->column_width + 6;
  for (int32_t r = 0; r < grid->rank_count; r++) {
    char name[32];
    snprintf(name, sizeof name, "rank %d", r);
    tt_svg_text(to, grid->left - 12, grid->y[r] + 4, "text-anchor=\"end\"", name);
    tt_svg_line(to, "row", begin, grid->y[r], end, grid->y[r]);
    if (tt_svg_shows_ends(to))
      tt_svg_ends(to, begin, end, r);
  }
}

/* ---- above the rounds ---- */

static uint32_t unit_of(const tt_draw_picture *picture) {
  return picture->unit_blocks > 0 ? (uint32_t)picture->unit_blocks : picture->plan[0]->block_count;
}

static void put_part(const tt_svg *to, int column, double x) {
  const tt_draw_grid *grid = to->grid;
  uint32_t fewest = 0, most = 0, all = unit_of(to->picture);
  for (int64_t n = 0; n < grid->message_count; n++)
    if (grid->column_of[grid->message[n].time] == column) {
      uint32_t blocks = grid->message[n].blocks;
      fewest = most == 0 || blocks < fewest ? blocks : fewest;
      most = blocks > most ? blocks : most;
    }
  char text[48];
  format_part(fewest, most, all, text);
  if (most > 0)
    tt_svg_text(to, x, grid->top - 8, "class=\"dim small\" text-anchor=\"middle\"", text);
}

static void put_columns(const tt_svg *to) {
  const tt_draw_grid *grid = to->grid;
  for (int c = 0; c < grid->column_count; c++) {
    double x = grid->left + c * grid->column_width, middle = x + grid->column_width / 2;
    char name[32];
    snprintf(name, sizeof name, "round %u", grid->time_of[c] + 1);
    tt_svg_text(to, middle, grid->top - 23, "text-anchor=\"middle\"", name);
    put_part(to, c, middle);
    if (c > 0)
      tt_svg_line(to, "column", x, grid->top, x, grid->bottom);
  }
}

/* First column at or after a round. */
static int column_from(const tt_draw_grid *grid, uint32_t time) {
  int column = 0;
  while (column < grid->column_count && grid->time_of[column] < time)
    column++;
  return column;
}

static void put_stages(const tt_svg *to) {
  const tt_draw_grid *grid = to->grid;
  for (int s = 0; s < to->picture->stage_count && to->picture->stage_count > 1; s++) {
    bool last = s + 1 == to->picture->stage_count;
    int first = column_from(grid, to->picture->stage[s].first_time);
    int end = last ? grid->column_count : column_from(grid, to->picture->stage[s + 1].first_time);
    if (end == first)
      continue;
    double x = grid->left + first * grid->column_width + 4, until = grid->left + end * grid->column_width - 4;
    tt_svg_text(to, (x + until) / 2, grid->top - 51, "font-weight=\"600\" text-anchor=\"middle\"",
                to->picture->stage[s].name);
    tt_svg_line(to, "row", x, grid->top - 43, until, grid->top - 43);
    if (!last)
      tt_svg_line(to, "row fence", until + 4, grid->top - 60, until + 4, grid->bottom);
  }
}

/* ---- the whole ---- */

static double widest_text(const tt_draw_picture *picture) {
  double title = 10.2 * (double)strlen(picture->title),
         subtitle = picture->subtitle ? 7.4 * (double)strlen(picture->subtitle) : 0;
  double width = title > subtitle ? title : subtitle;
  return 48 + (width > 490 ? width : 490);
}

static void put_head(const tt_svg *to) {
  fprintf(to->out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
          "role=\"img\">\n<style>%s</style>\n<title>",
          to->width, to->height, to->width, to->height, style);
  tt_draw_svg_text(to->out, to->picture->title);
  fputs("</title>\n", to->out);
  tt_svg_shapes(to);
  fprintf(to->out, "<rect class=\"panel\" x=\"0.5\" y=\"0.5\" width=\"%.1f\" height=\"%.1f\" rx=\"10\"/>\n",
          to->width - 1, to->height - 1);
  tt_svg_text(to, 24, 34, "class=\"title\" font-weight=\"600\"", to->picture->title);
  if (to->picture->subtitle)
    tt_svg_text(to, 24, 55, "class=\"mono dim\"", to->picture->subtitle);
}

tutti_status tt_draw_svg(const tt_draw_picture *picture, FILE *out) {
  tt_draw_grid grid;
  tutti_status status = tt_draw_grid_init(picture, &grid);
  if (status == TUTTI_OK) {
    double least = widest_text(picture);
    tt_svg to = {picture, &grid, out, grid.width > least ? grid.width : least,
                 grid.bottom + 78 + 20 * picture->plan[0]->level_count};
    put_head(&to);
    put_groups(&to);
    put_stages(&to);
    put_columns(&to);
    put_rows(&to);
    for (int64_t n = 0; n < grid.message_count; n++)
      tt_svg_message(&to, &grid.message[n]);
    tt_svg_marks(&to);
    tt_svg_legend(&to, grid.bottom + 28);
    fputs("</svg>\n", out);
  }
  tt_draw_grid_finish(&grid);
  return status;
}
