/* tests/system/bench_bound_test.c - the bounds that `tutti bench` states, who is on which machine, the interval of a
 * ratio, and what a job tells the driver. */
#include "../../bench/bound.h"
#include "../../bench/copy.h"
#include "../../bench/report.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define V 840 /* elements of a vector */

/* "0011": the machine of each rank; each host has `nics` NICs of that rate. */
static void place_ranks(const char *text, int nics, int64_t rate, bench_map *map) {
  bench_place place[16];
  int32_t ranks = (int32_t)strlen(text);
  memset(place, 0, sizeof place);
  for (int32_t rank = 0; rank < ranks; rank++) {
    place[rank].host = (uint64_t)text[rank];
    place[rank].cores = 2;
    place[rank].nic_count = nics;
    for (int n = 0; n < nics; n++)
      place[rank].nic[n].bits_per_second = rate;
    snprintf(place[rank].name, sizeof place[rank].name, "node%c", text[rank]);
  }
  assert_true(bench_map_make(map, place, ranks));
}

/* Elements that the busiest machine moves. */
static double busiest(tt_collective collective, const char *machines, bool apart) {
  bench_map map;
  place_ranks(machines, 1, 8, &map);
  bench_problem problem = bench_problem_of(collective, map.ranks, false, collective == TT_BARRIER ? 0 : V);
  double bytes = bench_bound_bytes(&problem, &map, 4, apart);
  bench_map_finish(&map);
  return bytes / 4;
}

static void check(tt_collective collective, const char *machines, bool apart, double expected) {
  double got = busiest(collective, machines, apart);
  if (got < expected - 1e-6 || got > expected + 1e-6)
    fail_msg("%s on %s: %g elements, not %g", tt_compose_info(collective).name, machines, got, expected);
}

/* Of single calls; without a root there is no difference. */
static void check_busiest(tt_collective collective, const char *machines, double expected) {
  check(collective, machines, true, expected);
  if (!bench_is_rooted(collective))
    check(collective, machines, false, expected);
}

static void test_equal_machines_have_the_known_bounds(void **state) {
  (void)state;
  check_busiest(TT_BROADCAST, "00112233", V);
  check_busiest(TT_REDUCE, "00112233", V);
  check_busiest(TT_ALLREDUCE, "00112233", 2.0 * 3 / 4 * V);
  check_busiest(TT_ALLREDUCE, "0011", V);
  check_busiest(TT_ALLGATHER, "00112233", 3.0 / 4 * V);
  check_busiest(TT_REDUCE_SCATTER, "00112233", 3.0 / 4 * V);
  check_busiest(TT_ALL_TO_ALL, "00112233", 2.0 * 6 / 8 * V); /* two ranks, each to six of eight */
  check_busiest(TT_GATHER, "00112233", 3.0 / 4 * V);
  check_busiest(TT_SCATTER, "00112233", 3.0 / 4 * V);
  check_busiest(TT_BARRIER, "00112233", 0);
}

static void test_uneven_machines_are_taken_as_they_are(void **state) {
  (void)state;
  check_busiest(TT_ALLGATHER, "00000111", 5.0 / 8 * V);      /* machine 0 sends five blocks */
  check_busiest(TT_REDUCE_SCATTER, "00000111", 5.0 / 8 * V); /* machine 0 takes five */
  check_busiest(TT_ALLREDUCE, "00000111", V);
  check_busiest(TT_ALL_TO_ALL, "00000111", 15.0 / 8 * V);
  check_busiest(TT_GATHER, "00000111", 3.0 / 8 * V); /* five of the eight roots lack three blocks */
  check_busiest(TT_ALLGATHERV, "001", 3.0 / 6 * V);  /* blocks of 1, 2 and 3 shares */
}

/* While one root's links are busy, so are those of the next: each machine's share of a whole turn counts. */
static void test_calls_of_rotating_roots_overlap(void **state) {
  (void)state;
  check(TT_BROADCAST, "00112233", false, 3.0 / 4 * V); /* enters each machine but for its own roots */
  check(TT_REDUCE, "00112233", false, 3.0 / 4 * V);
  check(TT_GATHER, "00112233", false, 2 * 3.0 / 4 / 8 * V); /* its two roots' */
  check(TT_SCATTER, "00112233", false, 2 * 3.0 / 4 / 8 * V);
  check(TT_GATHER, "00000111", false, 5 * 3.0 / 8 / 8 * V);
  check(TT_BROADCAST, "00000111", false, 5.0 / 8 * V);
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    assert_true(busiest((tt_collective)c, "00110223", false) <= busiest((tt_collective)c, "00110223", true));
}

