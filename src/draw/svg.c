/* draw/svg.c - the picture of a collective: rounds across, ranks down by group, an arrow for each message.
 *
 *            round 0   round 1          colour   level
 *     rank 0 --------.---------         width    blocks of a message
 *                 \ /                   ends     filled: received; with a plus: combined with what was there
 *     rank 1 ------x-.---------         square   copied within the rank
 *
 * It has its own background and follows the reader's light or dark theme, so that it can stand on any page. */
#include "draw/grid.h"

#include <math.h>
#include <string.h>

typedef struct svg {
  const tt_draw_picture *picture;
  const tt_draw_grid *grid;
  FILE *out;
  double width, height;
} svg;

static const char *const colours[TT_PLAN_LEVELS] = {"#2f7ed8", "#e8710a", "#12925a", "#9b51d8",
                                                    "#d6336c", "#0c97ab", "#a8760b", "#6b7785"};

static const char style[] =
    "text{font-family:'DejaVu Sans',Verdana,'Segoe UI',sans-serif;font-size:12px;fill:#24292f}"
    ".title{font-size:17px}.small{font-size:11px}.mono{font-family:'DejaVu Sans "
    "Mono',Menlo,Consolas,monospace}.dim{fill:#5d6670}"
    ".panel{fill:#ffffff;stroke:#d4d9df}.group{fill:#f1f4f7}.row{stroke:#c3cad2}.column{stroke:#d4d9df}"
    ".back{fill:#ffffff}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9aa5b1}.panel{fill:#14181e;stroke:#343c46}"
    ".group{fill:#1d232b}.row{stroke:#4a535e}.column{stroke:#343c46}.back{fill:#14181e}}";

/* ---- text ---- */

static void put_escaped(FILE *out, const char *text) {
  for (; *text; text++)
    if (*text == '&')
      fputs("&amp;", out);
    else if (*text == '<')
      fputs("&lt;", out);
    else if (*text == '>')
      fputs("&gt;", out);
    else
      fputc(*text, out);
}

static void put_text(const svg *to, double x, double y, const char *attributes, const char *text) {
  fprintf(to->out, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, attributes);
  put_escaped(to->out, text);
  fputs("</text>\n", to->out);
}

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

static void put_groups(const svg *to) {
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
      put_text(to, 32, (top + end) / 2 + 4, "font-weight=\"600\"", name);
    }
    first = row + 1;
  }
}

static void put_rows(const svg *to) {
  const tt_draw_grid *grid = to->grid;
  for (int32_t r = 0; r < grid->rank_count; r++) {
    char name[32];
    snprintf(name, sizeof name, "rank %d", r);
    put_text(to, grid->left - 12, grid->y[r] + 4, "text-anchor=\"end\"", name);
    fprintf(to->out, "<line class=\"row\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", grid->left - 4,
            grid->y[r], grid->left + grid->column_count * grid->column_width + 6, grid->y[r]);
  }
}

/* ---- above the rounds ---- */

static void put_part(const svg *to, int column, double x) {
  const tt_draw_grid *grid = to->grid;
  uint32_t fewest = 0, most = 0, all = to->picture->plan[0]->block_count;
  for (int64_t n = 0; n < grid->message_count; n++)
    if (grid->column_of[grid->message[n].time] == column) {
      uint32_t blocks = grid->message[n].blocks;
      fewest = most == 0 || blocks < fewest ? blocks : fewest;
      most = blocks > most ? blocks : most;
    }
  char text[48];
  format_part(fewest, most, all, text);
  if (most > 0)
    put_text(to, x, grid->top - 8, "class=\"dim small\" text-anchor=\"middle\"", text);
}

static void put_columns(const svg *to) {
  const tt_draw_grid *grid = to->grid;
  for (int c = 0; c < grid->column_count; c++) {
    double x = grid->left + c * grid->column_width, middle = x + grid->column_width / 2;
    char name[32];
    snprintf(name, sizeof name, "round %u", grid->time_of[c] + 1);
    put_text(to, middle, grid->top - 23, "text-anchor=\"middle\"", name);
    put_part(to, c, middle);
    if (c > 0)
      fprintf(to->out,
              "<line class=\"column\" stroke-dasharray=\"2 4\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x,
              grid->top, x, grid->bottom);
  }
}

