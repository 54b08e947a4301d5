/* topo/switches/switches_test.c - switch files of both kinds: what they say, and that every mistake is named. */
#include "topo/switches/switches.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static tutti_status parse(const char *text, tt_arena *arena, tt_switches **switches) {
  return tt_switches_parse(text, strlen(text), "net", arena, switches);
}

/* "n0:top/s0 n1:top/s1" */
static void expect_paths(const char *text, const char *paths) {
  tt_arena arena;
  tt_switches *switches;
  char printed[1024] = "";
  tt_arena_init(&arena);
  if (parse(text, &arena, &switches) != TUTTI_OK)
    fail_msg("%s", tutti_last_error());
  for (int64_t n = 0; n < switches->node_count; n++) {
    int32_t above[TT_TOPO_SWITCHES];
    int count = tt_switches_above(switches, n, above);
    size_t used = strlen(printed);
    used += (size_t)snprintf(printed + used, sizeof printed - used, "%s%s:", n ? " " : "", switches->node[n].name);
    for (int s = 0; s < count; s++)
      used +=
          (size_t)snprintf(printed + used, sizeof printed - used, "%s%s", s ? "/" : "", switches->at[above[s]].name);
  }
  assert_string_equal(printed, paths);
  tt_arena_finish(&arena);
}

static void test_plain_files_name_the_nearest_switch_first(void **state) {
  (void)state;
  expect_paths("n0 s0\n", "n0:s0");
  expect_paths("n0 s0", "n0:s0");
  expect_paths("# a machine\n\n  n0\ts0  top # its switch\r\nn1 s0 top\nn2 s1 top\n", "n0:top/s0 n1:top/s0 n2:top/s1");
  expect_paths("n[0-2],m s0\nx s1 a b c d e\n", "n0:s0 n1:s0 n2:s0 m:s0 x:e/d/c/b/a/s1");
}

static void test_paths_may_have_different_lengths(void **state) {
  (void)state;
  expect_paths("n0 s0 top\nlogin top\n", "n0:top/s0 login:top");
  expect_paths("login top\nn0 s0 top\n", "login:top n0:top/s0");
}

static void test_slurm_files_say_what_hangs_on_a_switch(void **state) {
  (void)state;
  expect_paths("SwitchName=s0 Nodes=n[0-1]\nSwitchName=s1 Nodes=n[2-3]\nSwitchName=top Switches=s[0-1]\n",
               "n0:top/s0 n1:top/s0 n2:top/s1 n3:top/s1");
  expect_paths("# first the top\nswitchname=top SWITCHES=s1,s0 LinkSpeed=7\nSwitchName=s0 Nodes=a\n\nNodes=b "
               "SwitchName=s1\n",
               "a:top/s0 b:top/s1");
  expect_paths("SwitchName=s0 \\\n  Nodes=a,\\\r\nb\n", "a:s0 b:s0");
  expect_paths("# old \\\nSwitchName=s0 Nodes=a # and \\\nSwitchName=s1 Nodes=b\n", "a:s0 b:s1");
  expect_paths("SwitchName=top Switches=s0 Nodes=login\nSwitchName=s0 Nodes=a", "login:top a:top/s0");
}

static void test_hostlists_are_ranges_with_leading_zeros(void **state) {
  (void)state;
  expect_paths("n[08-11] s", "n08:s n09:s n10:s n11:s");
  expect_paths("n[7,1-2,010]x s", "n7x:s n1x:s n2x:s n010x:s");
  expect_paths("r[0-1]n[0-1],m s", "r0n0:s r0n1:s r1n0:s r1n1:s m:s");
  expect_paths("n[999999999999999999] s", "n999999999999999999:s");
}

