/* topo/nics/system.c - what the system says of NICs: addresses and links from getifaddrs, the rest from /sys/class/net.
 *
 * In a container /sys may lack a NIC, or show another network's: what it does not say is unknown, and a NIC of which
 * nothing is known is taken for a wire. */
#include "topo/nics/nics.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOWER "lower_"

enum { DEEPEST = 8 }; /* NICs that stand on each other: as many as Linux allows */

/* ---- files below /sys/class/net/NAME ---- */

static bool open_path(char path[static PATH_MAX], const char *sys, const char *nic, const char *file) {
  return snprintf(path, PATH_MAX, "%s/%s/%s", sys, nic, file) < PATH_MAX;
}

static bool has_file(const char *sys, const char *nic, const char *file) {
  char path[PATH_MAX];
  return open_path(path, sys, nic, file) && access(path, F_OK) == 0;
}

static bool read_text(const char *sys, const char *nic, const char *file, char *text, size_t size) {
  char path[PATH_MAX];
  FILE *in = open_path(path, sys, nic, file) ? fopen(path, "r") : NULL;
  size_t length = in ? fread(text, 1, size - 1, in) : 0; /* of an old NIC `speed` can not be read, only opened */
  text[length] = '\0';
  if (in)
    fclose(in);
  return length > 0;
}

static int64_t read_number(const char *sys, const char *nic, const char *file, int64_t unknown) {
  char text[32], *rest;
  if (!read_text(sys, nic, file, text, sizeof text))
    return unknown;
  errno = 0;
  long long number = strtoll(text, &rest, 0);
  return rest != text && errno == 0 ? number : unknown;
}

/* The first that it stands on. */
static bool find_lower(const char *sys, const char *nic, char name[static TT_NIC_NAME]) {
  char path[PATH_MAX];
  size_t length = strlen(LOWER);
  DIR *entries = open_path(path, sys, nic, "") ? opendir(path) : NULL;
  const struct dirent *entry = NULL;
  while (entries && (entry = readdir(entries)))
    if (strncmp(entry->d_name, LOWER, length) == 0 && strlen(entry->d_name + length) < TT_NIC_NAME)
      break;
  if (entry)
    strcpy(name, entry->d_name + length);
  if (entries)
    closedir(entries);
  return entry != NULL;
}

/* ---- kinds ---- */

static bool is_tunnel(const char *sys, const char *nic) {
  static const char *const types[] = {"DEVTYPE=vxlan", "DEVTYPE=geneve", "DEVTYPE=gretap", "DEVTYPE=wireguard"};
  char text[512];
  int64_t type = read_number(sys, nic, "type", ARPHRD_ETHER);
  if (has_file(sys, nic, "tun_flags") || (type != ARPHRD_ETHER && type != ARPHRD_INFINIBAND))
    return true;
  bool said = read_text(sys, nic, "uevent", text, sizeof text), found = false;
  for (size_t n = 0; n < TT_COUNT(types); n++)
    found = found || (said && strstr(text, types[n]));
  return found;
}

/* Hardware, or on hardware: a bond, a VLAN, a bridge with such a port, which then has its address and is the way out.
 * A tunnel at a port leads to other bridges of containers only. */
static bool is_wired(const char *sys, const char *nic, int depth) {
  char path[PATH_MAX];
  if (has_file(sys, nic, "device"))
    return true;
  bool found = false, ends = depth == 0 || is_tunnel(sys, nic);
  DIR *entries = !ends && open_path(path, sys, nic, "") ? opendir(path) : NULL;
  for (const struct dirent *entry; entries && !found && (entry = readdir(entries));)
    found =
        strncmp(entry->d_name, LOWER, strlen(LOWER)) == 0 && is_wired(sys, entry->d_name + strlen(LOWER), depth - 1);
  if (entries)
    closedir(entries);
  return found;
}

/* Dummies speak no ARP and have no lower device. */
static bool leads_nowhere(const char *sys, const char *nic) {
  return !has_file(sys, nic, "device") && (read_number(sys, nic, "flags", 0) & IFF_NOARP) &&
         read_number(sys, nic, "iflink", -1) == read_number(sys, nic, "ifindex", -2);
}

static tt_nic_kind find_kind(const char *sys, const char *nic) {
  if (read_number(sys, nic, "type", ARPHRD_ETHER) == ARPHRD_LOOPBACK)
    return TT_NIC_LOOPBACK;
  if (has_file(sys, nic, "bridge"))
    return is_wired(sys, nic, DEEPEST) ? TT_NIC_WIRE : TT_NIC_BRIDGE;
  if (is_tunnel(sys, nic))
    return TT_NIC_TUNNEL;
  return leads_nowhere(sys, nic) ? TT_NIC_NOWHERE : TT_NIC_WIRE;
}

