/* topo/nics/nics_test.c - NICs from files as the system has them, and from nics.txt; which are rails, and why not. */
#include "topo/nics/nics.h"

#include <arpa/inet.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { NICS = 16 };

/* ---- a folder that looks like /sys/class/net ---- */

static char sys[] = "/tmp/tutti-nics-XXXXXX";

static void put(const char *path, const char *text) {
  char full[256];
  snprintf(full, sizeof full, "%s/%s", sys, path);
  for (char *slash = strchr(full + sizeof sys, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(full, 0700);
    *slash = '/';
  }
  FILE *out = fopen(full, "w");
  assert_non_null(out);
  fputs(text, out);
  fclose(out);
}

static int make_sys(void **state) {
  (void)state;
  return mkdtemp(sys) == NULL;
}

static int remove_sys(void **state) {
  (void)state;
  char command[64];
  snprintf(command, sizeof command, "rm -r %s", sys);
  return system(command);
}

static tt_nic read_facts(const char *name) {
  tt_nic nic = {.numa_node = -1, .up = true};
  strcpy(nic.name, name);
  tt_nics_read_facts(sys, &nic);
  return nic;
}

static void test_hardware_has_speed_and_numa_node(void **state) {
  (void)state;
  put("eth0/type", "1\n");
  put("eth0/speed", "100000\n");
  put("eth0/device/numa_node", "1\n");
  tt_nic nic = read_facts("eth0");
  assert_int_equal(nic.kind, TT_NIC_WIRE);
  assert_int_equal(nic.bits_per_second, INT64_C(100000000000));
  assert_int_equal(nic.numa_node, 1);
}

static void test_what_the_system_does_not_say_is_unknown(void **state) {
  (void)state;
  put("eth1/type", "1\n");
  put("eth1/speed", "-1\n");
  put("eth1/device/numa_node", "-1\n");
  put("eth2/type", "1\n");
  put("eth2/speed", "4294967295\n");
  put("eth3/speed", "fast\n");
  const char *names[] = {"eth1", "eth2", "eth3", "not-there"};
  for (size_t n = 0; n < TT_COUNT(names); n++) {
    tt_nic nic = read_facts(names[n]);
    assert_int_equal(nic.kind, TT_NIC_WIRE);
    assert_int_equal(nic.bits_per_second, 0);
    assert_int_equal(nic.numa_node, -1);
  }
}

static void test_virtual_ones_are_told_apart(void **state) {
  (void)state;
  put("port0/device/vendor", "");
  put("docker0/bridge/bridge_id", "");
  put("docker0/lower_veth1", "");
  put("br0/bridge/bridge_id", "");
  put("br0/lower_port0", "");
  put("br0/lower_veth1", "");
  put("veth1/flags", "0x1003\n");
  put("veth1/iflink", "7\n");
  put("veth1/ifindex", "6\n");
  put("tap0/tun_flags", "0x1002\n");
  put("wg0/type", "65534\n");
  put("vxlan0/type", "1\n");
  put("vxlan0/uevent", "DEVTYPE=vxlan\nINTERFACE=vxlan0\n");
  put("dummy0/flags", "0x82\n");
  put("dummy0/iflink", "5\n");
  put("dummy0/ifindex", "5\n");
  put("lo/type", "772\n");
  put("ib0/type", "32\n");
  assert_int_equal(read_facts("port0").kind, TT_NIC_WIRE);
  assert_int_equal(read_facts("docker0").kind, TT_NIC_BRIDGE);
  assert_int_equal(read_facts("br0").kind, TT_NIC_WIRE);
  assert_int_equal(read_facts("veth1").kind, TT_NIC_WIRE);
  assert_int_equal(read_facts("tap0").kind, TT_NIC_TUNNEL);
  assert_int_equal(read_facts("wg0").kind, TT_NIC_TUNNEL);
  assert_int_equal(read_facts("vxlan0").kind, TT_NIC_TUNNEL);
  assert_int_equal(read_facts("dummy0").kind, TT_NIC_NOWHERE);
  assert_int_equal(read_facts("lo").kind, TT_NIC_LOOPBACK);
  assert_int_equal(read_facts("ib0").kind, TT_NIC_WIRE);
}

/* br1, br2: on a bond and on a VLAN of it; br3: joins the containers of several machines; a, b: no end. */
static void test_a_bridge_is_a_wire_where_hardware_is_below_its_ports(void **state) {
  (void)state;
  put("port1/device/vendor", "");
  put("bond0/lower_port1", "");
  put("bond0.7/lower_bond0", "");
  put("br1/bridge/bridge_id", "");
  put("br1/lower_bond0", "");
  put("br2/bridge/bridge_id", "");
  put("br2/lower_bond0.7", "");
  put("vxlan1/uevent", "DEVTYPE=vxlan\n");
  put("vxlan1/lower_port1", "");
  put("br3/bridge/bridge_id", "");
  put("br3/lower_vxlan1", "");
  put("a/lower_b", "");
  put("b/lower_a", "");
  put("br4/bridge/bridge_id", "");
  put("br4/lower_a", "");
  assert_int_equal(read_facts("br1").kind, TT_NIC_WIRE);
  assert_int_equal(read_facts("br2").kind, TT_NIC_WIRE);
  assert_int_equal(read_facts("br3").kind, TT_NIC_BRIDGE);
  assert_int_equal(read_facts("br4").kind, TT_NIC_BRIDGE);
}

static void test_lower_is_the_one_below_all(void **state) {
  (void)state;
  put("port2/device/vendor", "");
  put("port2.7/lower_port2", "");
  put("port2.7.8/lower_port2.7", "");
  put("br5/bridge/bridge_id", "");
  put("br5/lower_port2", "");
  put("br5.7/lower_br5", "");
  put("c/lower_d", "");
  put("d/lower_c", "");
  assert_string_equal(read_facts("port2").lower, "");
  assert_string_equal(read_facts("port2.7").lower, "port2");
  assert_string_equal(read_facts("port2.7.8").lower, "port2");
  assert_string_equal(read_facts("br5").lower, "");
  assert_string_equal(read_facts("br5.7").lower, "br5");
  assert_int_equal(read_facts("c").kind, TT_NIC_WIRE);
}

/* ---- nics.txt ---- */

/* Through a file in that folder. */
static tutti_status read_text(const char *text, tt_nic *nic, int64_t *count) {
  put("nics.txt", text);
  return tt_nics_find(sys, nic, NICS, count);
}

static void test_a_record_reads_back(void **state) {
  (void)state;
  static const char text[] = "lo 127.0.0.1/8 up loopback\n"
                             "eth0 10.0.0.1/24 up speed=100000 numa=0\n"
                             "eth1 fd00::2/64\n"
                             "eth0.7 10.7.0.1/16 up speed=100000 on=eth0\n"
                             "docker0 172.17.0.1/16 bridge\n";
  char commented[512], *printed = NULL;
  size_t size;
  tt_nic nic[NICS];
  int64_t count;
  snprintf(commented, sizeof commented, "# of node 7\n\n  # nothing\n%s", text);
  assert_int_equal(read_text(commented, nic, &count), TUTTI_OK);
  assert_int_equal(count, 5);
  FILE *out = open_memstream(&printed, &size);
  tt_nics_write(nic, count, out);
  fclose(out);
  assert_string_equal(printed, text);
  free(printed);
}

static void test_mistakes_are_named(void **state) {
  (void)state;
  static const struct {
    const char *text, *error;
  } broken[] = {
      {"# x\neth0\n", "line 2: 'eth0' must be followed by an address"},
      {"eth0 10.0.0.1", "line 1: 'eth0' must be followed by an address"},
      {"eth0 10.0.0.1/33", "line 1: 'eth0' must be followed by an address"},
      {"eth0 10.0.0/8", "line 1: 'eth0' must be followed by an address"},
      {"eth0 ::1/129", "line 1: 'eth0' must be followed by an address"},
      {"a-name-of-16-char 10.0.0.1/8", "line 1: the name 'a-name-of-16-char' is too long"},
      {"eth0 10.0.0.1/8 upp", "'upp' is not one of up, speed=MBIT"},
      {"eth0 10.0.0.1/8 speed=", "'speed=' is not one of"},
      {"eth0 10.0.0.1/8 speed=99999999999", "'speed=99999999999' is not one of"},
      {"eth0 10.0.0.1/8 numa=-1", "'numa=-1' is not one of"},
      {"eth0 10.0.0.1/8 on=", "'on=' is not one of"},
      {"eth0 10.0.0.1/8 on=a-name-of-16-char", "'on=a-name-of-16-char' is not one of"},
  };
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    tt_nic nic[NICS];
    int64_t count = -7;
    assert_int_equal(read_text(broken[n].text, nic, &count), TUTTI_ERR_ARGUMENT);
    if (!strstr(tutti_last_error(), broken[n].error))
      fail_msg("'%s': %s", broken[n].text, tutti_last_error());
    assert_int_equal(count, -7);
  }
}

