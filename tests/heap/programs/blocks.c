/* tests/heap/programs/blocks.c - what malloc promises, with the heap: threads allocate, free each other's blocks,
 * change sizes over the threshold, and look whether contents stay; what a call uses can be read through the file,
 * and not written; what was freed is given back, and large blocks grow without a copy where the system moves pages.
 * argv[1]: operations. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { THREADS = 8, SLOTS = 64, PAGE = 4096, MIB = 1 << 20, HUGE_EVERY = 1000 };

typedef struct block {
  unsigned char *memory;
  size_t bytes;
  unsigned char mark;
} block;

static block shelf[THREADS * SLOTS]; /* from which all take, and to which all put */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static const tt_heap_offer *heap;
static long operations;

static uint64_t next_random(uint64_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 7;
  return *state ^= *state << 17;
}

/* Of a page, or of one in 64 where there are many. */
static size_t step_of(size_t bytes) { return bytes <= MIB ? PAGE : 64 * PAGE; }

/* Its first and last byte, and one of each step. */
static void fill(block *of) {
  for (size_t at = 0; at < of->bytes; at += step_of(of->bytes))
    of->memory[at] = of->mark;
  if (of->bytes > 0)
    of->memory[of->bytes - 1] = of->mark;
}

static void look(const block *of, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 64 * PAGE)
    CHECK(of->memory[at] == of->mark);
  for (size_t at = 0; at < bytes && of->bytes <= MIB; at += PAGE)
    CHECK(of->memory[at] == of->mark);
  CHECK(bytes < of->bytes || bytes == 0 || of->memory[bytes - 1] == of->mark);
}

static size_t random_bytes(uint64_t *state) {
  static const size_t most[] = {100, 5000, 70000, 200000, 1 << 20};
  if (next_random(state) % HUGE_EVERY == 0)
    return 1 + next_random(state) % ((operations < 1000000 ? 128u : 1024u) * (size_t)MIB);
  return 1 + next_random(state) % most[next_random(state) % 5];
}

static void allocate(block *of, uint64_t *state) {
  size_t align = (size_t)16 << next_random(state) % 14;
  void *memory = NULL;
  of->bytes = random_bytes(state);
  of->mark = (unsigned char)next_random(state);
  switch (next_random(state) % 5) {
  case 0:
    CHECK(posix_memalign(&memory, align, of->bytes) == 0 && (uintptr_t)memory % align == 0);
    break;
  case 1:
    memory = aligned_alloc(align, of->bytes);
    CHECK((uintptr_t)memory % align == 0);
    break;
  case 2:
    memory = calloc(1, of->bytes);
    of->memory = memory;
    for (size_t at = 0; at < of->bytes; at += step_of(of->bytes) / 4)
      CHECK(of->memory[at] == 0);
    CHECK(of->memory[of->bytes - 1] == 0);
    break;
  default:
    memory = malloc(of->bytes);
  }
  CHECK(memory && malloc_usable_size(memory) >= of->bytes);
  of->memory = memory;
  fill(of);
}

static void change(block *of, uint64_t *state) {
  size_t bytes = random_bytes(state), kept = bytes < of->bytes ? bytes : of->bytes;
  of->memory = realloc(of->memory, bytes);
  CHECK(of->memory);
  look(of, kept > 0 ? kept - 1 : 0);
  of->bytes = bytes;
  fill(of);
}

static void release(block *of) {
  look(of, of->bytes);
  errno = 77;
  free(of->memory);
  CHECK(errno == 77);
  *of = (block){NULL, 0, 0};
}

/* One of the shelf's, which is nobody else's meanwhile. */
static block take(size_t at) {
  pthread_mutex_lock(&lock);
  block taken = shelf[at];
  shelf[at] = (block){NULL, 0, 0};
  pthread_mutex_unlock(&lock);
  return taken;
}

static void put(size_t at, block given) {
  pthread_mutex_lock(&lock);
  block was = shelf[at];
  shelf[at] = given;
  pthread_mutex_unlock(&lock);
  if (was.memory)
    release(&was);
}

