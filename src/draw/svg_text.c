/* draw/svg_text.c - text and lines of a picture. */
#include "draw/svg.h"

#include <math.h>

double tt_svg_tenth(double value) { return round(10 * value) / 10; }

void tt_draw_svg_text(FILE *out, const char *text) {
  for (; *text; text++)
    if (*text == '&')
      fputs("&amp;", out);
    else if (*text == '<')
      fputs("&lt;", out);
    else if (*text == '>')
      fputs("&gt;", out);
    else if ((unsigned char)*text >= ' ')
      fputc(*text, out);
}

void tt_svg_text(const tt_svg *to, double x, double y, const char *attributes, const char *text) {
  fprintf(to->out, "<text x=\"%g\" y=\"%g\" %s>", tt_svg_tenth(x), tt_svg_tenth(y), attributes);
  tt_draw_svg_text(to->out, text);
  fputs("</text>\n", to->out);
}

void tt_svg_line(const tt_svg *to, const char *class, double x1, double y1, double x2, double y2) {
  fprintf(to->out, "<path class=\"%s\" d=\"M%g %gL%g %g\"/>\n", class, tt_svg_tenth(x1), tt_svg_tenth(y1),
          tt_svg_tenth(x2), tt_svg_tenth(y2));
}
