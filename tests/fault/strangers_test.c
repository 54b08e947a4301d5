/* A job over tcp whose ports are attacked while it works: its messages stay right, nobody else gets in, nothing piles
 * up.
 *
 * Strangers are processes that know every port of the job and all that ranks have said to prove themselves, since ranks
 * record it for them in shared memory. They connect as fast as they can and say garbage, half a hello, nothing, or what
 * was recorded. Ranks begin when strangers are at work, and cut connections of their own, so that they prove themselves
 * again and again in the crowd. */
#include "support/tcp.h"
#include "transport/tcp/auth.h"

#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <cmocka.h>

enum { RANKS = 3, RAILS = 2, STRANGERS = 2, RECORDS = 64, KEPT = 100, MOST = 20000, HANG_S = 300 };
enum { SAID_BYTES = TT_TCP_HELLO_BYTES + TT_TCP_PROOF_BYTES };

typedef struct record {
  _Atomic int whole;
  unsigned char said[SAID_BYTES];
} record;

typedef struct room {
  struct sockaddr_in port[RANKS][RAILS];
  _Atomic int told; /* ranks that have told theirs */
  _Atomic int record_count;
  record record[RECORDS];
  _Atomic int64_t attacks; /* connections of strangers so far */
  _Atomic int64_t answers; /* of ranks to what they said */
  _Atomic int welcomes;    /* more than an answer: somebody got in */
  _Atomic uint64_t last;   /* round */
} room;

static room *shared;
static int64_t attacks_wanted = 3000;

/* ---- recording ---- */

static unsigned char hello_at[1024][TT_TCP_HELLO_BYTES]; /* the last one that came there, of each descriptor */

static void note_proof(unsigned char *hello, const unsigned char *proof) {
  int n = atomic_fetch_add_explicit(&shared->record_count, 1, memory_order_relaxed);
  if (n < RECORDS) {
    memcpy(shared->record[n].said, hello, TT_TCP_HELLO_BYTES);
    memcpy(shared->record[n].said + TT_TCP_HELLO_BYTES, proof, TT_TCP_PROOF_BYTES);
    atomic_store_explicit(&shared->record[n].whole, 1, memory_order_release); /* pairs with find_record */
  }
  hello[0] = 0;
}

/* Stands in front of the system's, so that all that tcp hears comes by. Strangers' words are recorded as well. */
ssize_t recv(int fd, void *bytes, size_t size, int flags) {
  ssize_t got = syscall(SYS_recvfrom, fd, bytes, size, flags, NULL, NULL);
  if (got != (ssize_t)size || fd >= (int)TT_COUNT(hello_at))
    return got;
  if (size == TT_TCP_HELLO_BYTES && memcmp(bytes, "tuttitc", 7) == 0)
    memcpy(hello_at[fd], bytes, size);
  else if (size == TT_TCP_PROOF_BYTES && hello_at[fd][0] != 0)
    note_proof(hello_at[fd], bytes);
  return got;
}

/* ---- strangers ---- */

typedef struct stranger {
  int fd[KEPT];
  size_t heard_bytes[KEPT];
  tt_random random;
} stranger;

static const unsigned char *find_record(stranger *who) {
  int count = atomic_load_explicit(&shared->record_count, memory_order_relaxed);
  count = count < RECORDS ? count : RECORDS;
  const record *of = count > 0 ? &shared->record[tt_random_below(&who->random, (uint64_t)count)] : NULL;
  return of && atomic_load_explicit(&of->whole, memory_order_acquire) ? of->said : NULL; /* pairs with note_proof */
}

/* An answer to a hello is all that anybody gets without the key. */
static void hear(stranger *who, int n) {
  unsigned char bytes[256];
  ssize_t got = recv(who->fd[n], bytes, sizeof bytes, MSG_DONTWAIT);
  if (got <= 0)
    return;
  who->heard_bytes[n] += (size_t)got;
  atomic_fetch_add_explicit(&shared->answers, 1, memory_order_relaxed);
  if (who->heard_bytes[n] > TT_TCP_ANSWER_BYTES)
    atomic_fetch_add_explicit(&shared->welcomes, 1, memory_order_relaxed);
}

/* Nothing, garbage, half a hello, a hello, or hello and proof. */
static void say(stranger *who, int fd) {
  static const size_t recorded_bytes[] = {0, 0, TT_TCP_HELLO_BYTES / 2, TT_TCP_HELLO_BYTES, SAID_BYTES};
  unsigned char bytes[2000];
  size_t size = tt_random_below(&who->random, sizeof bytes);
  uint64_t kind = tt_random_below(&who->random, TT_COUNT(recorded_bytes));
  const unsigned char *said = kind > 1 ? find_record(who) : NULL;
  fill(bytes, size, tt_random_next(&who->random));
  if (said)
    memcpy(bytes, said, size = recorded_bytes[kind]);
  if (kind > 0)
    (void)send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* Its n-th connection, instead of the one that it was; and a look at another. */
static void attack(stranger *who, int n) {
  uint64_t rank = tt_random_below(&who->random, RANKS), rail = tt_random_below(&who->random, RAILS);
  int other = (int)tt_random_below(&who->random, KEPT);
  if (who->fd[n] >= 0)
    close(who->fd[n]);
  who->heard_bytes[n] = 0;
  who->fd[n] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
  (void)connect(who->fd[n], (const struct sockaddr *)&shared->port[rank][rail], sizeof(struct sockaddr_in));
  say(who, who->fd[n]);
  if (who->fd[other] >= 0)
    hear(who, other);
  atomic_fetch_add_explicit(&shared->attacks, 1, memory_order_relaxed);
}

static pid_t start_stranger(uint64_t seed) {
  pid_t parent = getpid(), child = fork();
  if (child != 0)
    return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  static stranger self;
  memset(self.fd, -1, sizeof self.fd);
  tt_random_init(&self.random, seed);
  while (atomic_load_explicit(&shared->told, memory_order_acquire) < RANKS) /* pairs with tell_ports */
    sched_yield();
  for (int n = 0; getppid() == parent; n = (n + 1) % KEPT)
    attack(&self, n);
  _exit(0);
}

/* ---- ranks ---- */

static bool listens(int fd) {
  int yes = 0;
  socklen_t bytes = sizeof yes;
  return getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &yes, &bytes) == 0 && yes;
}

