/* draw/svg.h - what the files of the SVG picture share: svg.c lays it out, svg_marks.c draws what there is
 * much of, svg_text.c text and lines. */
#ifndef TT_DRAW_SVG_H
#define TT_DRAW_SVG_H

#include "draw/grid.h"

typedef struct tt_svg {
  const tt_draw_picture *picture;
  const tt_draw_grid *grid;
  FILE *out;
  double width, height;
} tt_svg;

/* svg_text.c */
double tt_svg_tenth(double value); /* a coordinate, in tenths of a pixel */
void tt_svg_text(const tt_svg *to, double x, double y, const char *attributes, const char *text);
void tt_svg_line(const tt_svg *to, const char *class_name, double x1, double y1, double x2, double y2);

/* svg_marks.c */
void tt_svg_shapes(const tt_svg *to); /* definitions of all that follow */
void tt_svg_message(const tt_svg *to, const tt_draw_message *message);
void tt_svg_marks(const tt_svg *to);
bool tt_svg_shows_ends(const tt_svg *to); /* ranks differ in having input or getting a result */
void tt_svg_ends(const tt_svg *to, double begin, double end, int32_t rank);
void tt_svg_legend(const tt_svg *to, double y);

#endif
