/* bindings/mpi/stats_print.c - the statistics as a table for people, and as JSON. */
#include "stats_print.h"

#include "settings.h"
#include "state.h"

#include <inttypes.h>
#include <string.h>

static int64_t all_of(const tt_mpi_total *total) { return total->served + total->passed + total->alone; }

/* Of the calls in which there was somebody to communicate with. */
static double native(const tt_mpi_total *total) {
  int64_t calls = total->served + total->passed;
  return calls > 0 ? (double)total->served / (double)calls : 1;
}

/* ---- the table ---- */

typedef struct unit {
  double size;
  const char *name;
} unit;

/* Three digits: "1.23 ms", "45.6 MiB". units: from the largest on; the last one is for all that is less. */
static const char *in_units(double value, const unit *units, char text[static 32]) {
  while (value < units->size && units->size > 1)
    units++;
  double number = value / units->size;
  snprintf(text, 32, "%.*f %s", units->size == 1 || number >= 100 ? 0 : number >= 10 ? 1 : 2, number, units->name);
  return text;
}

static const char *in_bytes(int64_t bytes, char text[static 32]) {
  static const unit units[] = {{0x1p40, "TiB"}, {0x1p30, "GiB"}, {0x1p20, "MiB"}, {0x1p10, "KiB"}, {1, "B"}};
  return in_units((double)bytes, units, text);
}

static const char *in_time(int64_t ns, char text[static 32]) {
  static const unit units[] = {{1e9, "s"}, {1e6, "ms"}, {1e3, "us"}, {1, "ns"}};
  return in_units((double)ns, units, text);
}

static void print_total(const char *name, const tt_mpi_total *total, bool timed, FILE *to) {
  char bytes[32], time[32];
  fprintf(to, "  %-22s %12" PRId64 " %10s %10s %7.2f%%\n", name, all_of(total), in_bytes(total->bytes, bytes),
          timed ? in_time(total->ns, time) : "", 100 * native(total));
}

static void print_line(const tt_mpi_line *line, FILE *to) {
  fprintf(to, "  %22s %12" PRId64 "  %s%s%s%s%s%s\n", "", line->calls, line->passed ? "passed through: " : "",
          *line->text ? line->text : "parameters unknown", *line->media ? ", by " : "", line->media,
          *line->authority ? ", from " : "", line->authority);
}

void tt_mpi_stats_table(const tt_mpi_report *report, FILE *to) {
  const tt_mpi_line *line = report->line, *end = line + report->line_count;
  fprintf(to,
          "tutti: MPI collectives of %d rank%s: all calls; on tutti, their bytes, the slowest rank's time, the share\n",
          report->ranks, report->ranks == 1 ? "" : "s");
  if (tt_mpi.off)
    fprintf(to, "  nothing ran on tutti: %s\n", tt_mpi.off);
  fprintf(to, "  %-22s %12s %10s %10s %8s\n", "collective", "calls", "bytes", "time", "tutti");
  for (int c = 0; c < TT_MPI_COLLECTIVE_COUNT; c++) {
    if (all_of(&report->of[c]) == 0)
      continue;
    print_total(tt_mpi_collective_name((tt_mpi_collective)c), &report->of[c], true, to);
    for (; line < end && line->collective == c; line++)
      print_line(line, to);
  }
  print_total("all", &report->all, false, to);
}

/* ---- JSON ---- */

static void print_text(const char *text, FILE *to) {
  fputc('"', to);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      fputc('\\', to);
    fputc((unsigned char)*text < ' ' ? ' ' : *text, to);
  }
  fputc('"', to);
}

static void print_counts(const tt_mpi_total *total, FILE *to) {
  fprintf(to,
          "\"served\": %" PRId64 ", \"passed\": %" PRId64 ", \"alone\": %" PRId64 ", \"bytes\": %" PRId64
          ", \"native\": %.6f",
          total->served, total->passed, total->alone, total->bytes, native(total));
}

/* The lines of one kind that come next. */
static const tt_mpi_line *print_lines(const char *name, const tt_mpi_line *line, const tt_mpi_line *end, int collective,
                                      bool passed, FILE *to) {
  fprintf(to, ", \"%s\": [", name);
  for (const char *comma = ""; line < end && line->collective == collective && line->passed == passed; line++) {
    fprintf(to, "%s{\"calls\": %" PRId64 ", \"text\": ", comma, line->calls);
    print_text(line->text, to);
    if (!passed) {
      fprintf(to, ", \"media\": \"%s\", \"authority\": ", line->media);
      print_text(line->authority, to);
    }
    fputc('}', to);
    comma = ", ";
  }
  fputc(']', to);
  return line;
}

void tt_mpi_stats_json(const tt_mpi_report *report, FILE *to) {
  const tt_mpi_line *line = report->line, *end = line + report->line_count;
  fprintf(to, "{\"tutti\": \"%s\", \"ranks\": %d, ", TUTTI_VERSION, report->ranks);
  print_counts(&report->all, to);
  fputs(",\n \"off\": ", to);
  print_text(tt_mpi.off ? tt_mpi.off : "", to);
  fputs(",\n \"collectives\": [", to);
  const char *comma = "\n  ";
  for (int c = 0; c < TT_MPI_COLLECTIVE_COUNT; c++) {
    const tt_mpi_total *total = &report->of[c];
    if (all_of(total) == 0)
      continue;
    fprintf(to, "%s{\"name\": \"%s\", \"ns\": %" PRId64 ", ", comma, tt_mpi_collective_name((tt_mpi_collective)c),
            total->ns);
    print_counts(total, to);
    line = print_lines("params", line, end, c, false, to);
    line = print_lines("reasons", line, end, c, true, to);
    fputc('}', to);
    comma = ",\n  ";
  }
  fputs("]}\n", to);
}
