/* lower/params_test.c - the text form of parameters: prints back, refuses with the word that is wrong, survives any
 * text. */
#include "lower/lower.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { TEXT = 2048 };

static void expect_text(const char *text, const char *printed) {
  tt_params params;
  char out[TEXT];
  if (tt_params_parse(text, &params) != TUTTI_OK)
    fail_msg("'%s': %s", text, tutti_last_error());
  tt_params_print(&params, out, sizeof out);
  assert_string_equal(out, printed);
}

static void test_texts_print_back_in_one_form(void **state) {
  (void)state;
  static const struct {
    const char *text, *printed;
  } texts[] = {
      {"", "[core:star]"},
      {" \t\n", "[core:star]"},
      {"linear", "[core:star]"},
      {"ring", "form=split [core:chain]"},
      {"ring channels=2", "form=split [core:chain] channels=2"},
      {"channels=2 ring", "form=split [core:chain] channels=2"},
      {"ring form=one", "form=one [core:chain]"},
      {"[core:2-nomial]", "[core:2-nomial]"},
      {"[core:2-nomial,near,rotate]", "[core:2-nomial]"},
      {"[core:4096-ary,far]", "[core:4096-ary,far]"},
      {"[core:2-nomial,xor,rotate,xor]", "[core:2-nomial,xor]"},
      {"[core:2-nomial,reflect,far]", "[core:2-nomial,reflect,far]"},
      {"[core:chain,reflect,rotate]", "[core:chain]"},
      {"[core:3-planted]", "[core:3-planted]"},
      {"[node:exchange/core:star]", "[node:exchange/core:star]"},
      {"reproducible", "[core:star] reproducible"},
      {"single-copy slice=64K", "[core:star] slice=64K single-copy"},
      {"ring reproducible reproducible", "form=split [core:chain] reproducible"},
      {"[node:chain/core:star] [node:star/core:3-nomial,far]", "[node:star/core:3-nomial,far]"},
      {"scatter[core:chain] [core:star] allgather[core:2-ary]",
       "scatter[core:chain] [core:star] allgather[core:2-ary]"},
      {"[a:star/b:star/c:star/d:star/e:star/core:star]", "[a:star/b:star/c:star/d:star/e:star/core:star]"},
      {"stripe=4096 ring=4096 channels=4096", "[core:star] stripe=4096 ring=4096 channels=4096"},
      {"stripe=0 ring=0 channels=1 slice=0", "[core:star]"},
      {"stripe=8 stripe=2", "[core:star] stripe=2"},
      {"slice=65536", "[core:star] slice=64K"},
      {"slice=64K", "[core:star] slice=64K"},
      {"slice=65537", "[core:star] slice=65537"},
      {"slice=1024G", "[core:star] slice=1024G"},
      {"acc=f32 slice=64", "[core:star] slice=64 acc=f32"},
      {"acc=f32 acc=own", "[core:star]"},
      {"slice=1099511627775", "[core:star] slice=1099511627775"},
      {"rabenseifner [core:chain]", "form=allgather.reduce-scatter [core:chain]"},
  };
  for (size_t n = 0; n < TT_COUNT(texts); n++)
    expect_text(texts[n].text, texts[n].printed);
}

static void test_every_preset_is_its_text(void **state) {
  (void)state;
  size_t count;
  const tt_preset *preset = tt_preset_table(&count);
  for (size_t n = 0; n < count; n++) {
    tt_params params;
    char text[TEXT];
    assert_int_equal(tt_params_parse(preset[n].text, &params), TUTTI_OK);
    tt_params_print(&params, text, sizeof text);
    expect_text(preset[n].name, text);
    assert_true(*preset[n].help);
  }
}