/* First column at or after a round. */
static int column_from(const tt_draw_grid *grid, uint32_t time) {
  int column = 0;
  while (column < grid->column_count && grid->time_of[column] < time)
    column++;
  return column;
}

static void put_stages(const svg *to) {
  const tt_draw_grid *grid = to->grid;
  for (int s = 0; s < to->picture->stage_count && to->picture->stage_count > 1; s++) {
    bool last = s + 1 == to->picture->stage_count;
    int first = column_from(grid, to->picture->stage[s].first_time);
    int end = last ? grid->column_count : column_from(grid, to->picture->stage[s + 1].first_time);
    if (end == first)
      continue;
    double x = grid->left + first * grid->column_width + 4, until = grid->left + end * grid->column_width - 4;
    put_text(to, (x + until) / 2, grid->top - 51, "font-weight=\"600\" text-anchor=\"middle\"",
             to->picture->stage[s].name);
    fprintf(to->out, "<line class=\"row\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n", x, grid->top - 43,
            until, grid->top - 43);
    if (!last)
      fprintf(to->out, "<line class=\"row\" stroke-width=\"2\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\"/>\n",
              until + 4, grid->top - 60, until + 4, grid->bottom);
  }
}

/* ---- messages ---- */

/* Many arrows at once: thin and pale ones still show the pattern. */
static bool is_dense(const tt_draw_grid *grid) { return grid->busiest > 64; }

static void put_heads(const svg *to) {
  int size = is_dense(to->grid) ? 6 : 9;
  fputs("<defs>\n", to->out);
  for (uint32_t n = 0; n < to->picture->plan[0]->level_count; n++)
    fprintf(to->out,
            "<marker id=\"head%u\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"%d\" markerHeight=\"%d\" "
            "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 1.2L10 5L0 8.8z\" fill=\"%s\"/></marker>\n",
            n, size, size, colours[n]);
  fputs("</defs>\n", to->out);
}

/* Half a pixel for each doubling. */
static double stroke_of(const tt_draw_grid *grid, uint32_t blocks) {
  double wider = 0.5 * log2((double)blocks / grid->fewest);
  return (is_dense(grid) ? 0.8 : 1.6) + (wider < 2.5 ? wider : 2.5);
}

static void put_message(const svg *to, const tt_draw_message *message) {
  const tt_draw_grid *grid = to->grid;
  double x = tt_draw_column_x(grid, message->time), shift = 3.0 * message->channel;
  double x1 = x + 6, y1 = grid->y[message->from] + shift, x2 = x + grid->column_width - 9,
         y2 = grid->y[message->to] + shift;
  double length = hypot(x2 - x1, y2 - y1), back = 5 / length; /* ends at the rim of the mark */
  fprintf(to->out,
          "<line class=\"message\" x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"%.2f\" "
          "stroke-opacity=\"%s\" marker-end=\"url(#head%u)\"/>\n",
          x1, y1, x2 - (x2 - x1) * back, y2 - (y2 - y1) * back, colours[message->level],
          stroke_of(grid, message->blocks), is_dense(grid) ? "0.55" : "0.9", message->level);
}

/* ---- marks ---- */

static void put_mark(const svg *to, tt_draw_mark_kind kind, const char *colour, double x, double y) {
  if (kind == TT_DRAW_COPY) {
    fprintf(to->out,
            "<rect class=\"back\" x=\"%.1f\" y=\"%.1f\" width=\"8\" height=\"8\" stroke=\"#6b7785\" "
            "stroke-width=\"1.5\"/>\n",
            x - 4, y - 4);
    return;
  }
  bool combines = kind == TT_DRAW_REDUCE;
  fprintf(to->out, "<circle %s cx=\"%.1f\" cy=\"%.1f\" r=\"%s\" stroke=\"%s\" stroke-width=\"1.5\" fill=\"%s\"/>\n",
          combines ? "class=\"back\"" : "", x, y, combines ? "5" : "3.5", colour, colour);
  if (combines)
    fprintf(to->out, "<path d=\"M%.1f %.1fh6M%.1f %.1fv6\" stroke=\"%s\" stroke-width=\"1.5\"/>\n", x - 3, y, x, y - 3,
            colour);
}

