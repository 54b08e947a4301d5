/* draw/svg_test.c - pictures are well formed and show every message once. */
#include "compose/compose.h"
#include "draw/draw.h"
#include "lower/lower.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct drawn {
  tt_arena arena;
  tt_topo *topo;
  tt_composition composition;
  tt_lowering *lowering;
  tt_plan *plan[TT_DRAW_RANKS + 1];
  tt_draw_picture picture;
} drawn;

static void compile(drawn *in, tt_collective collective, int64_t ranks, const char *map, const char *params) {
  int64_t group_of[TT_DRAW_RANKS + 1];
  tt_problem problem = {.collective = collective, .rank_count = ranks};
  tt_params parsed;
  tt_arena_init(&in->arena);
  in->topo = tt_topo_flat(&in->arena, ranks);
  in->topo->level[0].publish = true;
  if (map) {
    assert_int_equal(tt_topo_parse_map(map, ranks, group_of), TUTTI_OK);
    assert_int_equal(tt_topo_add(in->topo, &in->arena, "node", group_of), TUTTI_OK);
  }
  assert_int_equal(tt_params_parse(params, &parsed), TUTTI_OK);
  assert_int_equal(tt_compose(&problem, parsed.form, &in->composition), TUTTI_OK);
  assert_int_equal(tt_lowering_create(&in->composition, in->topo, &parsed, &in->lowering), TUTTI_OK);
  for (int64_t r = 0; r < ranks; r++)
    assert_int_equal(tt_lower_rank(in->lowering, r, &in->plan[r]), TUTTI_OK);
  in->picture =
      (tt_draw_picture){.plan = (const tt_plan *const *)in->plan, .topo = in->topo, .title = "a < b & \"c\" > d"};
}

static void release(drawn *in) {
  for (int64_t r = 0; r < in->composition.rank_count; r++)
    tt_plan_destroy(in->plan[r]);
  tt_lowering_destroy(in->lowering);
  tt_arena_finish(&in->arena);
}

static char *draw(const drawn *in, tutti_status (*form)(const tt_draw_picture *, FILE *)) {
  char *text = NULL;
  size_t size = 0;
  FILE *file = open_memstream(&text, &size);
  assert_non_null(file);
  assert_int_equal(form(&in->picture, file), TUTTI_OK);
  fclose(file);
  return text;
}

static int64_t count(const char *text, const char *word) {
  int64_t found = 0;
  for (const char *at = text; (at = strstr(at, word)); at += strlen(word))
    found++;
  return found;
}

/* ---- well-formed: tags nest, attributes are quoted, text has no bare characters of markup ---- */

static const char *skip_tag(const char *at) {
  for (char quote = '\0'; *at && (quote || *at != '>'); at++) {
    assert_true(*at != '<');
    if (quote ? *at == quote : *at == '"')
      quote = quote ? '\0' : '"';
  }
  assert_int_equal(*at, '>');
  return at;
}

static void assert_well_formed(const char *text) {
  char open[8][16];
  int depth = 0;
  for (const char *at = text; *at; at++) {
    if (*at == '&')
      assert_true(!strncmp(at, "&amp;", 5) || !strncmp(at, "&lt;", 4) || !strncmp(at, "&gt;", 4));
    if (*at != '<')
      continue;
    bool closes = at[1] == '/';
    const char *name = at + 1 + closes, *end = skip_tag(name);
    int length = 0;
    while (isalpha((unsigned char)name[length]))
      length++;
    if (closes) {
      assert_true(depth > 0);
      assert_int_equal(strlen(open[--depth]), length);
      assert_memory_equal(open[depth], name, (size_t)length);
    } else if (end[-1] != '/') {
      assert_true(depth < 8 && length < 16);
      snprintf(open[depth++], 16, "%.*s", length, name);
    }
    at = end;
  }
  assert_int_equal(depth, 0);
}

/* ---- cases ---- */

static const struct {
  tt_collective collective;
  int64_t ranks;
  const char *map, *params;
} cases[] = {
    {TT_ALLREDUCE, 1, NULL, "recursive-doubling"},
    {TT_ALLREDUCE, 8, NULL, "recursive-doubling"},
    {TT_ALLREDUCE, 13, NULL, "rabenseifner"},
    {TT_BROADCAST, 7, "3,4", "[node:2-nomial,far/core:2-ary] stripe=3"},
    {TT_ALLGATHER, 6, "cyclic:3", "two-level-ring channels=2"},
    {TT_REDUCE_SCATTER, 16, NULL, "linear"},
    {TT_BARRIER, 64, "8x8", "two-level-halving"},
};

static int64_t readers_of(const tt_plan *plan) {
  int64_t arrows = 0;
  for (uint32_t n = 0; n < plan->lane_count; n++)
    for (uint32_t k = 0; k < plan->lane[n].step_count && plan->lane[n].role == TT_ROLE_SEND; k++)
      if (plan->step[plan->lane[n].first_step + k].flags & TT_STEP_LAST)
        arrows += plan->lane[n].published ? plan->lane[n].reader_count : 1;
  return arrows;
}