static void tell_ports(int64_t rank) {
  int count = 0;
  for (int fd = 3; fd < 256; fd++) {
    socklen_t bytes = sizeof(struct sockaddr_in);
    if (listens(fd)) {
      CHECK(count < RAILS && getsockname(fd, (struct sockaddr *)&shared->port[rank][count], &bytes) == 0);
      CHECK(shared->port[rank][count].sin_family == AF_INET);
      count++;
    }
  }
  CHECK(count == RAILS);
  atomic_fetch_add_explicit(&shared->told, 1, memory_order_release); /* pairs with start_stranger */
}

static int count_descriptors(void) {
  DIR *folder = opendir("/proc/self/fd");
  int count = 0;
  CHECK(folder != NULL);
  while (readdir(folder))
    count++;
  closedir(folder);
  return count;
}

/* One message from each to each. */
static void exchange(void *self, tutti_stream *out[RANKS], tutti_stream *in[RANKS], int64_t rank, uint64_t round) {
  for (int64_t r = 0; r < RANKS; r++) {
    uint64_t seed = round * 100 + (uint64_t)(rank * 10 + r);
    if (r != rank)
      put_now(self, out[r], size_of(seed, MOST), seed);
  }
  for (int64_t r = 0; r < RANKS; r++) {
    uint64_t seed = round * 100 + (uint64_t)(r * 10 + rank);
    if (r != rank)
      take_now(self, in[r], size_of(seed, MOST), seed);
  }
}

/* Rank 0 decides when it is enough. Others are a round ahead of it, at most. */
static void look_for_end(int64_t rank, uint64_t round) {
  if (rank == 0 && atomic_load_explicit(&shared->last, memory_order_relaxed) == UINT64_MAX &&
      atomic_load_explicit(&shared->attacks, memory_order_relaxed) > attacks_wanted && round > 100)
    atomic_store_explicit(&shared->last, round + 2, memory_order_relaxed);
}

static void work(const tutti_boot *boot, void *argument) {
  const bool *cuts = argument;
  alarm(HANG_S);
  void *self = open_rank(boot, RAILS);
  tutti_stream *out[RANKS] = {NULL}, *in[RANKS] = {NULL};
  tt_random random;
  tt_random_init(&random, (uint64_t)boot->rank);
  for (int64_t r = 0; r < RANKS; r++)
    if (r != boot->rank) {
      out[r] = open_end(self, 7, boot->rank, r, MOST);
      in[r] = open_end(self, 7, r, boot->rank, MOST);
    }
  tell_ports(boot->rank);
  while (atomic_load_explicit(&shared->attacks, memory_order_relaxed) < KEPT)
    move_on(self, SECOND / 100);
  int most = 0;
  for (uint64_t round = 1; round <= atomic_load_explicit(&shared->last, memory_order_relaxed); round++) {
    look_for_end(boot->rank, round);
    exchange(self, out, in, boot->rank, round);
    int count = count_descriptors();
    most = count > most ? count : most;
    if (*cuts && round % 20 == 0)
      cut_one(&random);
  }
  CHECK(most < 150); /* listeners, some connections to each rank, 32 strangers */
  for (int64_t r = 0; r < RANKS; r++)
    if (r != boot->rank)
      send_off(self, out[r]);
  tt_tcp_ops()->close(self);
}

/* ---- the test ---- */

static void run(bool cuts) {
  pid_t child[STRANGERS];
  memset(shared, 0, sizeof *shared);
  atomic_init(&shared->last, UINT64_MAX);
  for (uint64_t n = 0; n < STRANGERS; n++)
    child[n] = start_stranger((uint64_t)tt_clock_ns() + n);
  job started = job_start(RANKS, work, &cuts);
  int failed = job_wait(&started);
  for (int n = 0; n < STRANGERS; n++) {
    kill(child[n], SIGKILL);
    assert_int_equal(waitpid(child[n], NULL, 0), child[n]);
  }
  int64_t attacks = atomic_load_explicit(&shared->attacks, memory_order_relaxed); /* all have ended */
  int64_t answers = atomic_load_explicit(&shared->answers, memory_order_relaxed);
  int records = atomic_load_explicit(&shared->record_count, memory_order_relaxed);
  print_message("%" PRId64 " connections of strangers, %" PRId64 " answers, %d callers recorded\n", attacks, answers,
                records);
  assert_int_equal(failed, 0);
  assert_true(records > 0 && answers > 0);
  assert_int_equal(atomic_load_explicit(&shared->welcomes, memory_order_relaxed), 0);
}

static void test_traffic_stays_right_among_strangers(void **state) {
  (void)state;
  run(false);
}

static void test_ranks_find_each_other_again_among_strangers(void **state) {
  (void)state;
  run(true);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_traffic_stays_right_among_strangers),
      cmocka_unit_test(test_ranks_find_each_other_again_among_strangers),
  };
  if (getenv("TUTTI_TEST_LONG"))
    attacks_wanted = 100000;
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