static void test_broken_texts_are_refused_with_their_word(void **state) {
  (void)state;
  static const struct {
    const char *text, *error;
  } broken[] = {
      {"fugue", "'fugue' is neither a preset nor a parameter"},
      {"Ring", "'Ring' is neither"},
      {"core:star", "'core:star' is neither"},
      {"form=", "'form=' does not name a form"},
      {"form=a-name-that-is-longer-than-any-form-can-ever-be-in-here", "does not name a form"},
      {"[]", "has no level"},
      {"[/]", "has no level"},
      {"[core]", "'core' is not a level; write name:shape"},
      {"[:star]", "':star' is not a level"},
      {"[a-name-of-16-chr:star]", "is not a level"},
      {"[core:]", "'' is not a shape"},
      {"[core:,xor]", "'xor' is not a shape"},
      {"[core:stars]", "'stars' is not a shape"},
      {"[core:1-nomial]", "'1-nomial' is not a shape"},
      {"[core:4097-ary]", "'4097-ary' is not a shape"},
      {"[core:-2-ary]", "'-2-ary' is not a shape"},
      {"[core:99999999999999999999-ary]", "is not a shape"},
      {"[core:2-]", "'2-' is not a shape"},
      {"[core:nomial]", "'nomial' is not a shape"},
      {"[core:2-star]", "'2-star' is not a shape"},
      {"[core:planted]", "'planted' is not a shape"},
      {"[core:2-exchange]", "'2-exchange' is not a shape"},
      {"[core:2nomial]", "'2nomial' is not a shape"},
      {"reproducible=1", "'reproducible=1' is neither"},
      {"[core:2-nomialx]", "'2-nomialx' is not a shape"},
      {"[core: 2-nomial]", "is not a stage"},
      {"[core:star,flip]", "'flip' is not an attribute"},
      {"[core:star,xor2]", "'xor2' is not an attribute"},
      {"[core:star", "'[core:star' is not a stage"},
      {"core:star]", "'core:star]' is neither"},
      {"]core:star[", "is not a stage"},
      {"[core:star]x", "is not a stage"},
      {"[core:star]]", "is not a stage"},
      {"[[core:star]]", "is not a stage"},
      {"a-stage-of-24-characters[core:star]", "is not a stage"},
      {"[a:star/b:star/c:star/d:star/e:star/f:star/g:star/core:star]", "'core:star' is one level too many"},
      {"a[core:star] b[core:star] c[core:star] d[core:star] e[core:star] f[core:star] g[core:star] h[core:star] "
       "i[core:star] j[core:star]",
       "'j[core:star]' is one stage too many"},
      {"stripe=", "'stripe=' needs a number from 0 to 4096"},
      {"stripe=x", "'stripe=x' needs a number"},
      {"stripe=2x", "'stripe=2x' needs a number"},
      {"stripe=-1", "'stripe=-1' needs a number"},
      {"stripe=4097", "'stripe=4097' needs a number"},
      {"stripe=9223372036854775807", "needs a number"},
      {"stripe=18446744073709551618", "needs a number"}, /* 2^64 + 2 */
      {"ring=99999999999999999999999", "needs a number"},
      {"channels=0", "'channels=0' needs a number from 1 to 4096"},
      {"channels=1 channels=two", "'channels=two'"},
      {"slice=", "'slice=' needs bytes"},
      {"acc=", "'acc=' needs own or f32"},
      {"acc=f64", "'acc=f64' needs own or f32"},
      {"slice=-1", "needs bytes"},
      {"slice=64Q", "needs bytes"},
      {"slice=99999999999999999999", "needs bytes"},
      {"slice=9223372036854775807K", "needs bytes"},
      {"slice=9223372036854775807", "needs bytes up to 1024G"},
      {"slice=1099511627777", "needs bytes up to 1024G"},
  };
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    tt_params params = {.stripe = 77};
    if (tt_params_parse(broken[n].text, &params) != TUTTI_ERR_PLAN)
      fail_msg("'%s' is accepted", broken[n].text);
    if (!strstr(tutti_last_error(), broken[n].error))
      fail_msg("'%s': expected \"%s\" in \"%s\"", broken[n].text, broken[n].error, tutti_last_error());
    assert_int_equal(params.stripe, 77); /* written on success only */
  }
}

static void test_long_texts_are_refused(void **state) {
  (void)state;
  char text[4096];
  tt_params params;
  memset(text, ' ', sizeof text);
  text[511] = '\0';
  assert_int_equal(tt_params_parse(text, &params), TUTTI_OK);
  text[511] = ' ';
  text[512] = '\0';
  assert_int_equal(tt_params_parse(text, &params), TUTTI_ERR_PLAN);
  assert_non_null(strstr(tutti_last_error(), "the text has 512 characters; the limit is 511"));
  text[512] = ' ';
  text[sizeof text - 1] = '\0';
  assert_int_equal(tt_params_parse(text, &params), TUTTI_ERR_PLAN);
}

static void test_short_room_cuts_the_text(void **state) {
  (void)state;
  tt_params params;
  char whole[TEXT], part[TEXT];
  assert_int_equal(tt_params_parse("scatter-allgather stripe=3 ring=2 channels=7 slice=12K", &params), TUTTI_OK);
  tt_params_print(&params, whole, sizeof whole);
  for (size_t size = 0; size <= strlen(whole) + 1; size++) {
    memset(part, '#', sizeof part);
    tt_params_print(&params, part, size);
    if (size > 0)
      assert_true(strncmp(part, whole, size - 1) == 0 && part[size - 1] == '\0');
    assert_int_equal(part[size], '#');
  }
}

/* ---- random ---- */

static int64_t below(tt_random *random, uint64_t limit) { return (int64_t)tt_random_below(random, limit); }

static void random_stage(tt_random *random, tt_stage_params *stage) {
  static const char *const names[TT_TOPO_LEVELS] = {"cluster", "switch", "rack", "node", "socket", "numa", "core"};
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  stage->level_count = 1 + (int)below(random, TT_TOPO_LEVELS);
  for (int n = 0; n < stage->level_count; n++) {
    tt_level_params *level = &stage->level[n];
    strcpy(level->name, names[TT_TOPO_LEVELS - stage->level_count + n]);
    level->shape = shapes[below(random, count)];
    const tt_shape_info *info = tt_shape_about(level->shape);
    level->k = info->k_most ? info->k_least + (int)below(random, (uint64_t)(info->k_most - info->k_least + 1)) : 2;
    level->labelling = (tt_labelling)below(random, TT_LABELLING_COUNT);
    level->order = (tt_order)below(random, TT_ORDER_COUNT);
  }
}

