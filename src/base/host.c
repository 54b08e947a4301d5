/* base/host.c - which machine this process is on, for shared memory: a number that is equal where memory, abstract
 * sockets and process numbers of one user are shared.
 *
 * The kernel's boot id tells machines apart, also those with the same hostname; namespaces tell apart what is on one.
 */
#include "base/base.h"

#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

static uint64_t add_boot(uint64_t hash) {
  char id[64] = "";
  int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
  ssize_t size = fd >= 0 ? read(fd, id, sizeof id) : 0;
  if (fd >= 0)
    close(fd);
  if (size > 0)
    return tt_hash(hash, id, (size_t)size);
  struct utsname name; /* no /proc: the hostname is what is left */
  return uname(&name) == 0 ? tt_hash(hash, name.nodename, strlen(name.nodename)) : hash;
}

static uint64_t add_namespace(uint64_t hash, const char *path) {
  struct stat facts;
  if (stat(path, &facts) != 0)
    return hash;
  uint64_t number[] = {(uint64_t)facts.st_dev, (uint64_t)facts.st_ino};
  return tt_hash(hash, number, sizeof number);
}

uint64_t tt_host_network(void) { return add_namespace(add_boot(0), "/proc/self/ns/net"); }

uint64_t tt_host_processes(void) { return add_namespace(add_boot(0), "/proc/self/ns/pid"); }

uint64_t tt_host(void) {
  uint64_t user = (uint64_t)geteuid();
  uint64_t hash = add_boot(0);
  hash = add_namespace(hash, "/proc/self/ns/net"); /* abstract sockets */
  hash = add_namespace(hash, "/proc/self/ns/pid"); /* whether a peer is alive, and reading its memory */
  return tt_hash(hash, &user, sizeof user);
}

int64_t tt_host_cores(void) {
  long cores = sysconf(_SC_NPROCESSORS_ONLN);
  return cores > 0 ? cores : 0;
}

/* ---- its caches, as the kernel has them; hwloc would read all of the machine for it ---- */

static int first_core(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return 0;
  for (int core = 0; core < CPU_SETSIZE; core++)
    if (CPU_ISSET((size_t)core, &set))
      return core;
  return 0;
}

/* A word such as 2048K or 2; "": there is no such file. */
static void read_cache(int core, int index, const char *member, char word[32]) {
  char path[128];
  snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", core, index, member);
  *word = '\0';
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t size = fd >= 0 ? read(fd, word, 31) : 0;
  if (fd >= 0)
    close(fd);
  word[size > 0 ? size : 0] = '\0';
  word[strcspn(word, "\n")] = '\0';
}

int64_t tt_host_l2_bytes(void) {
  static const int usual[] = {2, 1, 3, 0}; /* level 1 has two, as a rule */
  int core = first_core();
  char word[32];
  for (size_t n = 0; n < TT_COUNT(usual); n++) {
    int64_t bytes;
    read_cache(core, usual[n], "level", word);
    if (strcmp(word, "2") != 0)
      continue;
    read_cache(core, usual[n], "size", word);
    return tt_parse_bytes(word, &bytes) == TUTTI_OK ? bytes : 0;
  }
  return 0;
}

/* ---- its memory ---- */

/* Behind `name` in a file of lines such as "MemAvailable:   123 kB"; or all of a file, for "". -1: it does not say. */
static int64_t read_number(const char *path, const char *name) {
  char line[256];
  int64_t number = -1;
  FILE *file = fopen(path, "re");
  while (file && number < 0 && fgets(line, sizeof line, file))
    if (strncmp(line, name, strlen(name)) != 0 || sscanf(line + strlen(name), "%" SCNd64, &number) != 1)
      number = -1;
  if (file)
    fclose(file);
  return number;
}

/* Control groups of one version: their files. A machine may have both versions; memory is counted in one of them. */
typedef struct groups {
  const char *controller, *folder, *limit, *used;
  const char *given_up[3]; /* lines of memory.stat, that count the groups below too: what the kernel can take back */
} groups;

static const groups versions[] = {
    {"", "/sys/fs/cgroup", "memory.max", "memory.current", {"inactive_file ", "active_file ", "slab_reclaimable "}},
    {"memory",
     "/sys/fs/cgroup/memory",
     "memory.limit_in_bytes",
     "memory.usage_in_bytes",
     {"total_inactive_file ", "total_active_file "}}};

static int64_t read_of_group(const groups *of, const char *group, const char *file, const char *name) {
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s%s/%s", of->folder, group, file);
  return read_number(path, name);
}

/* With what it could give up: the files that a program reads fill its group in time. INT64_MAX: it has no limit. */
static int64_t left_in_group(const groups *of, const char *group) {
  int64_t limit = read_of_group(of, group, of->limit, ""), given_up = 0;
  if (limit < 0)
    return INT64_MAX;
  int64_t used = read_of_group(of, group, of->used, "");
  for (size_t n = 0; n < TT_COUNT(of->given_up) && of->given_up[n]; n++) {
    int64_t bytes = read_of_group(of, group, "memory.stat", of->given_up[n]);
    given_up += bytes > 0 ? bytes : 0;
  }
  int64_t left = used > given_up ? limit - (used - given_up) : limit;
  return left > 0 ? left : 0;
}

/* Of a line such as "4:cpu,memory:/a/b" of /proc/self/cgroup; NULL: it is about other groups. */
static char *find_group(char *line, const char *controller) {
  char *names = strchr(line, ':'), *end = names ? strchr(names + 1, ':') : NULL;
  size_t length = strlen(controller);
  for (char *at = end ? names + 1 : NULL; at && at <= end; at += strcspn(at, ",:") + 1)
    if (strcspn(at, ",:") == length && strncmp(at, controller, length) == 0)
      return end + 1;
  return NULL;
}

static int64_t least_of(int64_t a, int64_t b) { return a < b ? a : b; }

/* In that group, where the line names one, and in those above it. */
static int64_t left_from(const groups *of, char *line) {
  int64_t least = INT64_MAX;
  char *group = find_group(line, of->controller);
  for (char *end = group ? group + strcspn(group, "\n") : NULL; end && end > group; end = strrchr(group, '/')) {
    *end = '\0';
    least = least_of(least, left_in_group(of, group));
  }
  return least;
}

/* In this process's groups; in a container the outermost may be the only one that is there. */
static int64_t left_in_groups(void) {
  char *line = NULL;
  size_t room = 0;
  int64_t least = INT64_MAX;
  FILE *file = fopen("/proc/self/cgroup", "re");
  for (size_t n = 0; n < TT_COUNT(versions); n++)
    least = least_of(least, left_in_group(&versions[n], ""));
  while (file && getline(&line, &room, file) > 0)
    for (size_t n = 0; n < TT_COUNT(versions); n++)
      least = least_of(least, left_from(&versions[n], line));
  if (file)
    fclose(file);
  free(line);
  return least;
}

int64_t tt_host_memory_bytes(void) {
  int64_t kilobytes = read_number("/proc/meminfo", "MemAvailable:"), group = left_in_groups();
  return least_of(kilobytes < 0 ? INT64_MAX : kilobytes * 1024, group);
}
