/* tests/heap/programs/statics.c - static arrays lie in the file from the start, with what they had; what is written to
 * them is read there; after a fork parent and child each have their own. argv[1]: "private": they stay where they
 * are; "closed": the program closes the file; "mapped": it maps memory of its own over some; "fast": by _Fork;
 * "second": its first thread has ended. */
#include "check.h"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { BYTES = 5 << 20, NUMBERS = 1 << 18, UNTOUCHED = 256 << 20 };

static int numbers[NUMBERS] = {[0] = 7, [NUMBERS / 2] = 8, [NUMBERS - 1] = 9};
static unsigned char bytes[BYTES];
static unsigned char untouched[UNTOUCHED] __attribute__((aligned(65536)));
static const tt_heap_offer *heap;
static tt_heap_file file;

static unsigned char read_there(const void *data) {
  unsigned char byte;
  uint64_t offset;
  CHECK(heap->locate(data, 1, &offset));
  CHECK(pread(file.descriptor, &byte, 1, (off_t)offset) == 1);
  return byte;
}

static void fill(unsigned char mark) { memset(bytes, mark, sizeof bytes); }

static void look(unsigned char mark) {
  for (size_t n = 0; n < sizeof bytes; n += 509)
    CHECK(bytes[n] == mark);
  CHECK(bytes[sizeof bytes - 1] == mark);
}

static void *write_by_thread(void *mark) {
  fill((unsigned char)(uintptr_t)mark);
  return NULL;
}

static bool is_there(const void *data, size_t size) {
  uint64_t offset;
  return heap->locate(data, size, &offset);
}

static void be_shared(void) {
  struct stat about;
  pthread_t thread;
  CHECK(is_there(bytes, sizeof bytes) && is_there(numbers, sizeof numbers) && is_there(untouched, sizeof untouched));
  CHECK(is_there(bytes + 3, 1000) && !is_there(untouched, (size_t)1 << 40) && !is_there(&about, sizeof about));
  CHECK(pthread_create(&thread, NULL, write_by_thread, (void *)5) == 0 && pthread_join(thread, NULL) == 0);
  look(5);
  CHECK(read_there(&bytes[0]) == 5 && read_there(&bytes[BYTES - 1]) == 5 && read_there(&numbers[NUMBERS / 2]) == 8);
  CHECK(fstat(file.descriptor, &about) == 0 && about.st_blocks < 32 << 11); /* 32 MiB: not what was never touched */
}

static void fork_away(bool fast) {
  int status = 0;
  pid_t child = fast ? _Fork() : fork();
  if (child == 0) {
    usleep(20000);
    look(5);
    CHECK(!is_there(bytes, sizeof bytes));
    fill(6);
    usleep(20000);
    look(6);
    _exit(0);
  }
  fill(7);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  look(7);
  CHECK(!is_there(bytes, sizeof bytes));
}

/* As libhugetlbfs does: peers do not read what was there before, and it stays at a fork. */
static void map_over(void) {
  int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  CHECK(mmap(&untouched[UNTOUCHED / 2], 65536, PROT_READ | PROT_WRITE, flags, -1, 0) != MAP_FAILED);
  untouched[UNTOUCHED / 2] = 3;
  CHECK(heap->file(&file) && !is_there(bytes, sizeof bytes));
}

static void live(const char *how) {
  bool stay = strcmp(how, "private") == 0, closed = strcmp(how, "closed") == 0, mapped = strcmp(how, "mapped") == 0;
  heap = find_heap();
  CHECK(heap->file(&file));
  CHECK(numbers[0] == 7 && numbers[NUMBERS / 2] == 8 && numbers[NUMBERS - 1] == 9 && numbers[1] == 0);
  look(0);
  CHECK(is_there(bytes, sizeof bytes) == !stay);
  if (!stay)
    be_shared();
  fill(5);
  if (mapped)
    map_over();
  int copy = dup(file.descriptor);
  uint64_t offset = 0;
  heap->locate(bytes, sizeof bytes, &offset);
  if (closed)
    close(file.descriptor);
  fork_away(strcmp(how, "fast") == 0);
  unsigned char late = 5;
  CHECK(stay || mapped ||
        (pread(copy, &late, 1, (off_t)offset) == 1 && (closed || late == 5))); /* a peer that is late */
  CHECK(numbers[NUMBERS / 2] == 8 && untouched[1] == 0 && untouched[UNTOUCHED / 2] == (mapped ? 3 : 0));
  puts("all is well");
}

static pthread_t first;

static void *outlive_first(void *how) {
  CHECK(pthread_join(first, NULL) == 0);
  live(how);
  exit(0);
}

int main(int argc, char **argv) {
  pthread_t second;
  first = pthread_self();
  if (argc > 1 && strcmp(argv[1], "second") == 0) {
    CHECK(pthread_create(&second, NULL, outlive_first, argv[1]) == 0);
    pthread_exit(NULL);
  }
  live(argc > 1 ? argv[1] : "");
  return 0;
}
