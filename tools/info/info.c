/* tools/info/info.c - `tutti info`: what this tutti is, what machine it sees, and every option with its value. */
#include "info.h"

#include "base/base.h"
#include "dtype/dtype.h"
#include "lower/lower.h"
#include "transport/transport.h"

#include <tutti/tutti.h>

#include <inttypes.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void print_fact(const char *name, const char *value) { printf("%-10s %s\n", name, value); }

/* ---- the machine ---- */

static void print_processor(void) {
  char line[512] = "", *value = NULL;
  FILE *file = fopen("/proc/cpuinfo", "r");
  while (file && !value && fgets(line, sizeof line, file))
    value = strncmp(line, "model name", 10) == 0 ? strchr(line, ':') : NULL;
  if (file)
    fclose(file);
  if (value)
    printf("%-10s%.*s\n", "processor", (int)strcspn(value + 1, "\n"), value + 1);
}

static void print_cores(void) {
  cpu_set_t set;
  long online = sysconf(_SC_NPROCESSORS_ONLN);
  int usable = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : (int)online;
  printf("%-10s %d usable by this process, %ld online\n", "cores", usable, online);
}

static bool read_cache_fact(int cache, const char *fact, char text[static 64]) {
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/%s", cache, fact);
  FILE *file = fopen(path, "r");
  bool found = file && fgets(text, 64, file);
  if (file)
    fclose(file);
  if (found)
    text[strcspn(text, "\n")] = '\0';
  return found;
}

/* As core 0 sees them: "L1 data 48K, shared by cores 0". */
static void print_caches(void) {
  char level[64], type[64], size[64], cores[64];
  for (int cache = 0; read_cache_fact(cache, "level", level); cache++)
    if (read_cache_fact(cache, "type", type) && read_cache_fact(cache, "size", size) &&
        read_cache_fact(cache, "shared_cpu_list", cores) && strcmp(type, "Instruction") != 0)
      printf("%-10s L%s %s, shared by core%s %s\n", "cache", level, size, strpbrk(cores, ",-") ? "s" : "", cores);
}

static void print_kernels(void) {
  printf("%-10s %s; this processor runs", "kernels", tt_dtype_kernels());
  for (size_t set = 0; set < tt_dtype_set_count(); set++)
    printf(" %s", tt_dtype_set_name(set));
  putchar('\n');
}

/* Those that connect a job's ranks. */
static void print_transports(void) {
  size_t count;
  const tt_transport *transport = tt_transport_table(&count);
  for (size_t t = 0; t < count; t++)
    if (transport[t].reach == TT_REACH_MACHINE || transport[t].reach == TT_REACH_MACHINES)
      printf("%-10s %s, %s%s%s\n", "transport", transport[t].name, transport[t].help,
             transport[t].ops() ? "" : "; this tutti was built without ", transport[t].ops() ? "" : transport[t].needs);
}

/* ---- options ---- */

static void format_time(int64_t time_ns, char text[static 24]) {
  static const struct {
    int64_t ns;
    const char *name;
  } unit[] = {{1000000000, "s"}, {1000000, "ms"}, {1000, "us"}, {1, "ns"}};
  size_t u = 0;
  while (time_ns % unit[u].ns != 0)
    u++;
  snprintf(text, 24, "%" PRId64 "%s", time_ns / unit[u].ns, time_ns == 0 ? "" : unit[u].name);
}

static void format_option(const tt_option *option, char *text, size_t size) {
  const void *member = (const char *)tt_options_get() + option->offset;
  char number[24];
  int64_t value = 0;
  if (option->kind == TT_OPTION_TEXT) {
    const char *const *chosen = member;
    snprintf(text, size, "\"%s\"", *chosen ? *chosen : "");
    return;
  }
  memcpy(&value, member, sizeof value);
  if (option->kind == TT_OPTION_TIME)
    format_time(value, number);
  else if (option->kind == TT_OPTION_BYTES)
    tt_format_bytes(value, number);
  else
    snprintf(number, sizeof number, "%" PRId64, value);
  snprintf(text, size, "%s", number);
}

static void print_options(void) {
  size_t count;
  char value[256];
  const tt_option *option = tt_option_table(&count);
  printf("\n%-22s %-12s %-8s\n", "environment variable", "value", "default");
  for (size_t i = 0; i < count; i++) {
    format_option(&option[i], value, sizeof value);
    printf("%-22s %-12s %-8s %s\n", option[i].name, value, option[i].fallback[0] ? option[i].fallback : "\"\"",
           option[i].help);
  }
}

static void print_presets(void) {
  size_t count;
  const tt_preset *preset = tt_preset_table(&count);
  printf("\n%-22s parameters\n", "preset");
  for (size_t i = 0; i < count; i++)
    printf("%-22s %s\n%22s %s\n", preset[i].name, preset[i].text, "", preset[i].help);
}

int tt_tool_info(int argc, char **argv) {
  if (argc > 1) {
    fprintf(strcmp(argv[1], "--help") == 0 ? stdout : stderr, "usage: tutti info\n");
    return strcmp(argv[1], "--help") == 0 ? 0 : 2;
  }
  print_fact("tutti", TUTTI_VERSION);
  print_processor();
  print_cores();
  print_caches();
  print_kernels();
  print_transports();
  print_options();
  print_presets();
  return 0;
}
