/* tests/conformance/choose.h - which call comes next: a random one of the tables' rows and of values that are likely to
 * be special. Ranks that draw from equal seeds draw the same. */
#ifndef TEST_CONFORMANCE_CHOOSE_H
#define TEST_CONFORMANCE_CHOOSE_H

#include "conformance/call.h"
#include "lower/lower.h"

/* Added to presets; the ring needs two ranks. */
static const char *const choose_extra[] = {"", " channels=2 slice=4K", " stripe=2", " channels=3 stripe=3"};

static inline size_t choose_index(tt_random *random, size_t count) {
  return (size_t)tt_random_below(random, (uint64_t)count);
}

/* A preset with more text, and in a form of the collective where it does not name its own. */
static inline void choose_params(tt_random *random, call *made) {
  size_t presets;
  const tt_preset *preset = tt_preset_table(&presets);
  size_t which = choose_index(random, presets + 2);
  tt_collective_info info = tt_compose_info(made->collective);
  const char *text = which < presets ? preset[which].name : "[core:chain] ring=2";
  bool has_form = which < presets && strstr(preset[which].text, "form=");
  snprintf(made->params, sizeof made->params, "%s%s%s%s", text,
           choose_extra[choose_index(random, TT_COUNT(choose_extra))],
           has_form ? "" : " form=", has_form ? "" : info.form[choose_index(random, (size_t)info.form_count)]);
  if (which > presets)
    made->params[0] = '\0';
}

/* Whether its parameters make a plan: a preset's form may be one that the collective has not. */
static inline bool choose_valid(const call *of, int64_t size) {
  tt_params params;
  tt_composition made;
  tt_problem problem = {of->collective, size, of->root, false};
  tt_fail_clear();
  return tt_params_parse(of->params, &params) == TUTTI_OK && params.ring <= size &&
         tt_compose(&problem, params.form, &made) == TUTTI_OK;
}

static inline int64_t choose_count(tt_random *random, int64_t size, int64_t most) {
  const int64_t counts[] = {0, 1, size - 1, size, 17, 1000, 65537};
  int64_t count = counts[tt_random_below(random, TT_COUNT(counts))];
  return count < most ? count : most;
}

static inline call choose_call(tt_random *random, int64_t size, int64_t most) {
  call made = {.collective = (tt_collective)tt_random_below(random, TT_COLLECTIVE_COUNT),
               .type = (tutti_type)tt_random_below(random, TUTTI_TYPE_COUNT),
               .op = (tutti_op)tt_random_below(random, TUTTI_OP_COUNT),
               .count = choose_count(random, size, most),
               .root = (int64_t)tt_random_below(random, (uint64_t)size),
               .mode = (call_mode)tt_random_below(random, CALL_MODE_COUNT),
               .places = (call_places)tt_random_below(random, CALL_PLACES_COUNT)};
  if (!tt_compose_info(made.collective).has_root)
    made.root = 0;
  choose_params(random, &made);
  return made;
}

#endif
