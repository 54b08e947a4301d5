/* tests/fuzz/topo_test.c - files of people about networks, right and wrong: switch files of both kinds, and nics.txt.
 *
 * A text is refused with an error, or it means something that holds: every node has its switches, and is found. */
#include "support/fuzz.h"
#include "topo/nics/nics.h"
#include "topo/switches/switches.h"

#include <unistd.h>

static void check(bool holds, const char *what, const char *bytes, size_t size) {
  if (holds)
    return;
  fprintf(stderr, "%s: %s\n--- the text:\n%.*s\n---\n", what, tutti_last_error(), (int)size, bytes);
  abort();
}

static void check_switches(const tt_switches *switches, const char *bytes, size_t size) {
  int64_t stride = 1 + switches->node_count / 50; /* finding one looks at all */
  for (int64_t n = 0, found = -1; n < switches->node_count; n += stride) {
    tt_locality locality = {.node = 0};
    tt_switches_locality(switches, n, &locality);
    check(locality.switch_count >= 1 && locality.switch_count <= TT_TOPO_SWITCHES, "a node has its switches", bytes,
          size);
    check(tt_switches_find(switches, switches->node[n].name, &found) == TUTTI_OK && found == n, "a node is found",
          bytes, size);
  }
}

static void parse_switches(const char *bytes, size_t size) {
  tt_arena arena;
  tt_switches *switches;
  tt_arena_init(&arena);
  tt_fail_clear();
  tutti_status status = tt_switches_parse(bytes, size, "fuzz", &arena, &switches);
  if (status == TUTTI_OK)
    check_switches(switches, bytes, size);
  else
    check(strncmp(tutti_last_error(), "fuzz", 4) == 0, "an error names the file", bytes, size);
  tt_arena_finish(&arena);
}

static char path[] = "/tmp/tutti-fuzz-XXXXXX";

static void parse_nics(const char *bytes, size_t size) {
  tt_nic nic[8];
  int64_t count = 0;
  char address[INET6_ADDRSTRLEN + 4];
  FILE *out = fopen(path, "w");
  check(out && fwrite(bytes, 1, size, out) == size && fclose(out) == 0, "a file is written", bytes, size);
  if (tt_nics_read_file(path, nic, TT_COUNT(nic), &count) != TUTTI_OK)
    return;
  tt_nics_judge(nic, count);
  for (int64_t n = 0; n < count; n++)
    tt_nics_format_address(&nic[n], address);
  check(tt_nics_choose("", nic, &count) == TUTTI_OK, "what is fit can be chosen", bytes, size);
}

int main(void) {
  int file = mkstemp(path);
  if (file < 0)
    return 1;
  close(file);
  fuzz_run("topo/switches", parse_switches);
  fuzz_run("topo/nics", parse_nics);
  unlink(path);
  return 0;
}
