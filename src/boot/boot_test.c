/* The launcher's allgather: clients are threads, the server runs in the test's own thread. */
#include "boot/boot.h"
#include "boot/wire.h"

#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND ((int64_t)1000000000)
#define RANKS 8

typedef struct client {
  int64_t rank, rank_count, timeout_ns;
  const char *address;
  int rounds;
  size_t bytes;
  int done; /* pipe: one byte when it is finished */
  tutti_status status;
  char text[200], missing[100];
  bool right;
} client;

static bool check_all(const client *own, const unsigned char *all, int round) {
  for (int64_t r = 0; r < own->rank_count; r++)
    for (size_t b = 0; b < own->bytes; b++)
      if (all[(size_t)r * own->bytes + b] != (unsigned char)(r * 7 + round))
        return false;
  return true;
}

static void run_rounds(client *own, const tutti_boot *boot) {
  unsigned char *mine = malloc(own->bytes + 1), *all = malloc(own->bytes * (size_t)own->rank_count + 1);
  for (int round = 0; round < own->rounds && own->status == TUTTI_OK; round++) {
    memset(mine, (int)(own->rank * 7 + round), own->bytes);
    own->status =
        boot->allgather(boot->user, mine, all, own->bytes, own->timeout_ns, own->missing, sizeof own->missing);
    own->right = own->right && own->status == TUTTI_OK && check_all(own, all, round);
  }
  free(mine);
  free(all);
}

static void *run_client(void *argument) {
  client *own = argument;
  tt_boot *boot = NULL;
  own->right = true;
  own->status = tt_boot_connect(own->address, own->rank, own->rank_count, SECOND, &boot);
  if (own->status == TUTTI_OK)
    run_rounds(own, tt_boot_get(boot));
  snprintf(own->text, sizeof own->text, "%s", tutti_last_error());
  tt_boot_close(boot);
  if (write(own->done, "", 1) != 1)
    abort();
  return NULL;
}

static void serve_until_done(tt_boot_server *server, int done, int count) {
  struct pollfd fds[] = {{.fd = tt_boot_server_fd(server), .events = POLLIN}, {.fd = done, .events = POLLIN}};
  char byte;
  while (count > 0 && poll(fds, 2, -1) > 0) {
    if (fds[0].revents)
      tt_boot_server_serve(server);
    if (fds[1].revents && read(done, &byte, 1) == 1)
      count--;
  }
}

/* Runs clients 0 .. count-1 of a job of rank_count, all like `like`. */
static void run_job(tt_boot_server *server, int count, client *clients, const client *like) {
  pthread_t thread[RANKS];
  int done[2];
  assert_int_equal(pipe(done), 0);
  for (int r = 0; r < count; r++) {
    clients[r] = *like;
    clients[r].rank = r;
    clients[r].address = tt_boot_server_address(server);
    clients[r].done = done[1];
    pthread_create(&thread[r], NULL, run_client, &clients[r]);
  }
  serve_until_done(server, done[0], count);
  for (int r = 0; r < count; r++)
    pthread_join(thread[r], NULL);
  close(done[0]);
  close(done[1]);
}

static tt_boot_server *open_narrow(int64_t rank_count, int64_t connections) {
  tt_boot_server *server = NULL;
  assert_int_equal(tt_boot_server_open(rank_count, connections, &server), TUTTI_OK);
  return server;
}

static tt_boot_server *open_server(int64_t rank_count) { return open_narrow(rank_count, rank_count); }