static const struct {
  const char *text, *error;
} broken[] = {
    {"", "net: no node is listed"},
    {"# nothing\n", "net: no node is listed"},
    {"n0\n", "net, line 1: 'n0' must be followed by a switch"},
    {"\n\nn0 s0\nn0 s0\n", "net, line 4: node 'n0' is already below switch 's0'"},
    {"n[0-3] s0\nn2 s1\n", "net, line 2: node 'n2' is already below switch 's0'"},
    {"n0 s0 top\nn1 s0 other\n", "net, line 2: the switch above 's0' is 'other'; in line 1 it is 'top'"},
    {"n0 s0 top\nn1 s0\n", "net, line 2: the switch above 's0' is none; in line 1 it is 'top'"},
    {"n0 s0\nn1 s0 top\n", "net, line 2: the switch above 's0' is 'top'; in line 1 it is none"},
    {"n0 s0 s0\n", "net, line 1: the switch above 's0' is none; in line 1 it is 's0'"},
    {"n0 a b a\n", "net, line 1: the switch above 'a' is none; in line 1 it is 'b'"},
    {"n0 a\nn1 b c d e f g h\n", "net, line 2: switch 'b' has 6 or more switches above it, or is above itself"},
    {"n[0-1 s0\n", "net, line 1: 'n[0-1': has a '[' without its ']'"},
    {"n0-1] s0\n", "'n0-1]': has a ']' without its '['"},
    {"n[] s0\n", "'n[]': has brackets without a list such as 0-3,7"},
    {"n[3-1] s0\n", "'n[3-1]': has brackets without a list"},
    {"n[1-] s0\n", "'n[1-]': has brackets without a list"},
    {"n[a] s0\n", "'n[a]': has brackets without a list"},
    {"n[1,] s0\n", "'n[1,]': has brackets without a list"},
    {"n[1;2] s0\n", "'n[1;2]': has brackets without a list"},
    {"n[[1]] s0\n", "'n[[1]]': has brackets without a list"},
    {"n[1234567890123456789] s0\n", "has brackets without a list"},
    {"n0,,n1 s0\n", "'n0,,n1': has an empty name"},
    {"n0, s0\n", "'n0,': has an empty name"},
    {"a[1]b[1]c[1]d[1]e[1] s0\n", "has more than 4 brackets in a name"},
    {"n[0-999999999999] s0\n", "net, line 1: 'n[0-999999999999]': stands for more than a million names"},
    {"n[0-999999] s0\nm[0-999999] s0\n", "net, line 2: more than 1048576 nodes"},
    {"SwitchName=s0\n", "net, line 1: switch 's0' has neither Nodes= nor Switches="},
    {"SwitchName=s0 Nodes=\n", "net, line 1: 'Nodes=' has no value"},
    {"SwitchName=s0 Nodes\n", "net, line 1: 'Nodes' has no value"},
    {"SwitchName=s0 Nodes=a\nNodes=b\n", "net, line 2: SwitchName= is missing"},
    {"SwitchName=s0 Nodes=a Nodes=b\n", "net, line 1: 'Nodes=b' is given twice"},
    {"SwitchName=s0 Node=a\n", "net, line 1: 'Node=a' is not one of SwitchName=, Nodes=, Switches=, LinkSpeed="},
    {"SwitchName=s0 Nodes=a\nSwitchName=s0 Nodes=b\n", "net, line 2: switch 's0' already has line 1"},
    {"SwitchName=s0 Nodes=a\nSwitchName=s1 Nodes=a\n", "net, line 2: node 'a' is already below switch 's0'"},
    {"SwitchName=s0 Nodes=a\nSwitchName=top Switches=s[0-1]\n",
     "net, line 2: switch 's1' below 'top' has no line of its own"},
    {"SwitchName=s0 Nodes=a\nSwitchName=t Switches=s0\nSwitchName=u Switches=s0\n", "and below '"},
    {"SwitchName=a Switches=b\nSwitchName=b Switches=a\nSwitchName=s0 Nodes=n\n",
     "has 6 or more switches above it, or is above itself"},
    {"SwitchName=a Switches=a Nodes=n\n",
     "net, line 1: switch 'a' has 6 or more switches above it, or is above itself"},
    {"SwitchName=a \\\nNodes=n\nSwitchName=b Noodes=m\n", "net, line 3: 'Noodes=m'"},
    {"SwitchName=a Nodes=n \\", "line 1: '\\' is not one of"},
    {"BlockName=b1 Nodes=a\n", "net, line 1: 'BlockName=b1': only switches (topology"},
};

static void test_mistakes_are_named_with_their_line(void **state) {
  (void)state;
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    tt_arena arena;
    tt_switches *switches = NULL;
    tt_arena_init(&arena);
    if (parse(broken[n].text, &arena, &switches) != TUTTI_ERR_ARGUMENT)
      fail_msg("'%s' is accepted", broken[n].text);
    if (!strstr(tutti_last_error(), broken[n].error))
      fail_msg("'%s': %s", broken[n].text, tutti_last_error());
    assert_null(switches);
    tt_arena_finish(&arena);
  }
}

static void test_names_have_a_length(void **state) {
  (void)state;
  char text[1200];
  tt_arena arena;
  tt_switches *switches;
  for (int length = 250; length < 260; length++)
    for (int which = 0; which < 2; which++) {
      snprintf(text, sizeof text, which ? "n %0*d" : "n%0*d[7] s", length - (which ? 0 : 2), 0);
      tt_arena_init(&arena);
      assert_int_equal(parse(text, &arena, &switches), length < 256 ? TUTTI_OK : TUTTI_ERR_ARGUMENT);
      tt_arena_finish(&arena);
    }
}

static void test_text_with_a_zero_is_none(void **state) {
  (void)state;
  tt_arena arena;
  tt_switches *switches;
  tt_arena_init(&arena);
  assert_int_equal(tt_switches_parse("n0 s0\n\0n1 s0\n", 13, "net", &arena, &switches), TUTTI_ERR_ARGUMENT);
  assert_string_equal(tutti_last_error(), "net: not a text file");
  tt_arena_finish(&arena);
}

static int64_t find(const tt_switches *switches, const char *name) {
  int64_t node = -1;
  return tt_switches_find(switches, name, &node) == TUTTI_OK ? node : -1;
}

