/* tools/plan/also.c - `tutti plan --also`: calls that go on at the same time.
 *
 *     also = collective { " " name "=" value }      params= takes all that follows */
#include "options.h"

#include "sim/sim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) tool_fail(options->command, TOOL_WRONG, __VA_ARGS__)

static int take_item(const plan_options *options, plan_also *also, const char *item, char *value) {
  *value++ = '\0';
  if (strcmp(item, "size") == 0)
    return tt_parse_bytes(value, &also->bytes) == TUTTI_OK && also->bytes > 0 && also->bytes <= PLAN_BYTES_MOST
               ? 0
               : FAIL("--also: size=%s is not a size from 1 to 1024G, such as 8, 64K, 1M or 2G", value);
  if (strcmp(item, "root") == 0)
    return tool_read_number(value, 0, INT32_MAX, &also->problem.root)
               ? 0
               : FAIL("--also: root=%s is not the number of a rank", value);
  if (strcmp(item, "at") == 0)
    return tt_sim_time_parse(value, &also->at_ns) ? 0
                                                  : FAIL("--also: at=%s is not a time, such as 500ns or 2us", value);
  return FAIL("--also: '%s' is unknown; write size=1M, root=3, at=5us, and params=TEXT last", item);
}

static int read_also(plan_options *options, char *text, plan_also *also) {
  char *rest = strstr(text, " params="), *in = NULL;
  if (rest) {
    *rest = '\0';
    also->params = rest + strlen(" params=");
  }
  const char *name = strtok_r(text, " ", &in);
  also->problem.collective = name ? tt_compose_find(name) : TT_COLLECTIVE_COUNT;
  if (also->problem.collective == TT_COLLECTIVE_COUNT)
    return FAIL("--also: '%s' is not a collective; tutti plan --help lists them", name ? name : "");
  int result = 0;
  for (char *word = strtok_r(NULL, " ", &in); word && result == 0; word = strtok_r(NULL, " ", &in)) {
    char *equals = strchr(word, '=');
    result = equals ? take_item(options, also, word, equals)
                    : FAIL("--also: '%s' is unknown; write size=1M, root=3, at=5us, and params=TEXT last", word);
  }
  return result;
}

int plan_take_also(void *to, const char *text) {
  plan_options *options = to;
  char *copy = tt_arena_alloc(&options->arena, strlen(text) + 1, 1);
  if (options->also.count == PLAN_ALSO)
    return FAIL("--also: the limit is %d calls", PLAN_ALSO);
  if (!copy)
    return FAIL("no memory");
  strcpy(copy, text);
  plan_also *also = &options->also.call[options->also.count++];
  *also = (plan_also){.params = ""};
  options->models = true;
  return read_also(options, copy, also);
}

int plan_also_check(plan_options *options) {
  const tt_problem *problem = &options->problem;
  for (int n = 0; n < options->also.count; n++) {
    plan_also *also = &options->also.call[n];
    tt_collective_info info = tt_compose_info(also->problem.collective);
    if (info.has_graph && !problem->graph)
      return FAIL("--also: %s needs a graph; only a neighbor collective may be beside another", info.name);
    if (also->problem.root >= problem->rank_count)
      return FAIL("--also: root=%" PRId64 " is not a rank below %" PRId64, also->problem.root, problem->rank_count);
    if (also->problem.root && !info.has_root)
      return FAIL("--also: %s has no root", info.name);
    also->problem.rank_count = problem->rank_count;
    also->problem.graph = info.has_graph ? problem->graph : NULL;
  }
  return 0;
}
