/* bindings/heap/maps.c - what the system says is mapped where (/proc/thread-self/maps: the process's own are
 * empty when its first thread has ended). Calls no malloc. */
#include "heap.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sysmacros.h>
#include <unistd.h>

enum { LINES = 8192 };

typedef struct reader {
  int fd;
  size_t at, have;
  char text[LINES];
} reader;

/* The next line, without its end; NULL: there is none. What is longer is cut: the path, at which nobody looks. */
static char *next_line(reader *of) {
  char *line = of->text + of->at, *end;
  while (!(end = memchr(line, '\n', of->have - of->at))) {
    memmove(of->text, line, of->have - of->at);
    of->have -= of->at;
    of->at = 0;
    line = of->text;
    ssize_t more = of->have < LINES ? read(of->fd, of->text + of->have, LINES - of->have) : 0;
    if (more <= 0)
      return NULL;
    of->have += (size_t)more;
  }
  *end = '\0';
  of->at = (size_t)(end + 1 - of->text);
  return line;
}

/* "from-to rwxp offset major:minor inode path" */
static bool parse(char *line, heap_map *map) {
  char *at;
  map->from = (unsigned char *)(uintptr_t)strtoull(line, &at, 16);
  map->to = *at == '-' ? (unsigned char *)(uintptr_t)strtoull(at + 1, &at, 16) : NULL;
  if (*at != ' ' || strlen(at) < 6)
    return false;
  map->prot = (at[1] == 'r' ? PROT_READ : 0) | (at[2] == 'w' ? PROT_WRITE : 0) | (at[3] == 'x' ? PROT_EXEC : 0);
  map->shared = at[4] == 's';
  map->offset = strtoull(at + 5, &at, 16);
  unsigned major = (unsigned)strtoul(at, &at, 16), minor = *at == ':' ? (unsigned)strtoul(at + 1, &at, 16) : 0;
  map->device = makedev(major, minor);
  map->inode = strtoull(at, NULL, 10);
  return true;
}

bool tt_heap_each_map(const void *memory, size_t bytes, void (*each)(const heap_map *map, void *argument),
                      void *argument) {
  const unsigned char *first = memory, *end = first + bytes;
  static reader lines; /* not on the stack, which may be a short one of a signal's handler */
  heap_map map;
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); /* whoever calls this has the lock */
  lines = (reader){.fd = open("/proc/thread-self/maps", O_RDONLY | O_CLOEXEC)};
  bool opened = lines.fd >= 0;
  for (char *line = opened ? next_line(&lines) : NULL; line && parse(line, &map); line = next_line(&lines)) {
    if (map.from < first) {
      map.offset += (uint64_t)(first - map.from);
      map.from = (unsigned char *)(uintptr_t)first;
    }
    map.to = map.to < end ? map.to : (unsigned char *)(uintptr_t)end;
    if (map.from < map.to)
      each(&map, argument);
  }
  if (opened)
    close(lines.fd);
  pthread_setcancelstate(cancel, NULL);
  return opened;
}
