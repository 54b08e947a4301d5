/* topo/machine/machine_test.c - machines that were recorded, this one, and the locality of a thread that is bound. */
#include "topo/machine/machine.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static tt_arena arena;

static int make_arena(void **state) {
  (void)state;
  tt_arena_init(&arena);
  return 0;
}

static int finish_arena(void **state) {
  (void)state;
  tt_arena_finish(&arena);
  return 0;
}

static tt_machine *read_recorded(const char *name) {
  char path[512];
  const char *source = getenv("TUTTI_SOURCE");
  tt_machine *machine = NULL;
  snprintf(path, sizeof path, "%s/tests/topologies/%s/machine.xml", source ? source : ".", name);
  if (tt_machine_read(path, &arena, &machine) != TUTTI_OK)
    fail_msg("%s", tutti_last_error());
  return machine;
}

static void test_tables_say_what_was_recorded(void **state) {
  (void)state;
  const tt_machine *machine = read_recorded("devices");
  assert_string_equal(machine->name, "gpu7");
  assert_int_equal(machine->package_count, 2);
  assert_int_equal(machine->numa_count, 2);
  assert_int_equal(machine->numa[1].memory_bytes, INT64_C(512) << 30);
  assert_int_equal(machine->numa[1].core_count, 16);
  assert_int_equal(machine->l3_count, 4);
  assert_int_equal(machine->l3_bytes[3], 32 << 20);
  assert_int_equal(machine->core_count, 32);
  assert_int_equal(machine->core[31].package, 1);
  assert_int_equal(machine->core[31].l3, 3);
  assert_int_equal(machine->core[31].thread[0], 31);
  assert_non_null(machine->distance);
  assert_int_equal(machine->distance[1], 21);
  assert_int_equal(machine->device_count, 12);
  assert_string_equal(machine->device[11].name, "mlx5_3");
  assert_int_equal(machine->device[11].numa, 1);
}

static void test_what_is_not_there_is_minus_one(void **state) {
  (void)state;
  tt_locality locality = {.node = 5};
  tt_machine_core_locality(read_recorded("l3-of-three"), 3, &locality);
  assert_int_equal(locality.l3, -1);
  assert_int_equal(locality.package, 0);
  assert_int_equal(locality.node, 5);
  tt_machine_core_locality(read_recorded("no-package"), 7, &locality);
  assert_int_equal(locality.package, -1);
  assert_int_equal(locality.numa, 1);
  assert_int_equal(locality.l3, 3);
  assert_int_equal(locality.core, 7);
  assert_int_equal(read_recorded("memory-alone")->numa[2].core_count, 0);
  assert_int_equal(read_recorded("memory-alone")->numa[2].package, -1);
}

static void test_threads_that_are_off_or_forbidden_are_counted(void **state) {
  (void)state;
  assert_int_equal(read_recorded("offline")->offline_count, 2);
  assert_int_equal(read_recorded("offline")->thread_count, 6);
  const tt_machine *machine = read_recorded("restricted");
  assert_int_equal(machine->thread_count, 32);
  assert_int_equal(machine->usable_count, 8);
  assert_false(machine->core[1].usable);
  assert_true(machine->core[2].usable);
}

/* Text in a file that is no machine, and what the error says. */
static void test_other_files_are_refused(void **state) {
  (void)state;
  static const char *const texts[] = {"", "node0 leaf0\n", "<topology", "<?xml version=\"1.0\"?><svg/>",
                                      "<topology version=\"2.0\"></topology>"};
  for (size_t n = 0; n < TT_COUNT(texts); n++) {
    char path[] = "/tmp/tutti-machine-XXXXXX";
    int file = mkstemp(path);
    tt_machine *machine = NULL;
    assert_true(file >= 0);
    assert_int_equal(write(file, texts[n], strlen(texts[n])), strlen(texts[n]));
    close(file);
    assert_int_equal(tt_machine_read(path, &arena, &machine), TUTTI_ERR_ARGUMENT);
    assert_non_null(strstr(tutti_last_error(), path));
    assert_null(machine);
    unlink(path);
  }
}