static void test_nodes_are_found_with_and_without_their_domain(void **state) {
  (void)state;
  tt_arena arena;
  tt_switches *switches;
  tt_arena_init(&arena);
  assert_int_equal(parse("n0 s\nn1.east s\nn2.east s\nn2.west s\nn2 s\n", &arena, &switches), TUTTI_OK);
  assert_int_equal(find(switches, "n0"), 0);
  assert_int_equal(find(switches, "n0.cluster.org"), 0);
  assert_int_equal(find(switches, "n1"), 1);
  assert_int_equal(find(switches, "n1.west"), -1);
  assert_int_equal(find(switches, "n2.west"), 3);
  assert_int_equal(find(switches, "n2"), 4);
  assert_int_equal(find(switches, "n"), -1);
  assert_int_equal(find(switches, "n7"), -1);
  assert_string_equal(tutti_last_error(), "net: node 'n7' is missing");
  assert_int_equal(parse("n3.east s\nn3.west s\n", &arena, &switches), TUTTI_OK);
  assert_int_equal(find(switches, "n3.west"), 1);
  assert_int_equal(find(switches, "n3"), -1);
  assert_string_equal(tutti_last_error(),
                      "net: node 'n3' may be 'n3.east' or 'n3.west'; give the names that hosts have");
  tt_arena_finish(&arena);
}

static void test_many_nodes_are_found(void **state) {
  (void)state;
  tt_arena arena;
  tt_switches *switches;
  char name[16];
  tt_arena_init(&arena);
  assert_int_equal(parse("n[0-9999] s\nm[0-9999] t\n", &arena, &switches), TUTTI_OK);
  assert_int_equal(switches->node_count, 20000);
  assert_int_equal(switches->at[1].node_count, 10000);
  for (int n = 0; n < 10000; n += 97) {
    snprintf(name, sizeof name, "m%d", n);
    assert_int_equal(find(switches, name), 10000 + n);
  }
  tt_arena_finish(&arena);
}

static void test_equal_names_are_equal_localities(void **state) {
  (void)state;
  tt_arena arena;
  tt_switches *one, *other;
  tt_locality a = {.node = 1}, b = {.node = 2};
  tt_arena_init(&arena);
  assert_int_equal(parse("n0 s0 top\nn1 s1 top\n", &arena, &one), TUTTI_OK);
  assert_int_equal(
      parse("SwitchName=top Switches=s9,s1\nSwitchName=s9 Nodes=x\nSwitchName=s1 Nodes=n7", &arena, &other), TUTTI_OK);
  tt_switches_locality(one, find(one, "n1"), &a);
  tt_switches_locality(other, find(other, "n7"), &b);
  assert_int_equal(a.switch_count, 2);
  assert_int_equal(b.switch_count, 2);
  assert_int_equal(a.switch_of[0], b.switch_of[0]);
  assert_int_equal(a.switch_of[1], b.switch_of[1]);
  assert_int_not_equal(a.switch_of[0], a.switch_of[1]);
  tt_arena_finish(&arena);
}

static void test_files_are_read_whole(void **state) {
  (void)state;
  char path[] = "/tmp/tutti-switches-XXXXXX";
  int file = mkstemp(path);
  assert_true(file >= 0);
  FILE *out = fdopen(file, "w");
  assert_non_null(out);
  for (int n = 0; n < 5000; n++)
    fprintf(out, "node%d leaf%d top\n", n, n / 16);
  fclose(out);
  tt_arena arena;
  tt_switches *switches;
  tt_arena_init(&arena);
  assert_int_equal(tt_switches_read(path, &arena, &switches), TUTTI_OK);
  assert_int_equal(switches->node_count, 5000);
  assert_int_equal(tt_switches_read("/tmp", &arena, &switches), TUTTI_ERR_ARGUMENT);
  assert_int_equal(tt_switches_read("/not/there", &arena, &switches), TUTTI_ERR_ARGUMENT);
  tt_locality locality = {.node = 3};
  assert_int_equal(tt_topo_locality(path, "node77", &locality), TUTTI_OK);
  assert_int_equal(locality.switch_count, 2);
  assert_int_equal(tt_topo_locality(path, "nobody", &locality), TUTTI_ERR_ARGUMENT);
  assert_non_null(strstr(tutti_last_error(), ": node 'nobody' is missing"));
  unlink(path);
  tt_arena_finish(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plain_files_name_the_nearest_switch_first),
      cmocka_unit_test(test_paths_may_have_different_lengths),
      cmocka_unit_test(test_slurm_files_say_what_hangs_on_a_switch),
      cmocka_unit_test(test_hostlists_are_ranges_with_leading_zeros),
      cmocka_unit_test(test_mistakes_are_named_with_their_line),
      cmocka_unit_test(test_names_have_a_length),
      cmocka_unit_test(test_text_with_a_zero_is_none),
      cmocka_unit_test(test_nodes_are_found_with_and_without_their_domain),
      cmocka_unit_test(test_many_nodes_are_found),
      cmocka_unit_test(test_equal_names_are_equal_localities),
      cmocka_unit_test(test_files_are_read_whole),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
