/* draw/svg_marks.c - what a picture has many of, and its legend: arrows, marks at their ends, ends of rows.
 *
 * Each kind of arrow and mark is defined once; the picture then says only where. */
#include "draw/svg.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static const char *const colours[] = {"#2f7ed8", "#e8710a", "#12925a", "#9b51d8",
                                      "#d6336c", "#0c97ab", "#a8760b", "#6b7785"};

/* Of many levels some look alike. */
static const char *colour_of(uint32_t level) { return colours[level % TT_COUNT(colours)]; }

/* ---- what is drawn often, once ---- */

static uint32_t level_count(const tt_svg *to) { return to->picture->plan[0]->level_count; }

/* Many arrows at once: thin and pale ones still show the pattern. */
static bool is_dense(const tt_draw_grid *grid) { return grid->busiest > 64; }

static void put_arrow_style(const tt_svg *to) {
  fprintf(to->out, "<style>.message{stroke-opacity:%s}", is_dense(to->grid) ? "0.55" : "0.9");
  for (uint32_t n = 0; n < level_count(to); n++)
    fprintf(to->out, ".l%u{stroke:%s;marker-end:url(#h%u)}", n, colour_of(n), n);
  fputs("</style>\n", to->out);
}

static void put_head_shape(const tt_svg *to, uint32_t level) {
  int size = is_dense(to->grid) ? 6 : 9;
  fprintf(
      to->out,
      "<marker id=\"h%u\" viewBox=\"0 0 10 10\" refX=\"9\" refY=\"5\" markerWidth=\"%d\" markerHeight=\"%d\" "
      "markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path d=\"M0 1.2L10 5L0 8.8z\" style=\"fill:%s\"/></marker>\n",
      level, size, size, colour_of(level));
}

/* Around (0, 0). */
static void put_mark_shape(const tt_svg *to, tt_draw_mark_kind kind, const char *colour) {
  const char *back = kind == TT_DRAW_RECV ? "" : " class=\"back\"";
  if (kind == TT_DRAW_COPY)
    fputs("<rect class=\"back\" x=\"-4\" y=\"-4\" width=\"8\" height=\"8\"/>", to->out);
  else
    fprintf(to->out, "<circle%s r=\"%s\" fill=\"%s\"/>", back, kind == TT_DRAW_RECV ? "3.5" : "5", colour);
  if (kind == TT_DRAW_REDUCE || kind == TT_DRAW_REDUCE_LEFT)
    fputs("<path d=\"M-3 0h6M0 -3v6\"/>", to->out);
  if (kind == TT_DRAW_REDUCE_LEFT)
    fputs("<path d=\"M-8 -4l-4 4l4 4\"/>", to->out);
}

static const char mark_letter[TT_DRAW_MARK_COUNT] = {'r', 'c', 'd', 'k'};

static bool has_mark(const tt_draw_grid *grid, tt_draw_mark_kind kind, int64_t level) {
  for (int64_t n = 0; n < grid->mark_count; n++)
    if (grid->mark[n].kind == kind && (level < 0 || grid->mark[n].level == level))
      return true;
  return false;
}

/* The level's number in a mark's name: grey ones, of the legend and of copies, come after the last level. */
static uint32_t mark_level(const tt_svg *to, const tt_draw_mark *mark) {
  return mark->kind == TT_DRAW_COPY ? level_count(to) : mark->level;
}

void tt_svg_shapes(const tt_svg *to) {
  put_arrow_style(to);
  fputs("<defs>\n", to->out);
  for (uint32_t n = 0; n < level_count(to); n++)
    put_head_shape(to, n);
  for (uint32_t n = 0; n <= level_count(to); n++)
    for (tt_draw_mark_kind kind = 0; kind < TT_DRAW_MARK_COUNT; kind++) {
      const char *colour = n < level_count(to) ? colour_of(n) : "#6b7785";
      if (!has_mark(to->grid, kind, n < level_count(to) && kind != TT_DRAW_COPY ? (int64_t)n : -1))
        continue;
      fprintf(to->out, "<g id=\"%c%u\" stroke=\"%s\" stroke-width=\"1.5\">", mark_letter[kind], n, colour);
      put_mark_shape(to, kind, colour);
      fputs("</g>\n", to->out);
    }
  fputs("</defs>\n", to->out);
}

/* ---- messages ---- */

/* Half a pixel for each doubling. */
static double stroke_of(const tt_draw_grid *grid, uint32_t blocks) {
  double wider = 0.5 * log2((double)blocks / grid->fewest);
  return (is_dense(grid) ? 0.8 : 1.6) + (wider < 2.5 ? wider : 2.5);
}

