/* tools/topo/svg.c - the file that `tutti topo --svg` writes: frame, marks, and what is in it. */
#include "svg.h"

#include "draw/draw.h"
#include "tools/shared/shared.h"

static const char style[] = "text{font-family:'DejaVu Sans',Verdana,'Segoe UI',sans-serif;font-size:12px;fill:#24292f}"
                            ".title{font-weight:600}.dim{fill:#5d6670}.middle{text-anchor:middle;font-size:11px}"
                            ".back{fill:#ffffff}.package{fill:#f1f4f7;stroke:#c3cad2}.numa{fill:#ffffff;stroke:#c3cad2}"
                            ".l3{fill:#e3edf9;stroke:#2f7ed8}.core{fill:#ffffff;stroke:#2f7ed8}"
                            ".lost{fill:none;stroke:#c3cad2;stroke-dasharray:3 3}path{fill:none;stroke:#9aa5b1}"
                            "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9aa5b1}.back{fill:#14181e}"
                            ".package{fill:#1d232b;stroke:#4a535e}.numa{fill:#14181e;stroke:#4a535e}"
                            ".l3{fill:#15283d;stroke:#2f7ed8}.core{fill:#1d232b}}";

void topo_svg_text(FILE *out, int x, int y, const char *class, const char *text) {
  if (!out)
    return;
  fprintf(out, "<text x=\"%d\" y=\"%d\" class=\"%s\">", x, y, class);
  tt_draw_svg_text(out, text);
  fputs("</text>\n", out);
}

void topo_svg_box(FILE *out, int x, int y, int width, int height, const char *class) {
  if (out)
    fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"4\" class=\"%s\"/>\n", x, y, width, height,
            class);
}

void topo_svg_line(FILE *out, int x1, int y1, int x2, int y2) {
  if (out)
    fprintf(out, "<path d=\"M%d %dL%d %d\"/>\n", x1, y1, x2, y2);
}

static tutti_status draw(topo_subject *subject, FILE *out, topo_svg_size *size) {
  if (subject->network)
    return topo_svg_network(subject, out, size);
  *size = topo_svg_machine(subject, out);
  return TUTTI_OK;
}

tutti_status topo_svg(topo_subject *subject, FILE *out) {
  topo_svg_size size;
  tutti_status status = draw(subject, NULL, &size);
  if (status != TUTTI_OK)
    return status;
  fprintf(out,
          "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" viewBox=\"0 0 %d %d\">\n"
          "<style>%s</style>\n",
          size.width, size.height, size.width, size.height, style);
  topo_svg_box(out, 0, 0, size.width, size.height, "back");
  status = draw(subject, out, &size);
  fputs("</svg>\n", out);
  return status;
}

static tutti_status write_all(void *subject, FILE *out) { return topo_svg(subject, out); }

tutti_status topo_write_svg(topo_subject *subject, const char *path) {
  return tool_write_file(path, write_all, subject);
}