static void test_prefixes_cross_at_every_change_of_machine(void **state) {
  (void)state;
  check_busiest(TT_SCAN, "0011", V);
  check_busiest(TT_EXSCAN, "0011", V);
  check_busiest(TT_SCAN, "0101", 2 * V);
  check_busiest(TT_SCAN, "001122", V);
}

/* A grid of 2 x 2: each rank has two neighbors. Rows on machines: one of them is on the other. */
static void test_neighbors_on_the_same_machine_cost_nothing(void **state) {
  (void)state;
  check_busiest(TT_NEIGHBOR_ALL_TO_ALL, "0011", 2.0 * V / 2);
  check_busiest(TT_NEIGHBOR_ALLGATHER, "0011", 2.0 * V / 2);
  check_busiest(TT_NEIGHBOR_ALLGATHER, "0122", 2.0 * V / 2); /* ranks 2 and 3 get each block but once */
}

static void test_nothing_crosses_on_one_machine(void **state) {
  (void)state;
  for (int c = 0; c < TT_COLLECTIVE_COUNT; c++)
    check_busiest((tt_collective)c, "0000", 0);
}

static void test_rates_of_nics_add_up(void **state) {
  bench_map map;
  (void)state;
  place_ranks("0011", 2, 100000000, &map);
  bench_problem problem = bench_problem_of(TT_BROADCAST, 4, false, 25000000);
  /* 100 MB over 2 x 100 Mbit/s: 4 s */
  assert_true(fabs(bench_bound_ns(&problem, &map, 4, 0, true) - 4e9) < 1);
  assert_true(fabs(bench_bound_ns(&problem, &map, 4, 1000000000, true) - 4e8) < 1); /* --rate 1G */
  map.machine[1].nic[0].bits_per_second = 0;
  assert_true(bench_bound_ns(&problem, &map, 4, 0, true) == 0); /* unknown */
  bench_map_finish(&map);
}

static void test_the_slowest_machine_bounds_a_broadcast_and_all_of_them_an_allreduce(void **state) {
  bench_map map;
  (void)state;
  place_ranks("012", 1, 80, &map); /* 10 bytes a second */
  map.machine[2].nic[0].bits_per_second = 40;
  bench_problem broadcast = bench_problem_of(TT_BROADCAST, 3, false, 100);
  bench_problem allreduce = bench_problem_of(TT_ALLREDUCE, 3, false, 100);
  assert_true(fabs(bench_bound_ns(&broadcast, &map, 1, 0, true) / 1e9 - 20) < 1e-6); /* 100 at 5 a second */
  assert_true(fabs(bench_bound_ns(&allreduce, &map, 1, 0, true) / 1e9 - 20) < 1e-6); /* 400 at 25 is less */
  bench_map_finish(&map);
}

/* ---- the copy bound ---- */

/* Of V on 4 ranks, in a batch of so many calls: the elements that each core copies in a call. */
static void check_copied(tt_collective collective, int32_t cores, int64_t calls, const size_t expected[static 4]) {
  for (int32_t core = 0; core < cores; core++) {
    bench_point point = {.rank = core, .size = 4, .problem = bench_problem_of(collective, 4, false, V)};
    bench_command command = {.cores = cores, .bounded = calls};
    assert_int_equal(bench_bound_of(&point, &command, false).copied, expected[core]);
  }
}

static void test_cores_copy_what_comes_to_their_ranks(void **state) {
  (void)state;
  for (int64_t calls = 1; calls < 9; calls++) {
    check_copied(TT_ALLGATHER, 4, calls, (const size_t[4]){V, V, V, V});
    check_copied(TT_SCATTER, 4, calls, (const size_t[4]){V / 4, V / 4, V / 4, V / 4});
    check_copied(TT_REDUCE, 2, calls, (const size_t[4]){2 * 3 * V / 4, 2 * 3 * V / 4});
  }
}