static void test_svg_shows_every_message_once(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(cases); n++) {
    drawn in = {0};
    compile(&in, cases[n].collective, cases[n].ranks, cases[n].map, cases[n].params);
    int64_t arrows = 0;
    for (int64_t r = 0; r < cases[n].ranks; r++)
      arrows += readers_of(in.plan[r]);
    char *text = draw(&in, tt_draw_svg);
    assert_int_equal(count(text, "class=\"message l"), arrows);
    assert_int_equal(count(text, ">rank "), cases[n].ranks);
    free(text);
    release(&in);
  }
}

static void test_svg_without_publishing_has_as_many_arrows_as_messages(void **state) {
  (void)state;
  drawn in = {0};
  compile(&in, TT_ALLREDUCE, 8, NULL, "recursive-doubling");
  char *text = draw(&in, tt_draw_svg);
  assert_int_equal(tt_plan_sent(in.plan[0], -1).messages, 3);
  assert_int_equal(count(text, "class=\"message l"), 8 * 3);
  free(text);
  release(&in);
}

static void test_svg_is_well_formed(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(cases); n++) {
    drawn in = {0};
    compile(&in, cases[n].collective, cases[n].ranks, cases[n].map, cases[n].params);
    char *text = draw(&in, tt_draw_svg);
    assert_well_formed(text);
    assert_non_null(strstr(text, "a &lt; b &amp; \"c\" &gt; d"));
    free(text);
    release(&in);
  }
}

static void test_svg_has_a_colour_for_every_level(void **state) {
  (void)state;
  char text[600] = "plan rank 0 of 1 blocks 1 parts 1 tmp 0 times 1 slice 0\n";
  size_t used = strlen(text);
  for (int n = 0; n < TT_PLAN_LEVELS; n++)
    used += (size_t)snprintf(text + used, sizeof text - used, "level %d l%c\n", n, 'a' + n);
  snprintf(text + used, sizeof text - used, "lane 0 id 0 local level %d channel 0\n  0 t0 copy b0 in.0 => out.0\n",
           TT_PLAN_LEVELS - 1);
  tt_plan *plan = NULL;
  assert_int_equal(tt_plan_parse(text, &plan), TUTTI_OK);
  drawn in = {.picture = {.plan = (const tt_plan *const *)&plan, .title = "levels"}};
  char *svg = draw(&in, tt_draw_svg);
  assert_int_equal(count(svg, "style=\"fill:#"), TT_PLAN_LEVELS);
  assert_int_equal(count(svg, ";marker-end:"), TT_PLAN_LEVELS);
  assert_null(strstr(svg, "(null)"));
  free(svg);
  tt_plan_destroy(plan);
}

static void test_svg_refuses_more_ranks_than_fit(void **state) {
  (void)state;
  drawn in = {0};
  compile(&in, TT_BROADCAST, TT_DRAW_RANKS + 1, NULL, "binomial");
  FILE *file = tmpfile();
  assert_non_null(file);
  assert_int_equal(tt_draw_svg(&in.picture, file), TUTTI_ERR_UNSUPPORTED);
  assert_non_null(strstr(tutti_last_error(), "65"));
  assert_int_equal(ftell(file), 0);
  fclose(file);
  release(&in);
}

static void test_dot_has_every_step_and_stream(void **state) {
  (void)state;
  drawn in = {0};
  compile(&in, TT_ALLREDUCE, 4, NULL, "[core:2-nomial,xor]");
  char *text = draw(&in, tt_draw_dot);
  int64_t steps = 0, sends = 0;
  for (int64_t r = 0; r < 4; r++) {
    steps += in.plan[r]->step_count;
    sends += tt_plan_sent(in.plan[r], -1).blocks;
  }
  assert_int_equal(count(text, "[label=\""), steps);
  assert_int_equal(count(text, "style=bold"), sends);
  assert_int_equal(count(text, "{"), count(text, "}"));
  free(text);
  release(&in);
}

/* Lanes of one level have one id in all its groups. */
static void test_dot_has_streams_to_readers_of_the_own_group_alone(void **state) {
  (void)state;
  drawn in = {0};
  compile(&in, TT_ALLREDUCE, 8, "2x4", "two-level-ring");
  char *text = draw(&in, tt_draw_dot);
  int64_t streams = 0;
  for (int64_t r = 0; r < 8; r++)
    for (uint32_t n = 0; n < in.plan[r]->lane_count; n++) {
      const tt_lane *lane = &in.plan[r]->lane[n];
      if (lane->role == TT_ROLE_SEND)
        streams += lane->step_count * (lane->published ? lane->reader_count : 1);
    }
  assert_int_equal(count(text, "style=bold"), streams);
  free(text);
  release(&in);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_svg_shows_every_message_once),
      cmocka_unit_test(test_svg_without_publishing_has_as_many_arrows_as_messages),
      cmocka_unit_test(test_svg_is_well_formed),
      cmocka_unit_test(test_svg_has_a_colour_for_every_level),
      cmocka_unit_test(test_svg_refuses_more_ranks_than_fit),
      cmocka_unit_test(test_dot_has_every_step_and_stream),
      cmocka_unit_test(test_dot_has_streams_to_readers_of_the_own_group_alone),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