static int exit_code(pid_t pid) {
  int status;
  return waitpid(pid, &status, 0) == pid && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static tutti_status open_once(void) {
  tt_boot *boot = NULL;
  tutti_status status = tt_boot_open(SECOND * 60, &boot);
  tt_boot_close(boot);
  return status;
}

/* Rank 0 of a job of one, then what it has forked, then rank 0 again: 0 when all is as it should be. */
static int be_rank_and_fork(const tt_boot_server *server) {
  setenv("TUTTI_BOOT", tt_boot_server_address(server), 1);
  setenv("TUTTI_RANK", "0", 1);
  setenv("TUTTI_SIZE", "1", 1);
  if (open_once() != TUTTI_OK)
    return 1;
  pid_t child = fork();
  if (child == 0)
    _exit(open_once() == TUTTI_ERR_SYSTEM ? 0 : 1);
  return exit_code(child) != 0 || open_once() != TUTTI_OK ? 2 : 0;
}

/* The first test: options are read once, here only by the processes that it forks. */
static void test_what_a_rank_forks_is_no_rank(void **state) {
  (void)state;
  tt_boot_server *server = open_server(1);
  pid_t rank = fork();
  if (rank == 0)
    _exit(be_rank_and_fork(server));
  assert_int_equal(exit_code(rank), 0);
  tt_boot_server_close(server);
}

static void test_everyone_gets_everything_in_rank_order(void **state) {
  (void)state;
  static const size_t sizes[] = {0, 1, 300, 1 << 20};
  tt_boot_server *server = open_server(RANKS);
  for (size_t s = 0; s < TT_COUNT(sizes); s++) { /* each time new connections to the same server */
    client clients[RANKS], like = {.rank_count = RANKS, .timeout_ns = 60 * SECOND, .rounds = 5, .bytes = sizes[s]};
    run_job(server, RANKS, clients, &like);
    for (int r = 0; r < RANKS; r++)
      assert_true(clients[r].status == TUTTI_OK && clients[r].right);
  }
  tt_boot_server_close(server);
}

static void test_ranks_without_a_connection_of_their_own_come_again(void **state) {
  (void)state;
  for (int connections = 1; connections < RANKS; connections++) {
    tt_boot_server *server = open_narrow(RANKS, connections);
    client clients[RANKS], like = {.rank_count = RANKS, .timeout_ns = 60 * SECOND, .rounds = 5, .bytes = 300};
    run_job(server, RANKS, clients, &like);
    for (int r = 0; r < RANKS; r++)
      assert_true(clients[r].status == TUTTI_OK && clients[r].right);
    tt_boot_server_close(server);
  }
}

static void expect_timeout(int64_t connections) {
  tt_boot_server *server = open_narrow(5, connections);
  client clients[RANKS], like = {.rank_count = 5, .timeout_ns = SECOND / 20, .rounds = 1, .bytes = 8};
  run_job(server, 3, clients, &like);
  for (int r = 0; r < 3; r++) {
    assert_int_equal(clients[r].status, TUTTI_ERR_TIMEOUT);
    assert_non_null(strstr(clients[r].missing, "3, 4"));
  }
  tt_boot_server_close(server);
}

static void test_timeout_names_the_missing_ranks(void **state) {
  (void)state;
  expect_timeout(5);
  expect_timeout(4);
  expect_timeout(1);
}

static void expect_peer(int64_t connections) {
  tt_boot_server *server = open_narrow(3, connections);
  tt_boot_server_lose(server, 2, "exited with code 7");
  client clients[RANKS], like = {.rank_count = 3, .timeout_ns = 3600 * SECOND, .rounds = 1, .bytes = 8};
  run_job(server, 2, clients, &like);
  for (int r = 0; r < 2; r++) {
    assert_int_equal(clients[r].status, TUTTI_ERR_PEER);
    assert_non_null(strstr(clients[r].text, "rank 2 exited with code 7"));
  }
  tt_boot_server_close(server);
}

static void test_rank_that_ended_is_told_at_once(void **state) {
  (void)state;
  expect_peer(3);
  expect_peer(1);
}

static void test_without_a_launcher_the_job_has_one_rank(void **state) {
  (void)state;
  tt_boot *boot = NULL;
  int64_t mine = 5, all = 0;
  assert_int_equal(tt_boot_open(SECOND, &boot), TUTTI_OK);
  const tutti_boot *own = tt_boot_get(boot);
  assert_int_equal(own->rank_count, 1);
  assert_int_equal(own->allgather(own->user, &mine, &all, sizeof mine, SECOND, NULL, 0), TUTTI_OK);
  assert_int_equal(all, 5);
  tt_boot_close(boot);
}

static void test_wrong_addresses_are_refused(void **state) {
  (void)state;
  tt_boot *boot = NULL;
  assert_int_equal(tt_boot_connect("tcp:1", 0, 2, SECOND, &boot), TUTTI_ERR_ARGUMENT);
  assert_int_equal(tt_boot_connect("unix:@tutti-nobody", 2, 2, SECOND, &boot), TUTTI_ERR_ARGUMENT);
  assert_int_equal(tt_boot_connect("unix:@tutti-nobody", 0, 2, SECOND, &boot), TUTTI_ERR_SYSTEM);
}

/* Where nobody accepts: the first to connect fills the queue. */
static int listen_only(const char *name) {
  struct sockaddr_un address;
  socklen_t size = tt_boot_address(name, &address);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
  assert_int_equal(listen(fd, 0), 0);
  return fd;
}

static void do_nothing(int number) { (void)number; }

static void test_launcher_that_accepts_nobody_is_a_timeout_despite_signals(void **state) {
  (void)state;
  char address[48];
  tt_boot *boot = NULL, *none = NULL;
  snprintf(address, sizeof address, "unix:@tutti-test-%d", (int)getpid());
  int fd = listen_only(address + strlen("unix:@"));
  assert_int_equal(tt_boot_connect(address, 0, 2, SECOND, &boot), TUTTI_OK);
  struct sigaction nothing = {.sa_handler = do_nothing}, before;
  sigaction(SIGALRM, &nothing, &before);
  struct itimerval often = {{0, 20000}, {0, 20000}}, never = {{0, 0}, {0, 0}};
  setitimer(ITIMER_REAL, &often, NULL);
  tutti_status status = tt_boot_connect(address, 1, 2, SECOND - 1, &none);
  setitimer(ITIMER_REAL, &never, NULL);
  sigaction(SIGALRM, &before, NULL);
  assert_int_equal(status, TUTTI_ERR_TIMEOUT);
  assert_int_equal(tt_boot_connect(address, 1, 2, SECOND - 1, &none), TUTTI_ERR_TIMEOUT);
  tt_boot_close(boot);
  close(fd);
}

/* As closefrom does; then a descriptor of the program's has the number of the connection's. */
static void *lose_connection(void *argument) {
  client *own = argument;
  tt_boot *boot = NULL;
  int number = dup(STDIN_FILENO), one = 1, all = 0;
  close(number);
  own->status = tt_boot_connect(own->address, 0, 1, SECOND, &boot);
  if (own->status == TUTTI_OK) {
    const tutti_boot *used = tt_boot_get(boot);
    dup2(STDIN_FILENO, number);
    own->status = used->allgather(used->user, &one, &all, sizeof one, 60 * SECOND, own->missing, sizeof own->missing);
    tt_boot_close(boot);
  }
  own->right = all == 1 && close(number) == 0;
  if (write(own->done, "", 1) != 1)
    abort();
  return NULL;
}

static void test_connection_that_the_program_has_closed_is_opened_again(void **state) {
  (void)state;
  pthread_t thread;
  int done[2];
  tt_boot_server *server = open_server(1);
  assert_int_equal(pipe(done), 0);
  client own = {.address = tt_boot_server_address(server), .done = done[1]};
  pthread_create(&thread, NULL, lose_connection, &own);
  serve_until_done(server, done[0], 1);
  pthread_join(thread, NULL);
  assert_int_equal(own.status, TUTTI_OK);
  assert_true(own.right);
  close(done[0]);
  close(done[1]);
  tt_boot_server_close(server);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_what_a_rank_forks_is_no_rank),
      cmocka_unit_test(test_everyone_gets_everything_in_rank_order),
      cmocka_unit_test(test_ranks_without_a_connection_of_their_own_come_again),
      cmocka_unit_test(test_timeout_names_the_missing_ranks),
      cmocka_unit_test(test_rank_that_ended_is_told_at_once),
      cmocka_unit_test(test_connection_that_the_program_has_closed_is_opened_again),
      cmocka_unit_test(test_without_a_launcher_the_job_has_one_rank),
      cmocka_unit_test(test_wrong_addresses_are_refused),
      cmocka_unit_test(test_launcher_that_accepts_nobody_is_a_timeout_despite_signals),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
