/* tests/heap/programs/forks.c - parent, child and grandchild each have their own memory after a fork, whatever the
 * others write, free and take anew, also when the others are gone; and what nobody inherits any more is used again.
 * argv[1]: rounds; argv[2]: threads that allocate meanwhile; argv[3]: bytes of the blocks, all together. */
#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <pty.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

enum { BLOCKS = 24, CHILDREN = 3 };

typedef struct block {
  unsigned char *memory;
  size_t bytes;
  unsigned char mark;
} block;

static block blocks[BLOCKS];
static size_t most = 2 * (size_t)8 << 20; /* bytes of all blocks, were each as long as it can be */
static const tt_heap_offer *heap;
static atomic_bool over;
static bool alone; /* no other threads: then a child may go on without the handlers of pthread_atfork */

static pid_t make_child(void) { return alone && rand() % 3 == 0 ? _Fork() : fork(); }

static void fill(block *of, unsigned char mark) {
  of->mark = mark;
  memset(of->memory, mark, of->bytes);
}

static void look(const block *of) {
  for (size_t n = 0; n < of->bytes; n += 509 + of->bytes / 10000)
    CHECK(of->memory[n] == of->mark);
  CHECK(of->memory[of->bytes - 1] == of->mark);
}

static void make(block *of) {
  of->bytes = 65536 + (size_t)rand() % (most / BLOCKS);
  of->memory = rand() % 3 ? malloc(of->bytes) : calloc(1, of->bytes);
  fill(of, (unsigned char)rand());
  if (rand() % 3)
    share(heap, of->memory, of->bytes);
}

/* Writes to some, frees and takes others: half of what it has. */
static void change(void) {
  for (int n = 0; n < BLOCKS; n++) {
    if (rand() % 2)
      continue;
    look(&blocks[n]);
    if (rand() % 2) {
      fill(&blocks[n], (unsigned char)rand());
      continue;
    }
    free(blocks[n].memory);
    make(&blocks[n]);
  }
}

/* Its relatives have written to their own meanwhile. */
static void live(unsigned seed) {
  srand(seed);
  for (int n = 0; n < BLOCKS; n++)
    look(&blocks[n]);
  usleep((unsigned)rand() % 3000);
  for (int n = 0; n < BLOCKS; n++)
    look(&blocks[n]);
  change();
  for (int n = 0; n < BLOCKS; n++)
    look(&blocks[n]);
}

static void be_child(unsigned seed) {
  int status = 0;
  pid_t grandchild = seed % 3 == 0 ? make_child() : -1;
  live(grandchild == 0 ? seed + 1000 : seed);
  if (grandchild > 0)
    CHECK(waitpid(grandchild, &status, 0) == grandchild && status == 0);
  if (seed % 4 == 0)
    execl("/bin/true", "true", (char *)NULL);
  _exit(0);
}

static void *allocate(void *unused) {
  unsigned seed = 5;
  while (!over) {
    size_t bytes = 40000 + (size_t)rand_r(&seed) % 200000;
    unsigned char *memory = malloc(bytes);
    memset(memory, 9, bytes);
    CHECK(memory[bytes / 2] == 9);
    free(memory);
  }
  return unused;
}

static long file_pages(void) {
  struct stat about;
  tt_heap_file file;
  CHECK(heap->file(&file) && fstat(file.descriptor, &about) == 0);
  return about.st_blocks / 8;
}

static pid_t fork_one(void (*live_on)(const block *of), const block *of) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    live_on(of);
    _exit(0);
  }
  return child;
}

static void end(const block *of) { (void)of; }