static void test_a_machine_may_have_no_record_of_nics(void **state) {
  (void)state;
  tt_nic nic[NICS];
  int64_t count = -7;
  assert_int_equal(tt_nics_find("/nowhere/at/all", nic, NICS, &count), TUTTI_OK);
  assert_int_equal(count, 0);
}

/* ---- rails ---- */

static void expect_rails(const char *text, const char *wanted, const char *names) {
  tt_nic nic[NICS];
  int64_t count;
  char chosen[NICS * (TT_NIC_NAME + 1)] = "";
  if (read_text(text, nic, &count) != TUTTI_OK || tt_nics_choose(wanted, nic, &count) != TUTTI_OK)
    fail_msg("%s", tutti_last_error());
  for (int64_t n = 0; n < count; n++)
    strcat(strcat(chosen, n ? " " : ""), nic[n].name);
  assert_string_equal(chosen, names);
}

static const char many[] = "lo 127.0.0.1/8 up loopback\n"
                           "eth0 10.0.0.1/24 up speed=100000\n"
                           "eth1 10.0.1.1/24 up speed=100000\n"
                           "eth2 10.0.2.1/24 speed=100000\n"
                           "eth3 10.0.3.1/24 up speed=25000\n"
                           "eth4 10.0.4.1/24 up speed=10000\n"
                           "eth5 10.0.5.1/24 up\n"
                           "eth0.7 10.7.0.1/16 up speed=100000 on=eth0\n"
                           "eth9.7 10.9.0.1/16 up speed=100000 on=eth9\n"
                           "idrac 169.254.0.2/16 up\n"
                           "docker0 172.17.0.1/16 up bridge\n"
                           "wg0 10.8.0.1/16 up tunnel\n"
                           "kube 10.9.0.1/32 up nowhere\n";