static bool is_bottom(const char *sys, const char *nic) {
  return has_file(sys, nic, "device") || has_file(sys, nic, "bridge");
}

/* A VLAN may stand on a VLAN. */
static void find_bottom(const char *sys, tt_nic *nic) {
  const char *at = nic->name;
  for (int depth = 0; depth < DEEPEST && !is_bottom(sys, at) && find_lower(sys, at, nic->lower); depth++)
    at = nic->lower;
}

void tt_nics_read_facts(const char *sys, tt_nic *nic) {
  int64_t megabits = read_number(sys, nic->name, "speed", -1);
  int64_t numa_node = read_number(sys, nic->name, "device/numa_node", -1);
  if (nic->kind == TT_NIC_WIRE)
    nic->kind = find_kind(sys, nic->name);
  nic->bits_per_second = megabits > 0 && megabits < UINT32_MAX ? megabits * 1000000 : 0;
  nic->numa_node = numa_node >= 0 && numa_node < INT32_MAX ? (int32_t)numa_node : -1;
  find_bottom(sys, nic);
}

/* ---- addresses ---- */

static int32_t count_bits(const struct sockaddr *mask) {
  size_t size = mask->sa_family == AF_INET ? 4 : 16;
  const unsigned char *byte = mask->sa_family == AF_INET
                                  ? (const unsigned char *)&((const struct sockaddr_in *)(const void *)mask)->sin_addr
                                  : ((const struct sockaddr_in6 *)(const void *)mask)->sin6_addr.s6_addr;
  int32_t bits = 0;
  for (size_t n = 0; n < size; n++)
    bits += __builtin_popcount(byte[n]);
  return bits;
}

static bool is_usable(const struct sockaddr *address) {
  if (address && address->sa_family == AF_INET6)
    return !IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr);
  return address && address->sa_family == AF_INET;
}

static tt_nic *find_name(tt_nic *nic, int64_t count, const char *name) {
  for (int64_t n = 0; n < count; n++)
    if (strcmp(nic[n].name, name) == 0)
      return &nic[n];
  return NULL;
}

/* IPv4 before IPv6, and both before what a machine gave itself for want of another one (169.254/16). What leads back to
 * this machine is last: a loopback may also have the address that others route to. 0 is none. */
static int worth_of(const struct sockaddr *address) {
  if (address->sa_family == AF_INET6)
    return IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)address)->sin6_addr) ? 1 : 4;
  if (address->sa_family != AF_INET)
    return 0;
  uint32_t four = ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr);
  return four >> 24 == IN_LOOPBACKNET ? 2 : four >> 16 == 0xa9fe ? 3 : 5;
}

static void take_address(tt_nic *nic, const struct ifaddrs *from) {
  if (worth_of(from->ifa_addr) <= worth_of((const struct sockaddr *)&nic->address))
    return;
  bool old = from->ifa_addr->sa_family == AF_INET;
  memcpy(&nic->address, from->ifa_addr, old ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6));
  nic->prefix_bits = from->ifa_netmask ? count_bits(from->ifa_netmask) : old ? 32 : 128;
}

static tt_nic make_nic(const char *name, unsigned flags) {
  tt_nic nic = {.numa_node = -1, .kind = TT_NIC_WIRE};
  strcpy(nic.name, name);
  nic.up = (flags & IFF_UP) && (flags & IFF_RUNNING);
  if (flags & IFF_LOOPBACK)
    nic.kind = TT_NIC_LOOPBACK;
  else if (flags & IFF_POINTOPOINT)
    nic.kind = TT_NIC_TUNNEL;
  return nic;
}

tutti_status tt_nics_read_system(const char *sys, tt_nic *nic, int64_t room, int64_t *count) {
  struct ifaddrs *all;
  int64_t found = 0;
  if (getifaddrs(&all) != 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot list the NICs of this machine: %s", strerror(errno));
  for (const struct ifaddrs *at = all; at; at = at->ifa_next) {
    char name[TT_NIC_NAME];
    if (!is_usable(at->ifa_addr))
      continue;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(at->ifa_name, ":"), at->ifa_name); /* "eth0:1": more of eth0 */
    tt_nic *known = find_name(nic, found, name);
    if (!known && found == room)
      continue;
    if (!known)
      *(known = &nic[found++]) = make_nic(name, at->ifa_flags);
    take_address(known, at);
  }
  assert(found <= room);
  freeifaddrs(all);
  for (int64_t n = 0; n < found; n++)
    tt_nics_read_facts(sys, &nic[n]);
  *count = found;
  return TUTTI_OK;
}