/* One root of a batch copies beside the next. */
static void test_roots_of_a_batch_copy_at_once(void **state) {
  (void)state;
  check_copied(TT_GATHER, 4, 1, (const size_t[4]){V});
  check_copied(TT_GATHER, 4, 2, (const size_t[4]){V / 2, V / 2});
  check_copied(TT_GATHER, 4, 4, (const size_t[4]){V / 4, V / 4, V / 4, V / 4});
  check_copied(TT_GATHER, 4, 5, (const size_t[4]){2 * V / 5, V / 5, V / 5, V / 5});
  check_copied(TT_GATHERV, 2, 4000, (const size_t[4]){V / 2, V / 2});
  check_copied(TT_BROADCAST, 4, 1, (const size_t[4]){0, V, V, V});
  check_copied(TT_BROADCAST, 4, 4, (const size_t[4]){3 * V / 4, 3 * V / 4, 3 * V / 4, 3 * V / 4});
  check_copied(TT_BROADCAST, 2, 1, (const size_t[4]){V, 2 * V});
}

static void test_copies_are_from_page_to_page(void **state) {
  (void)state;
  bench_point point = {.size = 1};
  for (size_t bytes = 64; bytes <= 1 << 20; bytes *= 4) {
    assert_true(bench_make_copy_room(&point, bytes));
    for (int side = 0; side < 2; side++)
      assert_int_equal((uintptr_t)point.copy[side] % 4096, 0);
  }
  free(point.copy[0]);
  free(point.copy[1]);
}

/* ---- machines ---- */

static void test_pretended_machines_share_a_host(void **state) {
  bench_place place[4];
  bench_map map;
  (void)state;
  memset(place, 0, sizeof place);
  for (int32_t rank = 0; rank < 4; rank++) {
    place[rank].host = 7;
    place[rank].part = rank % 2;
    place[rank].cores = 2;
    place[rank].nic_count = 1;
    place[rank].nic[0].bits_per_second = 100;
  }
  assert_true(bench_map_make(&map, place, 4));
  assert_int_equal(map.machines, 2);
  assert_int_equal(map.hosts, 1);
  assert_int_equal(map.machine_of[3], 1);
  assert_int_equal(map.machine[1].first, 1);
  assert_int_equal(bench_map_machines_on(&map, 0), 2);
  assert_true(bench_machine_rate(&map, 0, 0) == 50);
  assert_false(bench_map_is_crowded(&map));
  bench_map_finish(&map);
}

static void test_maps_differ_where_a_rank_is_elsewhere(void **state) {
  bench_map a, b;
  (void)state;
  place_ranks("0011", 1, 1, &a);
  place_ranks("0101", 1, 1, &b);
  assert_true(bench_map_equal(&a, &a));
  assert_false(bench_map_equal(&a, &b));
  bench_map_finish(&a);
  bench_map_finish(&b);
}

/* ---- statistics ---- */

static void test_interval_is_that_of_student(void **state) {
  const double own[] = {1, 1, 1, 1}, other[] = {exp(1), exp(2), exp(3), exp(4)}; /* logs: mean 2.5, deviation 1.291 */
  (void)state;
  bench_interval interval = bench_interval_of(other, own, 4);
  double width = 3.182 * 1.2909944 / 2;
  assert_true(fabs(log(interval.middle) - 2.5) < 1e-9);
  assert_true(fabs(log(interval.low) - (2.5 - width)) < 1e-4);
  assert_true(fabs(log(interval.high) - (2.5 + width)) < 1e-4);
  interval = bench_interval_of(other, own, 1);
  assert_true(interval.low == 0 && interval.high == 0 && fabs(log(interval.middle) - 1) < 1e-9);
}

/* As printed in any table: 2.042 at 30, 2.021 at 40, 1.984 at 100. */
static void test_student_goes_on_behind_its_table(void **state) {
  (void)state;
  assert_true(fabs(bench_student(30) - 2.042) < 0.0006);
  assert_true(fabs(bench_student(40) - 2.021) < 0.0006);
  assert_true(fabs(bench_student(100) - 1.984) < 0.0006);
  for (int freedom = 1; freedom < 200; freedom++)
    assert_true(bench_student(freedom + 1) < bench_student(freedom));
}

/* ---- text ---- */