static void test_this_machine_reads_back_as_it_was_recorded(void **state) {
  (void)state;
  char path[] = "/tmp/tutti-machine-XXXXXX";
  int file = mkstemp(path);
  tt_machine *now, *then;
  assert_true(file >= 0);
  close(file);
  assert_int_equal(tt_machine_read("", &arena, &now), TUTTI_OK);
  assert_int_equal(tt_machine_write(path), TUTTI_OK);
  assert_int_equal(tt_machine_read(path, &arena, &then), TUTTI_OK);
  assert_true(now->core_count > 0);
  assert_int_equal(now->core_count, then->core_count);
  assert_int_equal(now->usable_count, then->usable_count);
  assert_int_equal(now->numa_count, then->numa_count);
  assert_string_equal(now->name, then->name);
  unlink(path);
  assert_int_equal(tt_machine_write("/not/there/at-all.xml"), TUTTI_ERR_SYSTEM);
}

static int64_t find_core(const tt_machine *machine, int thread) {
  for (int64_t n = 0; n < machine->core_count; n++)
    for (int32_t t = 0; t < machine->core[n].thread_count; t++)
      if (machine->core[n].thread[t] == thread)
        return n;
  return -1;
}

static void test_a_bound_thread_has_the_locality_of_its_core(void **state) {
  (void)state;
  cpu_set_t all, one;
  tt_machine *machine;
  assert_int_equal(tt_machine_read("", &arena, &machine), TUTTI_OK);
  if (sched_getaffinity(0, sizeof all, &all) != 0 || getenv("HWLOC_XMLFILE") || getenv("HWLOC_SYNTHETIC")) {
    print_message("skipped: threads cannot be bound here\n");
    skip();
  }
  for (size_t thread = 0; thread < CPU_SETSIZE; thread++) {
    tt_locality bound = {.node = 3}, expected = {.node = 3};
    if (!CPU_ISSET(thread, &all))
      continue;
    CPU_ZERO(&one);
    CPU_SET(thread, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(tt_machine_locality(&bound), TUTTI_OK);
    tt_machine_core_locality(machine, find_core(machine, (int)thread), &expected);
    assert_memory_equal(&bound, &expected, sizeof bound);
  }
  assert_int_equal(sched_setaffinity(0, sizeof all, &all), 0);
}

static void test_a_thread_on_several_cores_is_on_none_of_them(void **state) {
  (void)state;
  cpu_set_t all;
  tt_machine *machine;
  tt_locality locality = {.node = 3};
  assert_int_equal(tt_machine_read("", &arena, &machine), TUTTI_OK);
  if (machine->usable_count < 2 || sched_getaffinity(0, sizeof all, &all) != 0 || CPU_COUNT(&all) < 2) {
    print_message("skipped: there is one thread only\n");
    skip();
  }
  assert_int_equal(tt_machine_locality(&locality), TUTTI_OK);
  if (machine->core[0].thread_count == 1)
    assert_int_equal(locality.core, -1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(test_tables_say_what_was_recorded, make_arena, finish_arena),
      cmocka_unit_test_setup_teardown(test_what_is_not_there_is_minus_one, make_arena, finish_arena),
      cmocka_unit_test_setup_teardown(test_threads_that_are_off_or_forbidden_are_counted, make_arena, finish_arena),
      cmocka_unit_test_setup_teardown(test_other_files_are_refused, make_arena, finish_arena),
      cmocka_unit_test_setup_teardown(test_this_machine_reads_back_as_it_was_recorded, make_arena, finish_arena),
      cmocka_unit_test_setup_teardown(test_a_bound_thread_has_the_locality_of_its_core, make_arena, finish_arena),
      cmocka_unit_test_setup_teardown(test_a_thread_on_several_cores_is_on_none_of_them, make_arena, finish_arena),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