void tt_svg_message(const tt_svg *to, const tt_draw_message *message) {
  assert(message->from != message->to);
  const tt_draw_grid *grid = to->grid;
  double x = tt_draw_column_x(grid, message->time), shift = 3.0 * message->channel;
  double x1 = x + 6, y1 = grid->y[message->from] + shift, x2 = x + grid->column_width - 9,
         y2 = grid->y[message->to] + shift;
  double length = hypot(x2 - x1, y2 - y1), back = 5 / length; /* ends at the rim of the mark */
  fprintf(to->out, "<path class=\"message l%u\" d=\"M%g %gL%g %g\" stroke-width=\"%.3g\"/>\n", message->level,
          tt_svg_tenth(x1), tt_svg_tenth(y1), tt_svg_tenth(x2 - (x2 - x1) * back), tt_svg_tenth(y2 - (y2 - y1) * back),
          stroke_of(grid, message->blocks));
}

/* ---- marks ---- */

static void put_mark(const tt_svg *to, tt_draw_mark_kind kind, uint32_t level, double x, double y) {
  fprintf(to->out, "<use href=\"#%c%u\" x=\"%g\" y=\"%g\"/>\n", mark_letter[kind], level, tt_svg_tenth(x),
          tt_svg_tenth(y));
}

void tt_svg_marks(const tt_svg *to) {
  const tt_draw_grid *grid = to->grid;
  for (int64_t n = 0; n < grid->mark_count; n++) {
    const tt_draw_mark *mark = &grid->mark[n];
    double x = tt_draw_column_x(grid, mark->time);
    x += mark->kind == TT_DRAW_COPY ? grid->column_width / 2 : grid->column_width - 9;
    put_mark(to, mark->kind, mark_level(to, mark), x, grid->y[mark->rank]);
  }
}

/* ---- ends of rows ---- */

/* Whether something is true of some ranks only. */
static bool differs(const bool *has, int64_t count) {
  for (int64_t n = 1; n < count; n++)
    if (has[n] != has[0])
      return true;
  return false;
}

bool tt_svg_shows_ends(const tt_svg *to) {
  return differs(to->grid->has_in, to->grid->rank_count) || differs(to->grid->has_out, to->grid->rank_count);
}

static void put_end(const tt_svg *to, double x, double y, const char *class) {
  fprintf(to->out, "<rect class=\"%s\" x=\"%g\" y=\"%g\" width=\"5\" height=\"9\"/>\n", class, tt_svg_tenth(x - 2.5),
          tt_svg_tenth(y - 4.5));
}

void tt_svg_ends(const tt_svg *to, double begin, double end, int32_t rank) {
  if (to->grid->has_in[rank])
    put_end(to, begin, to->grid->y[rank], "end");
  if (to->grid->has_out[rank])
    put_end(to, end, to->grid->y[rank], "end result");
}

/* ---- legend ---- */

static const char *level_text(const tt_draw_picture *picture, uint32_t level) {
  return picture->level_text[level] ? picture->level_text[level] : picture->plan[0]->level[level];
}

static double put_level_legend(const tt_svg *to, double y) {
  for (uint32_t n = 0; n < level_count(to); n++, y += 20) {
    fprintf(to->out, "<path class=\"l%u\" d=\"M32 %gH64\" stroke-width=\"2\"/>\n", n, tt_svg_tenth(y));
    tt_svg_text(to, 76, y + 4, "", level_text(to->picture, n));
  }
  return y;
}

static double put_end_legend(const tt_svg *to, double x, double y) {
  static const char *const class[] = {"end", "end result"}, *const text[] = {"has data", "gets a result"};
  for (size_t n = 0; n < TT_COUNT(class) && tt_svg_shows_ends(to); n++) {
    put_end(to, x, y, class[n]);
    tt_svg_text(to, x + 12, y + 4, "class=\"dim\"", text[n]);
    x += 34 + 7.2 * (double)strlen(text[n]);
  }
  return x;
}

static void put_mark_legend(const tt_svg *to, double y) {
  static const char *const texts[] = {"received", "combined", "combined as left operand", "copied"};
  _Static_assert(TT_COUNT(texts) == TT_DRAW_MARK_COUNT, "each kind of mark has its words");
  const char *unit = to->picture->unit_text ? to->picture->unit_text : "the whole vector";
  char text[80];
  double x = 36;
  for (tt_draw_mark_kind kind = 0; kind < TT_DRAW_MARK_COUNT; kind++)
    if (has_mark(to->grid, kind, -1)) {
      x += kind == TT_DRAW_REDUCE_LEFT ? 8 : 0;
      put_mark(to, kind, level_count(to), x, y);
      tt_svg_text(to, x + 12, y + 4, "class=\"dim\"", texts[kind]);
      x += 34 + 7.2 * (double)strlen(texts[kind]);
    }
  x = put_end_legend(to, 36, y + 22);
  snprintf(text, sizeof text, "n: %s", unit);
  tt_svg_text(to, x - 4, y + 26, "class=\"dim\"", text);
}

void tt_svg_legend(const tt_svg *to, double y) { put_mark_legend(to, put_level_legend(to, y)); }