static void test_tasks_and_points_come_back_from_text(void **state) {
  bench_task task = {
      .command = {.type = 3, .op = 2, .sparse = 1, .apart = 1}, .seconds = 0.25, .check = true, .levels = true};
  bench_task back;
  bench_command command;
  char text[128];
  (void)state;
  bench_task_print(&task, text, sizeof text);
  assert_true(bench_task_parse(text, &back));
  assert_memory_equal(&back, &task, sizeof task);
  assert_false(bench_task_parse("1,2,3", &back));
  assert_false(bench_task_parse("99,0,0,0,0,0,1,0,0,1", &back));
  assert_true(bench_point_parse("3,65536,[core:2-nomial,xor] stripe=2", &command));
  assert_int_equal(command.collective, 3);
  assert_int_equal(command.bytes, 65536);
  assert_string_equal(command.params, "[core:2-nomial,xor] stripe=2");
  assert_false(bench_point_parse("3,65536", &command));
  assert_false(bench_point_parse("99,8,", &command));
  assert_false(bench_point_parse("0,-8,", &command));
}

static void test_reports_that_make_no_sense_are_refused(void **state) {
  static bench_figures figures;
  bench_map map = {0};
  bench_flow flow[2];
  char version[BENCH_TEXT];
  int number;
  (void)state;
  assert_false(bench_report_read_job("2 3 1 x", &map, version)); /* more machines than ranks */
  assert_true(bench_report_read_job("3 2 2 MPICH 4.0.2", &map, version));
  assert_string_equal(version, "MPICH 4.0.2");
  assert_true(bench_report_read_machine("1 1 2 4 node1 eth0=100,eth1=0", &map));
  assert_int_equal(map.machine[1].nic_count, 2);
  assert_int_equal(map.machine[1].nic[0].bits_per_second, 100);
  assert_false(bench_report_read_machine("2 0 2 4 node2 ", &map));
  assert_true(bench_report_read_ranks(" 0 1 1", &map));
  assert_int_equal(map.machine[1].first, 1);
  assert_false(bench_report_read_ranks(" 0 1 2", &map));
  assert_false(bench_report_read_ranks(" 0 1", &map));
  assert_true(bench_report_read_point(" 4 0 41 64 1234.5 2345.6 ", &number, &figures));
  assert_true(number == 4 && figures.calls == 41 && figures.median_ns == 1234.5 && figures.text[0] == '\0');
  assert_true(bench_report_read_point(" 4 2 0 0 0.000 0.000 no such preset", &number, &figures));
  assert_string_equal(figures.text, "no such preset");
  assert_false(bench_report_read_point(" 4 0 0 0 0.000 0.000 ", &number, &figures)); /* right, and without a time */
  assert_false(bench_report_read_point(" 4 9 0 0 1.000 0.000 ", &number, &figures));
  assert_true(bench_report_read_flow(" 1 2 1.5/2.5,3.5/4.5", &map, flow));
  assert_true(flow[1].sent[1] == 3.5 && flow[1].received[1] == 4.5);
  assert_false(bench_report_read_flow(" 2 1 1/2", &map, flow));
  assert_false(bench_report_read_flow(" 1 2 1/2", &map, flow));
  bench_map_finish(&map);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_equal_machines_have_the_known_bounds),
      cmocka_unit_test(test_uneven_machines_are_taken_as_they_are),
      cmocka_unit_test(test_calls_of_rotating_roots_overlap),
      cmocka_unit_test(test_prefixes_cross_at_every_change_of_machine),
      cmocka_unit_test(test_neighbors_on_the_same_machine_cost_nothing),
      cmocka_unit_test(test_nothing_crosses_on_one_machine),
      cmocka_unit_test(test_rates_of_nics_add_up),
      cmocka_unit_test(test_the_slowest_machine_bounds_a_broadcast_and_all_of_them_an_allreduce),
      cmocka_unit_test(test_cores_copy_what_comes_to_their_ranks),
      cmocka_unit_test(test_roots_of_a_batch_copy_at_once),
      cmocka_unit_test(test_copies_are_from_page_to_page),
      cmocka_unit_test(test_pretended_machines_share_a_host),
      cmocka_unit_test(test_maps_differ_where_a_rank_is_elsewhere),
      cmocka_unit_test(test_interval_is_that_of_student),
      cmocka_unit_test(test_student_goes_on_behind_its_table),
      cmocka_unit_test(test_tasks_and_points_come_back_from_text),
      cmocka_unit_test(test_reports_that_make_no_sense_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