static void *work(void *number) {
  uint64_t state = 88172645463325252u + (uint64_t)(uintptr_t)number * 7919;
  for (long n = 0; n < operations / THREADS; n++) {
    size_t at = next_random(&state) % (THREADS * SLOTS);
    block mine = take(at);
    if (!mine.memory)
      allocate(&mine, &state);
    else if (next_random(&state) % 3 == 0)
      change(&mine, &state);
    else if (next_random(&state) % 4 == 0)
      share(heap, mine.memory, mine.bytes);
    else
      release(&mine);
    if (mine.memory)
      put(at, mine);
  }
  return NULL;
}

/* Of this process, now or (VmHWM) at most so far. */
static size_t resident_bytes(const char *name) {
  char text[128];
  size_t kib = 0, length = strlen(name);
  FILE *file = fopen("/proc/self/status", "r");
  while (file && fgets(text, sizeof text, file))
    if (strncmp(text, name, length) == 0)
      kib = strtoul(text + length + 1, NULL, 10);
  if (file)
    fclose(file);
  return kib << 10;
}

/* What a peer does: it may read, and not write. */
static void look_from_outside(void) {
  tt_heap_file file;
  uint64_t offset;
  unsigned char *block = malloc(300000);
  memset(block, 7, 300000);
  heap->use(block, 300000);
  CHECK(!heap->locate(block, 300000, &offset)); /* one call does not make it worth the copy */
  heap->use(block, 300000);
  CHECK(heap->locate(block + 5, 299000, &offset) && heap->file(&file) && offset + 299000 <= file.bytes);
  char path[64];
  snprintf(path, sizeof path, "/proc/self/fd/%d", file.descriptor);
  int fd = open(path, O_RDONLY);
  CHECK(fd >= 0 && mmap(NULL, file.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED && errno == EACCES);
  unsigned char *outside = mmap(NULL, file.bytes, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
  CHECK(outside != MAP_FAILED && outside[offset] == 7 && outside[offset + 298999] == 7);
  CHECK(mprotect(outside, PAGE, PROT_READ | PROT_WRITE) != 0);
  block[5] = 8;
  CHECK(outside[offset] == 8);
  CHECK(ftruncate(file.descriptor, 0) != 0);        /* nobody's read may meet a hole where there was a file */
  CHECK(!heap->locate(block + 5, 330000, &offset)); /* it ends before */
  block = realloc(block, 900000);
  CHECK(block[5] == 8 && block[299999] == 7);
  free(block);
  CHECK(!heap->locate(block, 300000, &offset));
  munmap(outside, file.bytes);
  close(fd);
}

/* As much as is live at most, and 256 MiB; after a while a quarter of that. */
static void give_back(size_t bytes) {
  unsigned char *memory[7]; /* the last stays meanwhile */
  malloc_trim(0);
  size_t others = resident_bytes("VmRSS") + bytes + 8 * MIB, most = 7 * bytes < 256u * MIB ? 7 * bytes : 256u * MIB;
  for (int n = 0; n < 7; n++)
    memset(memory[n] = malloc(bytes), n, bytes);
  for (int n = 0; n < 6; n++)
    free(memory[n]);
  CHECK(resident_bytes("VmRSS") < others + most);
  usleep(1100000);
  free(malloc(3 * MIB));
  CHECK(resident_bytes("VmRSS") < others + most / 4);
  free(memory[6]);
}

/* The same where all memory is locked, and the system (Linux 5.18) can give back what is. */
static void give_back_locked(void) {
  enum { DONTNEED_LOCKED = 24 };
  void *page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(page != MAP_FAILED);
  if (madvise(page, PAGE, DONTNEED_LOCKED) == 0 && lock_all((size_t)1 << 30)) {
    give_back(10u * MIB);
    munlockall();
  }
  munmap(page, PAGE);
}

/* The same for what realloc cuts off, also when nothing else is freed. */
static void cut_off(void) {
  enum { BLOCKS = 20 };
  unsigned char *memory[BLOCKS];
  size_t before = resident_bytes("VmRSS");
  for (int n = 0; n < BLOCKS; n++) {
    memset(memory[n] = malloc(64u * MIB), n + 1, 64u * MIB);
    memory[n] = realloc(memory[n], MIB);
  }
  CHECK(resident_bytes("VmRSS") < before + (BLOCKS + 256u + 8u) * MIB);
  for (int n = 0; n < BLOCKS; n++) {
    CHECK(memory[n][0] == n + 1 && memory[n][MIB - 1] == n + 1);
    free(memory[n]);
  }
}

/* Where what is behind it is not free, its pages move, and are never there twice. */
static void grow_without_copy(void) {
  size_t bytes = 300u * MIB, before = resident_bytes("VmRSS:");
  unsigned char *memory = malloc(bytes), *behind = malloc(MIB), *had = memory;
  memset(memory, 5, bytes);
  memory = realloc(memory, 2 * bytes);
  CHECK(memory && memory != had && resident_bytes("VmHWM") < before + bytes + 100u * MIB);
  for (size_t at = 0; at < bytes; at += PAGE)
    CHECK(memory[at] == 5);
  CHECK(memory[bytes] == 0 && memory[2 * bytes - 1] == 0);
  free(behind);
  free(memory);
}

static void expect_grown(unsigned char *memory, size_t bytes) {
  CHECK(memory);
  for (size_t at = 0; at < bytes; at += PAGE)
    CHECK(memory[at] == 5);
  memset(memory, 6, 2 * bytes);
  free(memory);
  free(memset(malloc(2 * bytes), 7, 2 * bytes)); /* where pages would have come, and do not */
}

/* The system refuses to move pages: it has another advice for a part of them, or the program a limit of its own. */
static void grow_where_pages_stay(void) {
  size_t bytes = 8u * MIB;
  struct rlimit had, low;
  CHECK(getrlimit(RLIMIT_AS, &had) == 0);
  for (int limited = 1; limited >= 0; limited--) {
    unsigned char *memory = malloc(bytes), *behind = malloc(MIB);
    memset(memory, 5, bytes);
    CHECK(madvise(memory + PAGE, bytes - PAGE, MADV_NOHUGEPAGE) == 0 || errno == EINVAL);
    low = (struct rlimit){limited ? 1u << 30 : had.rlim_cur, had.rlim_max};
    CHECK(setrlimit(RLIMIT_AS, &low) == 0);
    expect_grown(realloc(memory, 2 * bytes), bytes);
    CHECK(setrlimit(RLIMIT_AS, &had) == 0);
    free(behind);
  }
}

static void free_again(void *memory) { free(memory); }

static void resize_again(void *memory) {
  if (!realloc(memory, MIB + 1))
    _exit(2);
}

static void expect_abort(void (*use)(void *memory), int frees) {
  const struct rlimit none = {0, 0};
  int status = 0;
  pid_t child = fork();
  if (child == 0) {
    CHECK(setrlimit(RLIMIT_CORE, &none) == 0 && dup2(open("/dev/null", O_WRONLY), STDERR_FILENO) >= 0);
    for (int n = 0; n < frees; n++)
      free(malloc(MIB));
    void *memory = malloc(MIB);
    free(memory);
    use(memory);
    _exit(0);
  }
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

/* What was freed, and is not anybody's since, cannot be used again, whatever was freed before. */
static void use_again(void) {
  for (int frees = 0; frees < 256; frees++)
    expect_abort(free_again, frees);
  expect_abort(resize_again, 0);
}

static void refuse(void) {
  volatile size_t all = SIZE_MAX;
  errno = 0;
  CHECK(!malloc(all / 2) && errno == ENOMEM);
  CHECK(!calloc(all / 2, 3) && !realloc(NULL, all - 4096) && !aligned_alloc(64, all - 100));
  void *memory = &memory;
  CHECK(posix_memalign(&memory, 3, 1 << 20) == EINVAL && posix_memalign(&memory, 64, all / 2) == ENOMEM &&
        memory == &memory);
}

int main(int argc, char **argv) {
  pthread_t thread[THREADS];
  operations = argc > 1 ? atol(argv[1]) : 1;
  heap = find_heap();
  grow_where_pages_stay(); /* before there is memory that was freed */
  look_from_outside();
  refuse();
  use_again();
  give_back(10u * MIB);
  give_back_locked();
  grow_without_copy();
  cut_off();
  for (uintptr_t n = 0; n < THREADS; n++)
    CHECK(pthread_create(&thread[n], NULL, work, (void *)n) == 0);
  for (int n = 0; n < THREADS; n++)
    pthread_join(thread[n], NULL);
  for (size_t n = 0; n < THREADS * SLOTS; n++)
    put(n, (block){NULL, 0, 0});
  give_back(100u * MIB);
  puts("all is well");
  return 0;
}