static void test_rails_are_what_is_fit(void **state) {
  (void)state;
  expect_rails(many, "", "eth0 eth1 eth3 eth5 eth9.7");
  expect_rails("lo 127.0.0.1/8 up loopback\neth0 10.0.0.1/8\n", "", "lo");
  expect_rails("lo 127.0.0.1/8 up loopback\ndocker0 10.0.0.1/8 up bridge\n", "", "lo");
  expect_rails("lo 127.0.0.1/8 loopback\n", "", "");
  expect_rails("", "", "");
  expect_rails("slow 10.0.0.1/8 up speed=100\nfast 10.0.0.2/8 speed=100000\n", "", "slow");
}

static void test_a_wire_is_one_rail(void **state) {
  (void)state;
  expect_rails("eth9.7 10.7.0.1/16 up on=eth9\neth9.8 10.8.0.1/16 up on=eth9\neth8.7 10.9.0.1/16 up on=eth8\n", "",
               "eth9.7 eth8.7");
  expect_rails("eth9.7 10.7.0.1/16 on=eth9\neth9.8 10.8.0.1/16 up on=eth9\n", "", "eth9.8");
  expect_rails("eth9.7 10.7.0.1/16 up on=eth9\neth9.8 10.8.0.1/16 up on=eth9\neth9 10.9.0.1/16 up\n", "", "eth9");
  expect_rails("eth9.7 10.7.0.1/16 up on=eth9\neth9.8 10.8.0.1/16 up on=eth9\n", "eth9.8,eth9.7", "eth9.8 eth9.7");
}

static void test_rails_are_what_is_wanted_in_that_order(void **state) {
  (void)state;
  expect_rails(many, "eth4,lo,eth0", "eth4 lo eth0");
  expect_rails(many, "wg0", "wg0");
  expect_rails(many, "eth1,eth0", "eth1 eth0");
}

