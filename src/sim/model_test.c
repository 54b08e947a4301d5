/* Rates as text: what is read, what is refused, and that a printed model is read back as the same. */
#include "sim/sim.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

static tt_topo *make_topo(tt_arena *arena) {
  static const int64_t node[] = {0, 0, 1, 1}, socket[] = {0, 1, 2, 3};
  tt_topo *topo = tt_topo_flat(arena, 4);
  assert_int_equal(tt_topo_add(topo, arena, "node", node), TUTTI_OK);
  assert_int_equal(tt_topo_add(topo, arena, "socket", socket), TUTTI_OK);
  return topo;
}

static void test_items_without_a_level_are_for_all_levels(void **state) {
  (void)state;
  tt_arena arena;
  tt_sim_model model;
  tt_arena_init(&arena);
  tt_sim_model_init(&model, make_topo(&arena));
  assert_int_equal(
      tt_sim_model_parse("alpha=3us,beta=0.5ns/B;node:alpha=7,links=4,ports=2;gamma=1;slot=8K,slots=3", &model),
      TUTTI_OK);
  const double alpha[] = {7, 3000, 3000};
  for (int n = 0; n < 3; n++) {
    assert_true(model.level[n].alpha_ns == alpha[n] && model.level[n].beta_ns == 0.5);
    assert_int_equal(model.level[n].ports, n == 0 ? 2 : 1);
  }
  assert_int_equal(model.level[0].links, 4);
  assert_true(model.gamma_ns == 1);
  assert_int_equal(model.slot_bytes, 8192);
  assert_int_equal(model.slot_count, 3);
  tt_arena_finish(&arena);
}

static void test_a_printed_model_is_read_back(void **state) {
  (void)state;
  static const char *const texts[] = {"",
                                      "alpha=0,beta=0;gamma=0",
                                      "node:links=0;core:links=2,ports=5",
                                      "alpha=123.25,copy=0.125;socket:beta=1e-3;slot=100,slots=1",
                                      "node.0.0:beta=0.25,load=25%;node.*:load=50%;rank.1-3:late=2us;rank.*:load=75%",
                                      "socket:links=2;socket.1-3.1:beta=0;gamma=0;rank.0:late=123.25ns"};
  tt_arena arena;
  tt_arena_init(&arena);
  const tt_topo *topo = make_topo(&arena);
  for (size_t n = 0; n < TT_COUNT(texts); n++) {
    char text[512], again[512];
    tt_sim_model model, read;
    tt_sim_model_init(&model, topo);
    assert_int_equal(tt_sim_model_parse(texts[n], &model), TUTTI_OK);
    tt_sim_model_print(&model, text, sizeof text);
    tt_sim_model_init(&read, topo);
    assert_int_equal(tt_sim_model_parse(text, &read), TUTTI_OK);
    tt_sim_model_print(&read, again, sizeof again);
    assert_string_equal(text, again);
    assert_memory_equal(&model, &read, sizeof model);
  }
  tt_arena_finish(&arena);
}

static void test_what_does_not_fit_is_named(void **state) {
  (void)state;
  static const char *const bad[] = {
      "alpha",          "alpha=",           "alpha=-1",        "alpha=1h",         "beta=x",          "beta=nan",
      "beta=inf",       "ports=0",          "ports=1.5",       "ports=65",         "links=-1",        "delta=1",
      "slot=1.5",       "rack:alpha=1",     "gamma=1us",       "alpha=2s",         "slots=1e9",       "alphabet=1",
      "late=1us",       "load=50%",         "rank.4:late=1",   "rank.1:late=-1",   "rank.1:beta=1",   "rank.1.1:late=1",
      "rank.:late=1",   "rank.3-1:late=1",  "rank.1x:late=1",  "node.0:load=100%", "node.0:load=0.5", "node.0:alpha=1",
      "node.2:load=1%", "node.0.1:load=1%", "node.0.:load=1%", "core.0:load=1%",   "rack.0:load=1%"};
  tt_arena arena;
  tt_arena_init(&arena);
  const tt_topo *topo = make_topo(&arena);
  for (size_t n = 0; n < TT_COUNT(bad); n++) {
    tt_sim_model model;
    tt_sim_model_init(&model, topo);
    tt_fail_clear();
    if (tt_sim_model_parse(bad[n], &model) != TUTTI_ERR_ARGUMENT)
      fail_msg("'%s' was taken", bad[n]);
    const char *error = tutti_last_error(), *item = strchr(bad[n], ':');
    size_t level = strcspn(bad[n], ":.");
    if (!memmem(error, strlen(error), bad[n], level) && !strstr(error, item + 1))
      fail_msg("'%s': %s", bad[n], error);
  }
  tt_arena_finish(&arena);
}

static void test_ranks_meet_at_the_outermost_level_that_separates_them(void **state) {
  (void)state;
  tt_arena arena;
  tt_sim_model model;
  tt_arena_init(&arena);
  tt_sim_model_init(&model, make_topo(&arena));
  assert_int_equal(tt_sim_model_level(&model, 0, 2), 0);
  assert_int_equal(tt_sim_model_level(&model, 3, 1), 0);
  assert_int_equal(tt_sim_model_level(&model, 0, 1), 1);
  model.topo = tt_topo_flat(&arena, 4);
  assert_int_equal(tt_sim_model_level(&model, 0, 3), 0);
  tt_arena_finish(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_items_without_a_level_are_for_all_levels),
      cmocka_unit_test(test_a_printed_model_is_read_back),
      cmocka_unit_test(test_what_does_not_fit_is_named),
      cmocka_unit_test(test_ranks_meet_at_the_outermost_level_that_separates_them),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