static void random_params(tt_random *random, tt_params *params) {
  static const char *const stages[] = {"", "scatter", "allgather"}, *const forms[] = {"", "one", "split",
                                                                                      "allgather.scatter"};
  memset(params, 0, sizeof *params);
  strcpy(params->form, forms[below(random, TT_COUNT(forms))]);
  params->stage_count = 1 + (int)below(random, TT_COUNT(stages));
  for (int n = 0; n < params->stage_count; n++) {
    strcpy(params->stage[n].stage, stages[n]);
    random_stage(random, &params->stage[n]);
  }
  params->stripe = below(random, 2) * (below(random, 4098) + TT_STRIPE_ALL);
  params->even = below(random, 2);
  params->ring = below(random, 2) * below(random, 4097);
  params->channels = 1 + below(random, 2) * below(random, 4096);
  params->slice_bytes = below(random, 2) * below(random, (uint64_t)1 << (1 + below(random, 40)));
  params->acc_float32 = below(random, 2);
  params->reproducible = below(random, 2);
  params->single_copy = below(random, 2);
}

static void test_random_parameters_come_back(void **state) {
  (void)state;
  tt_random random;
  int accepted = 0;
  for (uint64_t seed = 0; seed < 20000; seed++) {
    tt_params params, parsed;
    char text[TEXT], again[TEXT];
    tt_random_init(&random, seed);
    random_params(&random, &params);
    tt_params_print(&params, text, sizeof text);
    if (strlen(text) > 511)
      continue;
    if (tt_params_parse(text, &parsed) != TUTTI_OK)
      fail_msg("seed %d, '%s': %s", (int)seed, text, tutti_last_error());
    tt_params_print(&parsed, again, sizeof again);
    assert_string_equal(text, again);
    assert_memory_equal(&params, &parsed, sizeof params);
    accepted++;
  }
  assert_true(accepted > 10000);
}

/* Whatever is accepted prints to a text that is accepted and prints the same. */
static void expect_fixed_point(const char *text) {
  tt_params params, again;
  char once[TEXT], twice[TEXT];
  if (tt_params_parse(text, &params) != TUTTI_OK)
    return;
  tt_params_print(&params, once, sizeof once);
  if (strlen(once) > 511)
    return;
  if (tt_params_parse(once, &again) != TUTTI_OK)
    fail_msg("'%s' prints as '%s': %s", text, once, tutti_last_error());
  assert_true(params.slice_bytes == again.slice_bytes && params.stripe == again.stripe && params.ring == again.ring);
  tt_params_print(&again, twice, sizeof twice);
  assert_string_equal(once, twice);
}

static void mutate(tt_random *random, char *text, size_t size) {
  static const char alphabet[] = "[]/:,=. -0129K-nomialarystarchainplantedexchangexorreflectfarnearslicering\t\xff";
  for (int64_t changes = 1 + below(random, 6); changes > 0; changes--) {
    size_t length = strlen(text), at = (size_t)below(random, length + 1);
    char byte = alphabet[below(random, sizeof alphabet - 1)];
    int64_t way = below(random, 3);
    if (way == 0 && length + 1 < size) /* insert */
      memmove(text + at + 1, text + at, length - at + 1);
    if ((way == 0 && length + 1 < size) || (way == 1 && at < length))
      text[at] = byte;
    else if (at < length) /* drop */
      memmove(text + at, text + at + 1, length - at);
  }
}

static void test_mutated_texts_are_refused_or_print_back(void **state) {
  (void)state;
  static const char *const seeds[] = {
      "",
      "ring",
      "form=allgather.scatter scatter[core:2-nomial,far] allgather[core:chain] slice=64K",
      "[node:chain/core:star] stripe=8 ring=2 channels=3",
      "a[b:2-ary,xor,near] [core:star]",
      "slice=9223372036854775807",
      "[][][]",
      "////",
      "form=form=form= [[[:]]]",
      "stripe=00000000000000000000000000000000000000000001"};
  tt_random random;
  tt_random_init(&random, 7);
  for (int n = 0; n < 100000; n++) {
    char text[600];
    snprintf(text, sizeof text, "%s", seeds[below(&random, TT_COUNT(seeds))]);
    mutate(&random, text, sizeof text);
    expect_fixed_point(text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_texts_print_back_in_one_form),
      cmocka_unit_test(test_every_preset_is_its_text),
      cmocka_unit_test(test_broken_texts_are_refused_with_their_word),
      cmocka_unit_test(test_long_texts_are_refused),
      cmocka_unit_test(test_short_room_cuts_the_text),
      cmocka_unit_test(test_random_parameters_come_back),
      cmocka_unit_test(test_mutated_texts_are_refused_or_print_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
