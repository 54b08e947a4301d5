/* bench/place.h - where a rank runs: its machine, the machine's NICs, and what they have counted.
 *
 * Everything is read from /proc and /sys, so that workers of all libraries find the same. A machine is a boot of a
 * kernel with a host name and a network of its own; a library may divide it further (TUTTI_NODES pretends machines),
 * but the counters of NICs stay those of the whole: they belong to the host. */
#ifndef BENCH_PLACE_H
#define BENCH_PLACE_H

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BENCH_NICS 8
#define BENCH_NAME 16
#define BENCH_LIST (BENCH_NICS * BENCH_NAME)

typedef struct bench_nic {
  char name[BENCH_NAME];
  int64_t bits_per_second; /* 0: the system does not say */
} bench_nic;

/* What one rank tells the others. */
typedef struct bench_place {
  uint64_t host;
  int64_t part; /* of the host; all that is equal is one machine */
  char name[64];
  int32_t cores; /* of the machine: launchers bind ranks to some of them */
  int32_t nic_count;
  bench_nic nic[BENCH_NICS]; /* that carry data between machines */
} bench_place;

typedef struct bench_traffic {
  int64_t sent[BENCH_NICS], received[BENCH_NICS]; /* bytes, in the order of the place's NICs */
} bench_traffic;

typedef struct bench_flow {
  double sent[BENCH_NICS], received[BENCH_NICS]; /* bytes a call, of one host's NICs */
} bench_flow;

/* ---- files of one line ---- */

/* "" where there is none. */
static inline void bench_read_line(const char *path, char *line, int size) {
  FILE *file = fopen(path, "re");
  line[0] = '\0';
  if (file && !fgets(line, size, file))
    line[0] = '\0';
  if (file)
    fclose(file);
  line[strcspn(line, "\n")] = '\0';
}

static inline int64_t bench_nic_number(const char *name, const char *what) {
  char path[160], line[32];
  snprintf(path, sizeof path, "/sys/class/net/%.15s/%s", name, what);
  bench_read_line(path, line, sizeof line);
  return strtoll(line, NULL, 10);
}

static inline bool bench_nic_has(const char *name, const char *what) {
  char path[160];
  snprintf(path, sizeof path, "/sys/class/net/%.15s/%s", name, what);
  return access(path, F_OK) == 0;
}

/* ---- NICs ---- */

/* Whether it is made of others of this machine: bridges, bonds, VLANs. What passes it is counted there. */
static inline bool bench_nic_is_made(const char *name) {
  char path[64];
  bool made = bench_nic_has(name, "bridge") || bench_nic_has(name, "bonding");
  snprintf(path, sizeof path, "/sys/class/net/%.15s", name);
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
    made = made || strncmp(entry->d_name, "lower_", 6) == 0;
  if (folder)
    closedir(folder);
  return made;
}

/* Loopback, tunnels and the cables of containers to a bridge lead to no other machine. */
static inline bool bench_nic_leads_out(const char *name) {
  bool cable = bench_nic_has(name, "master") && bench_nic_number(name, "iflink") != bench_nic_number(name, "ifindex");
  return bench_nic_number(name, "type") == 1 /* Ethernet */ && bench_nic_number(name, "carrier") == 1 &&
         !bench_nic_has(name, "tun_flags") && !cable && !bench_nic_is_made(name);
}

static inline void bench_nic_add(bench_place *place, const char *name) {
  int64_t megabits = bench_nic_number(name, "speed");
  if (place->nic_count == BENCH_NICS || strlen(name) >= BENCH_NAME)
    return;
  bench_nic *nic = &place->nic[place->nic_count++];
  memcpy(nic->name, name, strlen(name) + 1);
  nic->bits_per_second = megabits > 0 ? megabits * 1000000 : 0;
}

static inline int bench_by_name(const void *left, const void *right) {
  return strcmp(((const bench_nic *)left)->name, ((const bench_nic *)right)->name);
}

static inline void bench_nics_find(bench_place *place) {
  DIR *folder = opendir("/sys/class/net");
  for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
    if (entry->d_name[0] != '.' && bench_nic_leads_out(entry->d_name))
      bench_nic_add(place, entry->d_name);
  if (folder)
    closedir(folder);
  qsort(place->nic, (size_t)place->nic_count, sizeof *place->nic, bench_by_name);
}

/* "eth0,eth1" in that order; those that this machine does not have are left out. */
static inline void bench_nics_named(bench_place *place, const char *list) {
  char copy[BENCH_LIST], *rest = NULL;
  snprintf(copy, sizeof copy, "%s", list);
  for (char *name = strtok_r(copy, ",", &rest); name; name = strtok_r(NULL, ",", &rest))
    if (bench_nic_has(name, "statistics"))
      bench_nic_add(place, name);
}

static inline void bench_traffic_read(const bench_place *place, bench_traffic *traffic) {
  memset(traffic, 0, sizeof *traffic);
  for (int n = 0; n < place->nic_count; n++) {
    traffic->sent[n] = bench_nic_number(place->nic[n].name, "statistics/tx_bytes");
    traffic->received[n] = bench_nic_number(place->nic[n].name, "statistics/rx_bytes");
  }
}

/* ---- the machine ---- */

static inline uint64_t bench_hash(uint64_t hash, const char *text) {
  for (; *text; text++)
    hash = (hash ^ (unsigned char)*text) * UINT64_C(1099511628211);
  return hash;
}

/* nics: names with commas; "": all that lead to other machines. */
static inline void bench_place_find(const char *nics, bench_place *place) {
  char boot[64];
  struct stat net = {0};
  memset(place, 0, sizeof *place); /* it travels as bytes */
  gethostname(place->name, sizeof place->name - 1);
  for (char *at = place->name; *at; at++)
    *at = isspace((unsigned char)*at) ? '_' : *at;
  bench_read_line("/proc/sys/kernel/random/boot_id", boot, sizeof boot);
  stat("/proc/self/ns/net", &net);
  place->host = bench_hash(bench_hash(UINT64_C(14695981039346656037), place->name), boot) ^ (uint64_t)net.st_ino;
  place->cores = (int32_t)sysconf(_SC_NPROCESSORS_ONLN);
  if (nics[0])
    bench_nics_named(place, nics);
  else
    bench_nics_find(place);
}

#endif
