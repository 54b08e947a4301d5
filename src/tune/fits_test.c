/* Rates as a file: what is written is read back; what others have written stays; what is wrong is named. */
#include "tune/tune.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define MACHINE "0123456789abcdef"

static char folder[] = "/tmp/tutti-fits-XXXXXX", path[64];

static int make_folder(void **state) {
  (void)state;
  return mkdtemp(folder) && snprintf(path, sizeof path, "%s/machine.json", folder) > 0 ? 0 : -1;
}

static int remove_folder(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -rf '%s'", folder);
  return system(command);
}

static int remove_file(void **state) {
  (void)state;
  unlink(path);
  return 0;
}

/* Times that six digits hold. */
static tt_fit make_fit(int64_t ranks, double scale) {
  tt_fit fit = {.shape = {.rank_count = ranks, .node_count = 1, .ranks_per_node = ranks, .nic_count = 2},
                .rates = {.call_ns = 60 * scale,
                          .cores = 2,
                          .switch_ns = 450,
                          .cache_bytes = 1 << 21,
                          .memory_ns = 0.25,
                          .within = {.alpha_ns = 150, .ports = 64},
                          .between = {.alpha_ns = 9000, .beta_ns = 0.125, .ports = 1, .links = 3}}};
  for (int medium = 0; medium <= TT_MEDIUM_COUNT; medium++)
    for (int act = 0; act < TT_SIM_ACTS; act++) {
      tt_sim_end *end = medium == TT_MEDIUM_COUNT ? &fit.rates.own[act] : &fit.rates.end[medium][act];
      for (int k = 0; k < TT_SIM_PIECES; k++) {
        end->piece_ns[k] = scale * (medium * 1000 + act * 100 + k + 0.5);
        end->both_ns[k] = 0 - scale * k;
      }
      for (int k = 0; k < TT_SIM_REUSES; k++)
        end->reuse_ns[k] = scale * 0.0625 * k;
      end->past_ns = 0.5 * scale;
    }
  return fit;
}

static void write_fit(const tt_fit *fit) {
  if (tt_fits_write(path, MACHINE, "a test", fit) != TUTTI_OK)
    fail_msg("%s", tutti_last_error());
}

static tt_fits *read_fits(void) {
  tt_fits *fits = NULL;
  if (tt_fits_read(path, &fits) != TUTTI_OK)
    fail_msg("%s", tutti_last_error());
  return fits;
}

static void test_a_fit_is_read_back(void **state) {
  (void)state;
  tt_fit fit = make_fit(4, 1);
  write_fit(&fit);
  tt_fits *fits = read_fits();
  assert_int_equal(fits->count, 1);
  assert_string_equal(fits->machine, MACHINE);
  assert_string_equal(fits->about, "a test");
  assert_memory_equal(&fits->fit[0].shape, &fit.shape, sizeof fit.shape);
  assert_memory_equal(&fits->fit[0].rates, &fit.rates, sizeof fit.rates);
  tt_fits_destroy(fits);
}

static void test_a_fit_takes_the_place_of_one_of_its_shape(void **state) {
  (void)state;
  tt_fit two = make_fit(2, 1), four = make_fit(4, 1), again = make_fit(2, 2);
  write_fit(&two);
  write_fit(&four);
  write_fit(&again);
  tt_fits *fits = read_fits();
  assert_int_equal(fits->count, 2);
  assert_true(tt_fits_find(fits, &two.shape)->rates.call_ns == 120);
  assert_true(tt_fits_find(fits, &four.shape)->rates.call_ns == 60);
  two.shape.nic_count = 1;
  assert_null(tt_fits_find(fits, &two.shape));
  tt_fits_destroy(fits);
}

static void test_another_machines_file_is_left_alone(void **state) {
  (void)state;
  tt_fit fit = make_fit(2, 1);
  write_fit(&fit);
  assert_int_equal(tt_fits_write(path, "fedcba9876543210", "", &fit), TUTTI_ERR_UNSUPPORTED);
  assert_non_null(strstr(tutti_last_error(), MACHINE));
  tt_fits *fits = read_fits();
  assert_string_equal(fits->machine, MACHINE);
  tt_fits_destroy(fits);
}

/* ---- files from anybody ---- */

static char *read_text(void) {
  static char text[1 << 16];
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = '\0';
  fclose(file);
  return text;
}

static void write_text(const char *before, const char *with, const char *behind) {
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  fprintf(file, "%s%s%s", before, with, behind);
  fclose(file);
}

/* The first of those words becomes others; the error has the third text. */
static const struct {
  const char *old, *with, *error;
} wrong[] = {{"{\"tutti", "{{\"tutti", "line 1"},
             {"\"ends\": [", "\"ends\": ,[", "line 5"},
             {"\"tutti-machine\": 1", "\"tutti-machine\": 2", "tutti-machine"},
             {"\"fits\": [", "\"fats\": [", "fits"},
             {"\"machine\": \"0", "\"machine\": \"", "machine"},
             {"\"ranks\": 4", "\"ranks\": 0", "fit 1, \"ranks\": is not from 1"},
             {"\"ranks\": 4", "\"ranks\": 4.5", "fit 1, \"ranks\": is not a whole number"},
             {"\"cores\": 2", "\"cores\": -2", "fit 1, \"cores\""},
             {"\"call_ns\": 60", "\"call_ns\": \"x\"", "fit 1, \"call_ns\": is not a number"},
             {"\"memory_ns\": 0.25", "\"memory_ns\": 1e300", "fit 1, \"memory_ns\""},
             {"\"ports\": 64", "\"ports\": 65", "fit 1, \"ports\""},
             {"\"alpha_ns\": 9000", "\"alfa_ns\": 9000", "fit 1, \"alpha_ns\""},
             {"\"medium\": \"cell\"", "\"medium\": \"sell\"", "fit 1, end 1, \"medium\""},
             {"\"act\": \"store\"", "\"act\": \"steal\"", "fit 1, end 2, \"act\""},
             {"\"piece_ns\": [0.5, ", "\"piece_ns\": [", "fit 1, end 1, \"piece_ns\": has the wrong number"},
             {"\"reuse_ns\": [0, ", "\"reuse_ns\": [-1, ", "fit 1, end 1, \"reuse_ns\": has something"},
             {"\"past_ns\": 0.5", "\"past_ns\": null", "fit 1, end 1, \"past_ns\""}};

static void test_what_is_wrong_with_a_file_is_named(void **state) {
  (void)state;
  tt_fit fit = make_fit(4, 1);
  for (size_t n = 0; n < TT_COUNT(wrong); n++) {
    tt_fits *fits = NULL;
    unlink(path);
    write_fit(&fit);
    char *text = read_text(), *at = strstr(text, wrong[n].old);
    if (!at)
      fail_msg("the file has no %s", wrong[n].old);
    *at = '\0';
    write_text(text, wrong[n].with, at + strlen(wrong[n].old));
    if (tt_fits_read(path, &fits) == TUTTI_OK)
      fail_msg("%s was taken", wrong[n].with);
    if (!strstr(tutti_last_error(), wrong[n].error) || !strstr(tutti_last_error(), path))
      fail_msg("%s: %s", wrong[n].with, tutti_last_error());
    assert_null(fits);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(test_a_fit_is_read_back, remove_file),
      cmocka_unit_test_teardown(test_a_fit_takes_the_place_of_one_of_its_shape, remove_file),
      cmocka_unit_test_teardown(test_another_machines_file_is_left_alone, remove_file),
      cmocka_unit_test_teardown(test_what_is_wrong_with_a_file_is_named, remove_file),
  };
  return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
