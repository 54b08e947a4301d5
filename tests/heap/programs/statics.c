/* tests/heap/programs/statics.c - static arrays lie in the file from the start, with what they had; what is written to
 * them is read there; after a fork parent and child each have their own. argv[1]: "private": they stay where they
 * are. */
#include "check.h"

#include <pthread.h>
#include <sys/stat.h>
#include <sys/wait.h>

enum { BYTES = 5 << 20, NUMBERS = 1 << 18 };

static int numbers[NUMBERS] = {[0] = 7, [NUMBERS / 2] = 8, [NUMBERS - 1] = 9};
static unsigned char bytes[BYTES];
static unsigned char untouched[1 << 30];
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
  CHECK(fstat(file.descriptor, &about) == 0 && about.st_blocks < 32 << 11); /* 16 MiB: not what was never touched */
}

static void fork_away(void) {
  int status = 0;
  pid_t child = fork();
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

int main(int argc, char **argv) {
  bool stay = argc > 1 && strcmp(argv[1], "private") == 0;
  heap = find_heap();
  CHECK(heap->file(&file));
  CHECK(numbers[0] == 7 && numbers[NUMBERS / 2] == 8 && numbers[NUMBERS - 1] == 9 && numbers[1] == 0);
  look(0);
  CHECK(is_there(bytes, sizeof bytes) == !stay);
  if (!stay)
    be_shared();
  fill(5);
  fork_away();
  CHECK(numbers[NUMBERS / 2] == 8 && untouched[1] == 0);
  puts("all is well");
  return 0;
}
