/* tools/report/page.c - the page: head, machine, a part for each collective, all winners as a table, pictures. Any text
 * from a file is escaped; colours follow the reader's light or dark theme. */
#include "page.h"

#include "draw/draw.h"
#include "tools/shared/shared.h"

#include <inttypes.h>
#include <string.h>

static const char style[] =
    ":root{color-scheme:light dark;--back:#fff;--text:#24292f;--dim:#5d6670;--line:#d4d9df;--cell:84%;--link:#1f6feb}"
    "@media(prefers-color-scheme:dark){:root{--back:#14181e;--text:#e6edf3;--dim:#9aa5b1;--line:#343c46;--cell:26%;"
    "--link:#6cb0ff}}"
    "body{font:15px/1.45 'DejaVu Sans',Verdana,sans-serif;max-width:1200px;margin:24px auto;padding:0 16px;"
    "background:var(--back);color:var(--text)}a{color:var(--link)}td a{text-decoration:none}"
    "table{border-collapse:collapse;font-size:13px;margin:12px 0}.wide{overflow-x:auto}"
    "th,td{border:1px solid var(--line);padding:4px 8px;text-align:left;white-space:nowrap}"
    ".map td{min-width:64px;text-align:center}.map td a{color:inherit;display:block}.map small{display:block}"
    "td.n{text-align:right}code{font-family:'DejaVu Sans Mono',Menlo,monospace;font-size:12px;white-space:normal}"
    ".dim{color:var(--dim)}img{max-width:100%}figure{margin:16px 0}svg.chart text{fill:var(--text);font-size:11px}"
    "svg.chart .grid{stroke:var(--line)}svg.chart "
    "polyline{fill:none;stroke:var(--hue);stroke-width:2}circle{fill:var(--hue)}";

static void begin(const tt_wisdom *wisdom, FILE *out) {
  fprintf(
      out,
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<meta name=\"viewport\" "
      "content=\"width=device-width\"/>\n<title>tutti: what was measured</title>\n<style>%s</style>\n</head>\n<body>\n"
      "<h1>What tutti tune has measured</h1>\n<p>Machine <code>",
      style);
  tt_draw_svg_text(out, wisdom->machine);
  fputs("</code>, ", out);
  tt_draw_svg_text(out, wisdom->about);
  fprintf(out, ". %" PRId64 " winners of <code>", wisdom->count);
  tt_draw_svg_text(out, wisdom->path);
  fputs("</code></p>\n<p>", out);
}

static bool has_winner(const tt_wisdom *wisdom, tt_collective collective) {
  for (int64_t n = 0; n < wisdom->count; n++)
    if (wisdom->winner[n].region.collective == collective)
      return true;
  return false;
}

static void put_contents(const tt_wisdom *wisdom, FILE *out) {
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    const char *name = tt_compose_info((tt_collective)c).name;
    if (has_winner(wisdom, (tt_collective)c))
      fprintf(out, "<a href=\"#%s\">%s</a> &#183; ", name, name);
  }
  fputs("<a href=\"#all\">all winners</a> &#183; <a href=\"#machine\">machine</a></p>\n", out);
}

static void put_row(const tt_wisdom *wisdom, int64_t number, FILE *out) {
  const tt_winner *winner = &wisdom->winner[number];
  char bytes[16], time[32], rules[32], shape[REPORT_SHAPE];
  tt_format_bytes(winner->region.bytes, bytes);
  tool_format_time((double)winner->time_ns, time);
  tool_format_time((double)winner->rules_ns, rules);
  report_shape_text(&winner->region, shape);
  fprintf(out, "<tr id=\"w%" PRId64 "\"><td>%s</td><td>%s</td><td class=\"n\">%s</td><td><code>", number,
          tt_compose_info(winner->region.collective).name, shape, bytes);
  tt_draw_svg_text(out, winner->text);
  fprintf(out, "</code></td><td class=\"n\">%s</td>", time);
  if (winner->rules_ns > 0 && winner->time_ns > 0)
    fprintf(out, "<td class=\"n\">%s</td><td class=\"n\">%.2fx</td>", rules,
            (double)winner->rules_ns / (double)winner->time_ns);
  else
    fputs("<td class=\"n\">-</td><td class=\"n\">-</td>", out);
  fprintf(out, "<td><a href=\"#p%" PRId64 "\">plan</a></td></tr>\n", report_picture_of(wisdom, number));
}

static void put_all(const tt_wisdom *wisdom, FILE *out) {
  fputs("<h2 id=\"all\">All winners</h2>\n<div "
        "class=\"wide\"><table>\n<tr><th>collective</th><th>ranks</th><th>bytes</th>"
        "<th>parameters</th><th>time</th><th>the rules</th><th>gain</th><th></th></tr>\n",
        out);
  for (int64_t n = 0; n < wisdom->count; n++)
    put_row(wisdom, n, out);
  fputs("</table></div>\n", out);
}

tutti_status report_page(const tt_wisdom *wisdom, FILE *out) {
  begin(wisdom, out);
  put_contents(wisdom, out);
  fputs("<p class=\"dim\">A cell names the textbook's algorithm that the winner is nearest to (?: this version does "
        "not know it; +: with more levels, "
        "channels "
        "or stripes), and how many times as fast as the rules it is. It leads to the parameters.</p>\n",
        out);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++) {
    if (!has_winner(wisdom, (tt_collective)c))
      continue;
    fprintf(out, "<h2 id=\"%s\">%s</h2>\n", tt_compose_info((tt_collective)c).name,
            tt_compose_info((tt_collective)c).name);
    report_map(wisdom, (tt_collective)c, out);
    report_chart(wisdom, (tt_collective)c, out);
  }
  put_all(wisdom, out);
  fputs("<h2 id=\"machine\">The machine</h2>\n", out);
  tutti_status status = report_machine(out);
  fputs("<h2>Plans</h2>\n", out);
  if (status == TUTTI_OK)
    status = report_pictures(wisdom, out);
  fputs("</body>\n</html>\n", out);
  return status;
}