static void await(pid_t child) {
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static block make_one(size_t bytes) {
  block made = {malloc(bytes), bytes, 0};
  fill(&made, 1);
  CHECK(share(heap, made.memory, made.bytes));
  return made;
}

/* A call has lent the block, and its readers have not come yet: its place stays as it is, whatever happens. */
static void keep_what_is_read(void) {
  block of = make_one(1 << 20);
  uint64_t before, after;
  heap->lending(true);
  CHECK(heap->locate(of.memory, of.bytes, &before));
  await(fork_one(end, &of));
  heap->lending(true); /* another call, which only reads it too */
  CHECK(!share(heap, of.memory, of.bytes));
  heap->lending(false);
  heap->lending(false);
  heap->lending(true);
  CHECK(share(heap, of.memory, of.bytes) && heap->locate(of.memory, of.bytes, &after) && before != after);
  heap->lending(false);
  free(of.memory);
}

static void *look_later(void *of) {
  usleep(400000);
  look(of);
  _exit(0);
}

static void end_first_thread(const block *of) {
  pthread_t other;
  CHECK(pthread_create(&other, NULL, look_later, (void *)(uintptr_t)of) == 0);
  pthread_exit(NULL);
}

/* A child whose first thread has ended is none that is gone. */
static void outlive_first_thread(void) {
  static block of; /* not on that thread's stack */
  of = make_one(1 << 20);
  pid_t child = fork_one(end_first_thread, &of);
  usleep(200000);
  fill(&of, 2);
  CHECK(share(heap, of.memory, of.bytes));
  usleep(110000);
  block other = make_one(1 << 20);
  fill(&other, 3);
  await(child);
  free(other.memory);
  free(of.memory);
}

static void sleep_long(const block *of) {
  (void)of;
  sleep(100);
}

/* One child that lives on keeps what it has, not what came later. */
static void stay_small(void) {
  block of = make_one(16 << 20);
  pid_t sleeper = fork_one(sleep_long, &of);
  long pages = file_pages();
  for (int n = 0; n < 8; n++) {
    CHECK(share(heap, of.memory, of.bytes));
    await(fork_one(end, &of));
    usleep(110000);
  }
  CHECK(share(heap, of.memory, of.bytes));
  CHECK(file_pages() < pages + 4 * (16 << 20) / 4096);
  kill(sleeper, SIGKILL);
  waitpid(sleeper, NULL, 0);
  free(of.memory);
}

/* What is protected stays so, and what the program has mapped over a part stays its own. */
static void keep_protection(void) {
  enum { PIECE = 65536 };
  block of = make_one(1 << 20);
  int zeros = open("/dev/zero", O_RDONLY), flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  unsigned char *own = of.memory + 4 * PIECE;
  CHECK(zeros >= 0 && mprotect(of.memory, PIECE, PROT_READ) == 0 && mprotect(of.memory + PIECE, PIECE, PROT_NONE) == 0);
  CHECK(mmap(own, PIECE, PROT_READ | PROT_WRITE, flags, -1, 0) == own);
  *own = 7;
  await(fork_one(end, &of));
  CHECK(read(zeros, of.memory, 1) < 0 && errno == EFAULT && of.memory[0] == of.mark);
  CHECK(read(zeros, of.memory + PIECE, 1) < 0 && errno == EFAULT && *own == 7);
  CHECK(mprotect(of.memory, 2 * PIECE, PROT_READ | PROT_WRITE) == 0);
  memset(own, of.mark, PIECE);
  look(&of);
  close(zeros);
  free(of.memory);
}

/* What realloc cuts off is given back at once. */
static void cut_off(void) {
  block of = make_one(32 << 20);
  long pages = file_pages();
  await(fork_one(end, &of));
  of.memory = realloc(of.memory, of.bytes = 1 << 20);
  look(&of);
  usleep(110000);
  free(malloc(2 << 20)); /* then it looks who lives */
  CHECK(file_pages() < pages - (24 << 20) / 4096);
  free(of.memory);
}

static void *wait_for(void *end_of_pipe) {
  char byte;
  CHECK(read(*(int *)end_of_pipe, &byte, 1) == 1);
  return NULL;
}

/* Where that thread could not be made to wait there is no child: what it writes meanwhile would be lost. */
static void fork_beside_thread(void) {
  pthread_t thread;
  int ends[2], waits = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  CHECK(pipe(ends) == 0 && pthread_create(&thread, NULL, wait_for, ends) == 0);
  pid_t child = fork();
  if (child == 0)
    _exit(0);
  CHECK(child < 0 ? errno == ENOMEM : waits >= 0);
  if (child > 0)
    await(child);
  CHECK(write(ends[1], "", 1) == 1 && pthread_join(thread, NULL) == 0);
  for (int n = 0; n < 2; n++)
    close(ends[n]);
  if (waits >= 0)
    close(waits);
}

/* The program closes all descriptors and opens a file of its own at the number of the heap's. */
static void lose_descriptor(void) {
  char path[] = "/tmp/heap-forks-XXXXXX", text[8] = "";
  tt_heap_file lost;
  block mine = {malloc(300000), 300000, 0};
  fill(&mine, 1);
  CHECK(share(heap, mine.memory, mine.bytes) && heap->file(&lost));
  close(lost.descriptor);
  int fd = mkstemp(path), status = 0;
  CHECK(fd >= 0 && unlink(path) == 0 && dup2(fd, lost.descriptor) == lost.descriptor && write(fd, "theirs", 6) == 6);
  CHECK(!heap->file(&lost));
  fork_beside_thread();
  CHECK(mprotect(mine.memory, 65536, PROT_NONE) == 0);
  pid_t child = fork();
  CHECK(child >= 0 && mprotect(mine.memory, 65536, PROT_READ | PROT_WRITE) == 0);
  if (child == 0) {
    usleep(2000);
    look(&mine);
    fill(&mine, 3);
    _exit(0);
  }
  fill(&mine, 2);
  CHECK(waitpid(child, &status, 0) == child && status == 0);
  look(&mine);
  CHECK(!share(heap, mine.memory, mine.bytes)); /* it works on, as private memory */
  free(mine.memory);
  for (int n = 0; n < BLOCKS; n++)
    free(blocks[n].memory);
  CHECK(pread(fd, text, 7, 0) == 6 && strcmp(text, "theirs") == 0);
}

static void sleep_and_look(const block *of) {
  look(of);
  usleep(400000);
  look(of);
}

/* Beyond a limit that the program has set itself the system maps nothing: fork fails, and the parent lives; so do
 * children that it had before, with what they have. */
static void fork_beyond_limit(int resource) {
  struct rlimit had, low;
  int terminal;
  block of = make_one(1 << 20);
  pid_t child = fork_one(sleep_and_look, &of);
  CHECK(share(heap, of.memory, of.bytes));
  CHECK(getrlimit(resource, &had) == 0);
  low = (struct rlimit){1 << 20, had.rlim_max};
  CHECK(setrlimit(resource, &low) == 0 && fork() < 0 && errno == ENOMEM);
  CHECK(forkpty(&terminal, NULL, NULL, NULL) < 0 && errno == ENOMEM && daemon(1, 1) < 0 && errno == ENOMEM);
  CHECK(setrlimit(resource, &had) == 0);
  look(&of);
  usleep(110000);
  block other = make_one(1 << 20);
  fill(&other, 9); /* not where the child's is */
  await(fork_one(look, &of));
  await(child);
  free(other.memory);
  free(of.memory);
}

/* Nearer to it than what is in the file is long: to map over that takes no more. */
static void fork_near_limit(void) {
  struct rlimit had, low;
  long pages = 0;
  block of = make_one(32 << 20);
  FILE *file = fopen("/proc/self/statm", "r");
  CHECK(file && fscanf(file, "%ld", &pages) == 1 && fclose(file) == 0 && getrlimit(RLIMIT_AS, &had) == 0);
  low = (struct rlimit){(rlim_t)pages * (rlim_t)getpagesize() + (8 << 20), had.rlim_max};
  CHECK(setrlimit(RLIMIT_AS, &low) == 0);
  pid_t child = fork_one(sleep_and_look, &of);
  CHECK(setrlimit(RLIMIT_AS, &had) == 0);
  fill(&of, 2);
  await(child);
  free(of.memory);
}

static void *fork_on(void *unused) {
  for (int n = 0; n < 100; n++) {
    int status = 0;
    pid_t child = n % 2 ? fork() : _Fork();
    if (child == 0)
      _exit(0);
    CHECK(waitpid(child, &status, 0) == child && status == 0);
  }
  return unused;
}

static void fork_in_threads(void) {
  pthread_t thread[3];
  block of = make_one(1 << 20);
  for (int n = 0; n < 3; n++)
    CHECK(pthread_create(&thread[n], NULL, fork_on, NULL) == 0);
  for (int n = 0; n < 300; n++) {
    share(heap, of.memory, of.bytes);
    free(malloc(300000));
  }
  for (int n = 0; n < 3; n++)
    pthread_join(thread[n], NULL);
  free(of.memory);
}

static ssize_t allocate_and_write(void *unused, const char *text, size_t bytes) {
  (void)unused, (void)text;
  free(malloc(2 << 20));
  return (ssize_t)bytes;
}

static void *flush_all(void *unused) {
  FILE *stream = fopencookie(NULL, "w", (cookie_io_functions_t){.write = allocate_and_write});
  CHECK(stream);
  while (!over) {
    fputc('x', stream);
    fflush(NULL);
  }
  fclose(stream);
  return unused;
}

static void use_streams(const block *of) {
  (void)of;
  FILE *stream = fopen("/dev/null", "w");
  CHECK(stream && fclose(stream) == 0);
}

/* Who flushes all streams has the lock of their list, and may need memory. */
static void fork_while_flushing(void) {
  pthread_t thread;
  over = false;
  CHECK(pthread_create(&thread, NULL, flush_all, NULL) == 0);
  for (int n = 0; n < 200; n++)
    await(fork_one(use_streams, NULL));
  over = true;
  pthread_join(thread, NULL);
  use_streams(NULL);
}

/* Nobody inherits anything by forks that fail. It is another user's process from here on. */
static void fail_forks(bool missed) {
  struct rlimit had, none;
  block of = make_one(16 << 20);
  long pages = file_pages();
  CHECK(getrlimit(RLIMIT_NPROC, &had) == 0);
  none = (struct rlimit){0, had.rlim_max};
  if (setuid(getuid() == 0 ? 65534 : getuid()) != 0 || setrlimit(RLIMIT_NPROC, &none) != 0)
    return;
  for (int n = 0; n < 8; n++) {
    CHECK(fork() < 0);
    CHECK(share(heap, of.memory, of.bytes));
    look(&of);
    usleep(110000);
  }
  CHECK(missed || file_pages() < pages + 4 * (16 << 20) / 4096);
  CHECK(setrlimit(RLIMIT_NPROC, &had) == 0);
  free(of.memory);
}

static volatile sig_atomic_t handled;

/* Also while this thread changes the heap: such a child may see what the parent writes. */
static void fork_in_handler(int signal) {
  unsigned char mark = blocks[0].memory[0];
  pid_t child = _Fork();
  if (child == 0) {
    usleep(1000);
    _exit(blocks[0].memory[0] == mark ? 0 : 2);
  }
  blocks[0].memory[0]++;
  handled += child > 0 && signal == SIGALRM;
}

static void work_interrupted(void) {
  struct itimerval often = {{0, 1700}, {0, 1700}}, never = {{0, 0}, {0, 0}};
  int own = 0;
  signal(SIGALRM, fork_in_handler);
  CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
  for (int n = 0; n < 500 || handled < 50; n++) {
    free(malloc(2 << 20));
    share(heap, blocks[0].memory, blocks[0].bytes);
    usleep(300); /* most come here */
  }
  CHECK(setitimer(ITIMER_REAL, &never, NULL) == 0);
  for (int n = handled; n > 0; n--) {
    int status = 0;
    CHECK(wait(&status) > 0 && WIFEXITED(status) && WEXITSTATUS(status) != 1);
    own += WEXITSTATUS(status) == 0;
  }
  CHECK(own > handled / 4);
  fill(&blocks[0], blocks[0].mark);
}

/* What the parent had when it ended is still the child's, and so is what it writes itself. Prints its verdict. */
static void outlive(void) {
  pid_t parent = getpid();
  if (fork() != 0)
    _exit(0);
  while (getppid() == parent)
    usleep(1000);
  for (int n = 0; n < 20; n++) {
    change();
    for (int at = 0; at < BLOCKS; at++)
      look(&blocks[at]);
  }
  puts("outlived");
  exit(0);
}

/* Another process that does that. */
static void see_outlive(const char *program) {
  char command[4096], text[64] = "";
  snprintf(command, sizeof command, "exec '%s' outlive", program);
  FILE *output = popen(command, "r");
  CHECK(output && fgets(text, sizeof text, output) && strcmp(text, "outlived\n") == 0);
  pclose(output);
}

static void work(int rounds) {
  pid_t child[CHILDREN] = {0};
  for (int round = 0; round < rounds; round++) {
    int at = round % CHILDREN; /* children outlive some of their parent's rounds */
    if (child[at] > 0)
      await(child[at]);
    change();
    usleep((unsigned)rand() % 500);
    child[at] = make_child();
    if (child[at] == 0)
      be_child((unsigned)round);
    CHECK(child[at] > 0);
    change();
  }
  for (int n = 0; n < CHILDREN; n++)
    if (child[n] > 0)
      await(child[n]);
}

int main(int argc, char **argv) {
  int rounds = argc > 1 ? atoi(argv[1]) : 1, threads = argc > 2 ? atoi(argv[2]) : 0;
  pthread_t thread[8];
  heap = find_heap();
  alone = threads == 0;
  most = argc > 3 ? 2 * strtoull(argv[3], NULL, 10) : most;
  for (int n = 0; n < threads; n++)
    CHECK(pthread_create(&thread[n], NULL, allocate, NULL) == 0);
  for (int n = 0; n < BLOCKS; n++)
    make(&blocks[n]);
  if (argc > 1 && strcmp(argv[1], "outlive") == 0)
    outlive();
  work(rounds);
  over = true;
  for (int n = 0; n < threads; n++)
    pthread_join(thread[n], NULL);
  usleep(150000); /* it looks for those that are gone from time to time */
  for (int n = 0; n < BLOCKS; n++) {
    look(&blocks[n]);
    CHECK(share(heap, blocks[n].memory, blocks[n].bytes));
    look(&blocks[n]);
  }
  CHECK((size_t)file_pages() <
        3 * (most / 4096 + BLOCKS * 16)); /* what lives, and as much that is kept for the next blocks */
  keep_what_is_read();
  see_outlive(argv[0]);
  outlive_first_thread();
  stay_small();
  if (lock_all((size_t)1 << 30)) {
    stay_small();
    munlockall();
  }
  keep_protection();
  cut_off();
  fork_beyond_limit(RLIMIT_AS);
  fork_beyond_limit(RLIMIT_DATA);
  fork_near_limit();
  fork_in_threads();
  fork_while_flushing();
  if (alone)
    work_interrupted(); /* places that it leaves do not come back: a child may have been missed */
  fail_forks(alone);
  lose_descriptor();
  puts("all is well");
  return 0;
}