static void test_what_is_wanted_and_not_there_is_named(void **state) {
  (void)state;
  static const struct {
    const char *wanted, *error;
  } broken[] = {
      {"eth7", "TUTTI_NICS: no NIC 'eth7' has an address; NICs with an address: lo, eth0, eth1, eth2"},
      {"eth0,", "no NIC ''"},
      {"eth0,,eth1", "no NIC ''"},
      {",", "no NIC ''"},
      {"eth0 ,eth1", "no NIC 'eth0 '"},
      {"eth", "no NIC 'eth'"},
      {"eth1,eth0,eth1", "NIC 'eth1' is named twice"},
      {"eth0,eth2", "NIC 'eth2' has no link"},
  };
  for (size_t n = 0; n < TT_COUNT(broken); n++) {
    tt_nic nic[NICS];
    int64_t count;
    assert_int_equal(read_text(many, nic, &count), TUTTI_OK);
    assert_int_equal(tt_nics_choose(broken[n].wanted, nic, &count), TUTTI_ERR_ARGUMENT);
    if (!strstr(tutti_last_error(), broken[n].error))
      fail_msg("'%s': %s", broken[n].wanted, tutti_last_error());
    assert_int_equal(count, 13);
  }
}

static void test_this_machine_has_each_nic_once(void **state) {
  (void)state;
  tt_nic nic[NICS], one;
  int64_t count, single;
  assert_int_equal(tt_nics_find("", nic, NICS, &count), TUTTI_OK);
  for (int64_t n = 0; n < count; n++) {
    assert_true(nic[n].prefix_bits >= 0 && nic[n].prefix_bits <= 128);
    assert_true(nic[n].address.ss_family == AF_INET || nic[n].address.ss_family == AF_INET6);
    for (int64_t m = 0; m < n; m++)
      assert_string_not_equal(nic[n].name, nic[m].name);
  }
  assert_int_equal(tt_nics_find("", &one, 1, &single), TUTTI_OK);
  assert_int_equal(single, count < 1 ? count : 1);
}

/* ---- addresses ---- */

/* "lo:1" is one more address of lo. */
static bool give_address(int fd, const char *name, const char *text) {
  struct ifreq of = {.ifr_flags = IFF_UP};
  struct sockaddr_in address = {.sin_family = AF_INET};
  strcpy(of.ifr_name, "lo");
  if (ioctl(fd, SIOCSIFFLAGS, &of) != 0 || inet_pton(AF_INET, text, &address.sin_addr) != 1)
    return false;
  strcpy(of.ifr_name, name);
  memcpy(&of.ifr_addr, &address, sizeof address);
  return ioctl(fd, SIOCSIFADDR, &of) == 0;
}

/* In a network of its own, where there is nothing but a loopback: 0 is right, 2 not permitted. */
static int be_routed_to(void) {
  tt_nic nic[NICS];
  int64_t count = 0;
  char text[INET6_ADDRSTRLEN + 4];
  if (unshare(CLONE_NEWNET) != 0)
    return 2;
  int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (!give_address(fd, "lo", "127.0.0.1") || !give_address(fd, "lo:1", "10.0.0.5"))
    return 2;
  if (tt_nics_find("", nic, NICS, &count) != TUTTI_OK || count != 1)
    return 1;
  tt_nics_format_address(&nic[0], text);
  return strncmp(text, "10.0.0.5/", 9) == 0 && nic[0].kind == TT_NIC_LOOPBACK ? 0 : 1;
}

static void test_what_leads_back_is_the_last_address_to_be_taken(void **state) {
  (void)state;
  int status = -1;
  pid_t process = fork();
  if (process == 0)
    _exit(be_routed_to());
  assert_int_equal(waitpid(process, &status, 0), process);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 2) {
    puts("a network of its own is not permitted here");
    skip();
  }
  assert_int_equal(status, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_hardware_has_speed_and_numa_node),
      cmocka_unit_test(test_what_the_system_does_not_say_is_unknown),
      cmocka_unit_test(test_virtual_ones_are_told_apart),
      cmocka_unit_test(test_a_bridge_is_a_wire_where_hardware_is_below_its_ports),
      cmocka_unit_test(test_lower_is_the_one_below_all),
      cmocka_unit_test(test_a_record_reads_back),
      cmocka_unit_test(test_mistakes_are_named),
      cmocka_unit_test(test_a_machine_may_have_no_record_of_nics),
      cmocka_unit_test(test_rails_are_what_is_fit),
      cmocka_unit_test(test_a_wire_is_one_rail),
      cmocka_unit_test(test_rails_are_what_is_wanted_in_that_order),
      cmocka_unit_test(test_what_is_wanted_and_not_there_is_named),
      cmocka_unit_test(test_this_machine_has_each_nic_once),
      cmocka_unit_test(test_what_leads_back_is_the_last_address_to_be_taken),
  };
  return cmocka_run_group_tests(tests, make_sys, remove_sys);
}