static void put_marks(const svg *to) {
  const tt_draw_grid *grid = to->grid;
  for (int64_t n = 0; n < grid->mark_count; n++) {
    const tt_draw_mark *mark = &grid->mark[n];
    double x = tt_draw_column_x(grid, mark->time);
    x += mark->kind == TT_DRAW_COPY ? grid->column_width / 2 : grid->column_width - 9;
    put_mark(to, mark->kind, colours[mark->level], x, grid->y[mark->rank]);
  }
}

/* ---- legend ---- */

static bool has_mark(const tt_draw_grid *grid, tt_draw_mark_kind kind) {
  for (int64_t n = 0; n < grid->mark_count; n++)
    if (grid->mark[n].kind == kind)
      return true;
  return false;
}

static const char *level_text(const tt_draw_picture *picture, uint32_t level) {
  return picture->level_text[level] ? picture->level_text[level] : picture->plan[0]->level[level];
}

static double put_level_legend(const svg *to, double y) {
  for (uint32_t n = 0; n < to->picture->plan[0]->level_count; n++, y += 20) {
    fprintf(to->out,
            "<line x1=\"32\" y1=\"%.1f\" x2=\"64\" y2=\"%.1f\" stroke=\"%s\" stroke-width=\"2\" "
            "marker-end=\"url(#head%u)\"/>\n",
            y, y, colours[n], n);
    put_text(to, 76, y + 4, "", level_text(to->picture, n));
  }
  return y;
}

static void put_mark_legend(const svg *to, double y) {
  static const char *const texts[] = {"received", "received and combined", "copied within the rank"};
  double x = 36;
  for (tt_draw_mark_kind kind = TT_DRAW_RECV; kind <= TT_DRAW_COPY; kind++)
    if (has_mark(to->grid, kind)) {
      put_mark(to, kind, "#6b7785", x, y);
      put_text(to, x + 12, y + 4, "class=\"dim\"", texts[kind]);
      x += 34 + 7.2 * (double)strlen(texts[kind]);
    }
  put_text(to, x - 4, y + 4, "class=\"dim\"", "n: the whole vector");
}

/* ---- the whole ---- */

static double widest_text(const tt_draw_picture *picture) {
  double title = 10.2 * (double)strlen(picture->title), note = picture->note ? 7.4 * (double)strlen(picture->note) : 0;
  double width = title > note ? title : note;
  return 48 + (width > 490 ? width : 490);
}

static void put_head(const svg *to) {
  fprintf(to->out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\" "
          "role=\"img\">\n<style>%s</style>\n<title>",
          to->width, to->height, to->width, to->height, style);
  put_escaped(to->out, to->picture->title);
  fputs("</title>\n", to->out);
  put_heads(to);
  fprintf(to->out, "<rect class=\"panel\" x=\"0.5\" y=\"0.5\" width=\"%.1f\" height=\"%.1f\" rx=\"10\"/>\n",
          to->width - 1, to->height - 1);
  put_text(to, 24, 34, "class=\"title\" font-weight=\"600\"", to->picture->title);
  if (to->picture->note)
    put_text(to, 24, 55, "class=\"mono dim\"", to->picture->note);
}

tutti_status tt_draw_svg(const tt_draw_picture *picture, FILE *out) {
  tt_draw_grid grid;
  tutti_status status = tt_draw_grid_init(picture, &grid);
  if (status == TUTTI_OK) {
    double least = widest_text(picture);
    svg to = {picture, &grid, out, grid.width > least ? grid.width : least,
              grid.bottom + 56 + 20 * picture->plan[0]->level_count};
    put_head(&to);
    put_groups(&to);
    put_stages(&to);
    put_columns(&to);
    put_rows(&to);
    for (int64_t n = 0; n < grid.message_count; n++)
      put_message(&to, &grid.message[n]);
    put_marks(&to);
    put_mark_legend(&to, put_level_legend(&to, grid.bottom + 28));
    fputs("</svg>\n", out);
  }
  tt_draw_grid_finish(&grid);
  return status;
}
