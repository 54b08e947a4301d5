/* tools/topo/svg.h - pictures of `tutti topo`: a machine as boxes in boxes, a network as a tree. They follow the
 * reader's light or dark theme and have a background of their own. */
#ifndef TUTTI_TOOLS_TOPO_SVG_H
#define TUTTI_TOOLS_TOPO_SVG_H

#include "subject.h"

#include <stdio.h>

/* Writes all of it to a file, "-": standard output. */
tutti_status topo_write_svg(topo_subject *subject, const char *path);
tutti_status topo_svg(topo_subject *subject, FILE *out);

/* ---- for what is drawn ---- */

/* NULL: nothing is drawn, only measured. */
void topo_svg_text(FILE *out, int x, int y, const char *class, const char *text);
void topo_svg_box(FILE *out, int x, int y, int width, int height, const char *class);
void topo_svg_line(FILE *out, int x1, int y1, int x2, int y2);

typedef struct topo_svg_size {
  int width, height;
} topo_svg_size;

/* With out NULL they say how large they are. */
topo_svg_size topo_svg_machine(topo_subject *subject, FILE *out);
tutti_status topo_svg_network(topo_subject *subject, FILE *out, topo_svg_size *size);

#endif
