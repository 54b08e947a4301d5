/* bindings/heap/region.c - making the region, and what the library finds. */
#include "heap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define ALIGN ((size_t)2 << 20) /* of huge pages */
#define LEAST_BYTES ((size_t)16 << 30)
#define MOST_BYTES ((size_t)4 << 40)
#define STEP_BYTES ((size_t)64 << 20)
#define PAGE ((size_t)4096)

heap tt_heap = {.lock = PTHREAD_MUTEX_INITIALIZER};
_Thread_local volatile sig_atomic_t tt_heap_inside;

void tt_heap_die(const char *what) {
  static const char name[] = "tutti-heap: ";
  if (write(STDERR_FILENO, name, sizeof name - 1) < 0 || write(STDERR_FILENO, what, strlen(what)) < 0)
    abort();
  abort();
}

uint32_t tt_heap_now_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return (uint32_t)((uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000);
}

/* Room for twice the memory; a power of two. */
static size_t region_bytes(void) {
  size_t memory = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE), bytes = LEAST_BYTES;
  while (bytes < 2 * memory && bytes < MOST_BYTES)
    bytes *= 2;
  return bytes;
}

bool tt_heap_is_limited(int resource) {
  struct rlimit limit;
  return getrlimit((__rlimit_resource_t)resource, &limit) != 0 || limit.rlim_cur != RLIM_INFINITY;
}

static bool commits_strictly(void) {
  char mode = '2';
  int fd = open("/proc/sys/vm/overcommit_memory", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return true;
  if (read(fd, &mode, 1) != 1)
    mode = '2';
  close(fd);
  return mode == '2';
}

static void *reserve(size_t bytes) {
  void *made = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return made != MAP_FAILED ? made : NULL;
}

/* Beyond, the region is no memory: mlockall and core files pass over it. */
bool tt_heap_open(uint32_t granules) {
  size_t had = tt_heap_size(tt_heap.open), wanted = tt_heap_size(granules);
  if (granules <= tt_heap.open)
    return true;
  wanted = (wanted + STEP_BYTES - 1) / STEP_BYTES * STEP_BYTES;
  wanted = wanted < tt_heap.bytes ? wanted : tt_heap.bytes;
  size_t about = wanted / HEAP_GRANULE * sizeof(heap_granule);
  if (mprotect(tt_heap.granule, (about + PAGE - 1) / PAGE * PAGE, PROT_READ | PROT_WRITE) != 0 ||
      mprotect(tt_heap.base + had, wanted - had, PROT_READ | PROT_WRITE) != 0)
    return false;
  tt_heap.open = (uint32_t)(wanted / HEAP_GRANULE);
  return true;
}

/* Of programs with a sanitizer, which has a malloc of its own. */
extern char __asan_init[] __attribute__((weak)), __tsan_init[] __attribute__((weak));
extern char __msan_init[] __attribute__((weak)), __lsan_init[] __attribute__((weak));

/* NULL, or why there is none. */
static const char *make(void) {
  if (__asan_init || __tsan_init || __msan_init || __lsan_init)
    return "the program has a sanitizer";
  if (!tt_heap_is_malloc())
    return "the program has a malloc of its own";
  if (tt_heap_is_limited(RLIMIT_AS))
    return "the address space is limited (ulimit -v)";
  if (tt_heap_is_limited(RLIMIT_DATA)) /* what was freed, and given back, counts still */
    return "the data of a process is limited (ulimit -d)";
  if (commits_strictly())
    return "the system overcommits no memory";
  size_t bytes = region_bytes();
  unsigned char *room = reserve(bytes + ALIGN);
  tt_heap.granule = reserve(bytes / HEAP_GRANULE * sizeof(heap_granule));
  if (!room || !tt_heap.granule)
    return "there is no room in the address space";
  size_t before = -(uintptr_t)room & (ALIGN - 1);
  if (before > 0)
    munmap(room, before);
  if (before < ALIGN)
    munmap(room + before + bytes, ALIGN - before);
  tt_heap.total = (uint32_t)(bytes / HEAP_GRANULE);
  tt_heap.dirty = (heap_list){HEAP_NONE, HEAP_NONE};
  for (int n = 0; n < HEAP_BINS; n++)
    tt_heap.clean[n] = tt_heap.dirty;
  tt_heap.base = room + before;
  tt_heap.bytes = bytes;
  return NULL;
}

/* What the C library's getenv will find later; NULL: nothing. */
static const char *value_of(char **environment, const char *name) {
  size_t length = strlen(name);
  for (; environment && *environment; environment++)
    if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
      return *environment + length + 1;
  return NULL;
}

static size_t read_bytes(const char *text) {
  static const char units[] = "KMG";
  char *end = NULL;
  size_t bytes = text ? (size_t)strtoull(text, &end, 10) : 0;
  char letter = text ? (char)(*end & ~('a' - 'A')) : '\0';
  const char *unit = letter >= 'A' && letter <= 'Z' ? strchr(units, letter) : NULL;
  int shift = unit ? 10 * (int)(unit - units + 1) : 0;
  bytes = bytes <= MOST_BYTES >> shift ? bytes << shift : 0;
  return bytes >= 4096 ? bytes : HEAP_GRANULE;
}

static bool is_wanted(const char *text) {
  unsigned modes;
  if (!tt_heap_read_modes(text, &modes)) {
    dprintf(STDERR_FILENO, "tutti: TUTTI_HEAP '%s' is " TT_HEAP_NEITHER ": it is off\n", text);
    return false;
  }
  tt_heap.parts = modes & TT_HEAP_PARTS;
  tt_heap.statics = modes & TT_HEAP_STATICS;
  return modes != 0;
}

void tt_heap_tell(const char *reason, const char *memory) {
  if (tt_heap.loud && reason)
    dprintf(STDERR_FILENO, "tutti: TUTTI_HEAP: %s: %s\n", reason, memory);
}

/* Before the constructors of all others, the C library's too (initfirst; glibc before 2.34 has one more such library,
 * libpthread): what they ask of fork comes after. */
__attribute__((constructor)) static void begin(int count, char **arguments, char **environment) {
  (void)count, (void)arguments;
  const char *log = value_of(environment, "TUTTI_LOG");
  tt_heap.loud = log && atoi(log) >= 2;
  if (!is_wanted(value_of(environment, "TUTTI_HEAP")))
    return;
  tt_heap.threshold = read_bytes(value_of(environment, "TUTTI_HEAP_BYTES"));
  const char *missing = make();
  tt_heap_tell(missing, "memory is what it would be without");
  if (missing)
    return;
  tt_heap_watch_forks();
  if (tt_heap.statics)
    tt_heap_tell(tt_heap_share_statics(), "static arrays stay where they are");
}

tt_heap_offer_function tutti_heap_offer;

__attribute__((visibility("default"))) const tt_heap_offer *tutti_heap_offer(void) {
  static const tt_heap_offer offer = {TT_HEAP_VERSION, tt_heap_file_tell, tt_heap_lending, tt_heap_use, tt_heap_locate};
  return tt_heap.bytes > 0 ? &offer : NULL;
}
