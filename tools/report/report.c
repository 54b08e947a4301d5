/* tools/report/report.c - the arguments of `tutti report`. */
#include "report.h"
#include "page.h"

#include "job/wisdom.h"
#include "tools/shared/shared.h"

#include <getopt.h> /* optind */
#include <stdlib.h>

static const char help[] =
    "usage: tutti report FILE\n"
    "\n"
    "Writes an HTML page about the wisdom of this machine, which `tutti tune` has measured (- is standard output): "
    "which\n"
    "parameters won at which length and number of ranks, how much faster than the rules they are, their times, the\n"
    "machine, and pictures of the plans. The page is one file and needs no network. TUTTI_WISDOM names another "
    "wisdom.\n";

static int take_help(void *options, const char *value) {
  (void)options;
  (void)value;
  fputs(help, stdout);
  return TOOL_HELPED;
}

static const tool_option rows[] = {{"help", 'h', TOOL_DO, 0, take_help}};

static tutti_status write_page(void *wisdom, FILE *out) { return report_page(wisdom, out); }

int tt_tool_report(int argc, char **argv) {
  tt_wisdom_found found;
  int result = tool_options_read(argc, argv, "", rows, TT_COUNT(rows), NULL);
  if (result != TOOL_GO_ON)
    return result == TOOL_HELPED ? EXIT_SUCCESS : TOOL_MISUSED;
  if (argc - optind != 1)
    return tool_misused("report", "one file is needed, such as report.html");
  tutti_status status = tt_wisdom_load(&found);
  if (status == TUTTI_OK && !found.wisdom)
    status = tt_fail(TUTTI_ERR_ARGUMENT, "there is no wisdom to report: %s; run `tutti tune` first", found.why);
  if (status == TUTTI_OK)
    status = tool_write_file(argv[optind], write_page, found.wisdom);
  tt_wisdom_found_finish(&found);
  return status == TUTTI_OK ? EXIT_SUCCESS : tool_fail("report", EXIT_FAILURE, "%s", tutti_last_error());
}
