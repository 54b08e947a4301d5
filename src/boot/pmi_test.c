/* PMI-1 and PMI-2 with a server of the test's own over socketpairs: what it should say, and odd things instead. */
#include "boot/testing.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND ((int64_t)1000000000)

/* ---- a rank ---- */

typedef struct client {
  int fd;
  int version, rank, rank_count, rounds;
  size_t bytes;
  int64_t start_ns, timeout_ns;      /* for the start, for an allgather */
  tutti_status status, again_status; /* of the first call that failed; of the one after it */
  int spoken;                        /* version */
  bool started, right, broken;
  char text[400], again[400];
} client;

static unsigned char content(int rank, int round, size_t at) {
  return (unsigned char)(at * 7 + (size_t)(rank + round));
}

static bool check_all(const client *own, const unsigned char *all, int round) {
  for (int r = 0; r < own->rank_count; r++)
    for (size_t b = 0; b < own->bytes; b++)
      if (all[(size_t)r * own->bytes + b] != content(r, round, b))
        return false;
  return true;
}

static void run_rounds(client *own, tt_pmi *pmi) {
  unsigned char *mine = malloc(own->bytes + 1), *all = malloc(own->bytes * (size_t)own->rank_count + 1);
  for (int round = 0; round < own->rounds && own->status == TUTTI_OK; round++) {
    for (size_t b = 0; b < own->bytes; b++)
      mine[b] = content(own->rank, round, b);
    own->status = tt_pmi_allgather(pmi, mine, all, own->bytes, own->timeout_ns);
    own->right = own->right && own->status == TUTTI_OK && check_all(own, all, round);
  }
  free(mine);
  free(all);
}

static void *run_client(void *argument) {
  client *own = argument;
  tt_pmi pmi;
  char byte = 'x', all[RANKS];
  own->right = true;
  own->status = tt_pmi_start(&pmi, own->fd, own->version, own->rank, own->rank_count, own->start_ns);
  own->started = own->status == TUTTI_OK;
  if (own->started)
    run_rounds(own, &pmi);
  snprintf(own->text, sizeof own->text, "%s", tutti_last_error());
  own->spoken = pmi.dialect ? pmi.dialect->version : 0;
  own->broken = pmi.broken != TUTTI_OK;
  if (own->broken && own->started) {
    own->again_status = tt_pmi_allgather(&pmi, &byte, all, 1, own->timeout_ns);
    snprintf(own->again, sizeof own->again, "%s", tutti_last_error());
  } else if (own->status == TUTTI_OK) {
    pmi.dialect->finish(&pmi, tt_clock_ns() + own->timeout_ns);
    own->broken = pmi.broken != TUTTI_OK;
  }
  return NULL;
}

/* Runs all ranks, each like `like`, with that server; the results are in `clients`. */
static void run_job(fake *server, const client *like, client clients[static RANKS]) {
  pthread_t serving[RANKS], asking[RANKS];
  seat seats[RANKS];
  server->rank_count = like->rank_count;
  for (int r = 0; r < like->rank_count; r++) {
    int pair[2];
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    server->fd[r] = pair[0];
    clients[r] = *like;
    clients[r].fd = pair[1];
    clients[r].rank = r;
    seats[r] = (seat){server, r};
    pthread_create(&serving[r], NULL, run_server, &seats[r]);
  }
  for (int r = 0; r < like->rank_count; r++)
    pthread_create(&asking[r], NULL, run_client, &clients[r]);
  for (int r = 0; r < like->rank_count; r++)
    pthread_join(asking[r], NULL);
  for (int r = 0; r < like->rank_count; r++)
    shutdown(clients[r].fd, SHUT_RDWR);
  for (int r = 0; r < like->rank_count; r++) {
    pthread_join(serving[r], NULL);
    close(server->fd[r]);
    close(clients[r].fd);
  }
}

/* ---- as it should be ---- */

static void test_everyone_gets_everything(void **state) {
  (void)state;
  static const struct {
    size_t bytes;
    int value_max;
  } sizes[] = {{0, 1024}, {1, 1024}, {2, 1024}, {3, 1024}, {300, 1024}, {5000, 1024}, {64, 17}, {500, 100000}};
  for (int version = 1; version <= 2; version++)
    for (size_t s = 0; s < TT_COUNT(sizes); s++) {
      fake server = {.value_max = sizes[s].value_max, .in_bytes = s % 2 == 0, .odd_at = -1};
      client clients[RANKS], like = {.version = version, .rank_count = RANKS, .rounds = 2, .bytes = sizes[s].bytes};
      like.start_ns = like.timeout_ns = 60 * SECOND;
      run_job(&server, &like, clients);
      for (int r = 0; r < RANKS; r++) {
        assert_string_equal(clients[r].status == TUTTI_OK ? "" : clients[r].text, "");
        assert_true(clients[r].right && !clients[r].broken);
        assert_int_equal(clients[r].spoken, version);
      }
    }
}

static void test_version_that_the_server_speaks_is_found(void **state) {
  (void)state;
  for (int asked = 1; asked <= 2; asked++)
    for (int spoken = 1; spoken <= 3; spoken++) {
      fake server = {.version = spoken, .value_max = 1024, .odd_at = -1};
      client clients[RANKS], like = {.version = asked, .rank_count = 1, .rounds = 1, .bytes = 8};
      like.start_ns = like.timeout_ns = 60 * SECOND;
      run_job(&server, &like, clients);
      assert_int_equal(clients[0].status, spoken <= 2 ? TUTTI_OK : TUTTI_ERR_SYSTEM);
      assert_int_equal(clients[0].spoken, spoken <= 2 ? spoken : 0);
    }
}

/* ---- as it may be ---- */

/* The requests of a rank that is alone, for one allgather. */
enum { INIT, LIMITS, NAME, PUT, FENCE, GET };

typedef struct oddity {
  int version;
  int at;
  const char *bytes;
  size_t size;
  tutti_status status;
  const char *text;
} oddity;

static char flood[5000]; /* a line without an end */
#define SAYS(text) text, sizeof(text) - 1
#define CLOSES NULL, 0
#define NOTHING silence, 0
#define HUNDRED "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"
#define THOUSAND HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED

static const oddity oddities[] = {
    {1, INIT, CLOSES, TUTTI_ERR_PEER, "closed the connection"},
    {1, INIT, NOTHING, TUTTI_ERR_TIMEOUT, "does not answer"},
    {1, INIT, SAYS("hello\n"), TUTTI_ERR_SYSTEM, "sent 'hello' instead of response_to_init"},
    {1, INIT, SAYS("\n"), TUTTI_ERR_SYSTEM, "sent '' instead of response_to_init"},
    {1, INIT, SAYS("cmd=response\0to_init\n"), TUTTI_ERR_SYSTEM, "sends no PMI: 'cmd=response?to_init?'"},
    {1, INIT, SAYS("\1\2\3\xff\n"), TUTTI_ERR_SYSTEM,
     "sent '???"
     "?' instead"},
    {1, INIT, flood, sizeof flood, TUTTI_ERR_SYSTEM, "sends no PMI"},
    {1, INIT, SAYS("cmd=response_to_init pmi_version=1"), TUTTI_ERR_TIMEOUT, "does not answer"},
    {1, LIMITS, SAYS("cmd=maxes\n"), TUTTI_ERR_SYSTEM, "allows values of 0 characters"},
    {1, LIMITS, SAYS("cmd=maxes vallen_max=-5\n"), TUTTI_ERR_SYSTEM, "allows values of 0 characters"},
    {1, LIMITS, SAYS("cmd=maxes vallen_max=4\n"), TUTTI_ERR_SYSTEM, "allows values of 3 characters"},
    {1, NAME, SAYS("cmd=my_kvsname rc=-1\n"), TUTTI_ERR_SYSTEM, "no kvsname"},
    {1, NAME, SAYS("cmd=my_kvsname kvsname=" THOUSAND "\n"), TUTTI_ERR_SYSTEM, "no kvsname"},
    {1, NAME, SAYS("cmd=my_kvsname kvsname=a\ncmd=b\n"), TUTTI_ERR_SYSTEM, "sent an answer without a request"},
    {1, PUT, SAYS("cmd=put_result rc=-1 msg=key_exists\n"), TUTTI_ERR_SYSTEM,
     "refused a request: 'cmd=put_result rc=-1"},
    {1, PUT, SAYS("cmd=put_result\n"), TUTTI_ERR_SYSTEM, "refused a request"},
    {1, FENCE, NOTHING, TUTTI_ERR_TIMEOUT, "a rank did not reach"},
    {1, FENCE, CLOSES, TUTTI_ERR_PEER, "closed the connection"},
    {1, FENCE, SAYS("cmd=barr"), TUTTI_ERR_TIMEOUT, "a rank did not reach"},
    {1, GET, SAYS("cmd=get_result rc=-1\n"), TUTTI_ERR_PEER, "rank 0 has put nothing"},
    {1, GET, SAYS("cmd=get_result rc=0\n"), TUTTI_ERR_MISMATCH, "rank 0 contributes something other"},
    {1, GET, SAYS("cmd=get_result rc=0 value=AAAA\n"), TUTTI_ERR_MISMATCH,
     "rank 0 contributes something other than 8 bytes"},
    {1, GET, SAYS("cmd=get_result rc=0 value=AAAAAAAA!AA\n"), TUTTI_ERR_MISMATCH, "rank 0 contributes something other"},
    {1, GET, SAYS("cmd=get_result rc=0 value=" THOUSAND THOUSAND "\n"), TUTTI_ERR_MISMATCH,
     "rank 0 contributes something other"},
    {2, LIMITS, SAYS("abcdefcmd=fullinit-response;rc=0;"), TUTTI_ERR_SYSTEM, "sends no PMI: 'abcdef"},
    {2, LIMITS, SAYS("-00030cmd=fullinit-response;rc=0;"), TUTTI_ERR_SYSTEM, "sends no PMI: '-00030"},
    {2, LIMITS, SAYS("12 345cmd=fullinit-response;rc=0;"), TUTTI_ERR_SYSTEM, "sends no PMI"},
    {2, LIMITS, SAYS("      cmd=fullinit-response;rc=0;"), TUTTI_ERR_SYSTEM, "sends no PMI"},
    {2, LIMITS, SAYS("999999cmd=fullinit-response;rc=0;"), TUTTI_ERR_SYSTEM, "sends no PMI"},
    {2, LIMITS, SAYS("000000"), TUTTI_ERR_SYSTEM, "sent '' instead of fullinit-response"},
    {2, LIMITS, SAYS("000099cmd=fullinit-response;rc=0;"), TUTTI_ERR_TIMEOUT, "does not answer"},
    {2, LIMITS, SAYS("    27cmd=fullinit-response;rc=3;"), TUTTI_ERR_SYSTEM,
     "refused a request: 'cmd=fullinit-response;rc=3;'"},
    {2, LIMITS, CLOSES, TUTTI_ERR_PEER, "closed the connection"},
    {2, NAME, SAYS("    28cmd=job-getid-response;rc=0;"), TUTTI_ERR_SYSTEM, "no jobid"},
    {2, PUT, SAYS("    26cmd=kvs-put-response;rc=1;"), TUTTI_ERR_SYSTEM, "refused a request"},
    {2, FENCE, NOTHING, TUTTI_ERR_TIMEOUT, "a rank did not reach"},
    {2, FENCE, SAYS("    28cmd=kvs-fence-response;rc=9;"), TUTTI_ERR_SYSTEM,
     "refused a request: 'cmd=kvs-fence-response;rc=9;'"},
    {2, GET, SAYS("    38cmd=kvs-get-response;rc=0;found=FALSE;"), TUTTI_ERR_PEER, "rank 0 has put nothing"},
    {2, GET, SAYS("    26cmd=kvs-get-response;rc=0;"), TUTTI_ERR_PEER, "rank 0 has put nothing"},
    {2, GET, SAYS("    48cmd=kvs-get-response;rc=0;found=TRUE;value=AAAA;"), TUTTI_ERR_MISMATCH, "rank 0 contributes"},
};

/* What is late counts from the beginning of its call: nothing else is in that call. */
static void check_oddity(const oddity *row) {
  bool late = row->status == TUTTI_ERR_TIMEOUT, late_start = late && row->at < PUT;
  fake server = {
      .value_max = 1024, .odd_at = row->at - late * (row->at > PUT), .odd = row->bytes, .odd_bytes = row->size};
  client clients[RANKS], like = {.version = row->version, .rank_count = 1, .rounds = 1, .bytes = late ? 0 : 8};
  like.start_ns = late_start ? SECOND / 50 : 60 * SECOND;
  like.timeout_ns = late ? SECOND / 50 : 60 * SECOND;
  run_job(&server, &like, clients);
  if (clients[0].status != row->status || strstr(clients[0].text, row->text) == NULL)
    fail_msg("PMI-%d, request %d: '%s' (%s) instead of '%s'", row->version, row->at, clients[0].text,
             tutti_status_name(clients[0].status), row->text);
  if (clients[0].again[0] != '\0')
    assert_true(clients[0].again_status == row->status && strstr(clients[0].again, "an earlier request"));
}

static void test_odd_servers_are_told_of(void **state) {
  (void)state;
  memset(flood, 'x', sizeof flood);
  for (size_t o = 0; o < TT_COUNT(oddities); o++)
    check_oddity(&oddities[o]);
}

static void test_rank_that_does_not_come_is_waited_for_in_vain(void **state) {
  (void)state;
  for (int version = 1; version <= 2; version++) {
    fake server = {.value_max = 1024, .odd_at = 4, .odd = silence}; /* the server never hears of rank 0's fence */
    client clients[RANKS], like = {.version = version, .rank_count = RANKS, .rounds = 1, .bytes = 8};
    like.start_ns = 60 * SECOND;
    like.timeout_ns = SECOND / 20;
    run_job(&server, &like, clients);
    for (int r = 0; r < RANKS; r++)
      assert_true(clients[r].status == TUTTI_ERR_TIMEOUT && clients[r].broken);
  }
}

static void test_descriptor_that_is_another_one_now_is_left_alone(void **state) {
  (void)state;
  int pair[2], other[2];
  char byte = 'x', all[1];
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
  assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, other), 0);
  fake server = {.value_max = 1024, .odd_at = -1, .rank_count = 1, .fd = {pair[0]}};
  seat own = {&server, 0};
  pthread_t serving;
  tt_pmi pmi;
  pthread_create(&serving, NULL, run_server, &own);
  assert_int_equal(tt_pmi_start(&pmi, pair[1], 1, 0, 1, 60 * SECOND), TUTTI_OK);
  assert_int_equal(dup2(other[1], pair[1]), pair[1]); /* as if closed, and opened for something else */
  assert_int_equal(tt_pmi_allgather(&pmi, &byte, all, 1, SECOND), TUTTI_ERR_SYSTEM);
  assert_non_null(strstr(tutti_last_error(), "is no longer connected"));
  assert_int_equal(recv(other[0], all, 1, MSG_DONTWAIT), -1);
  pthread_join(serving, NULL);
  int fds[] = {pair[0], pair[1], other[0], other[1]};
  for (size_t f = 0; f < TT_COUNT(fds); f++)
    close(fds[f]);
}

static void test_descriptors_that_are_no_sockets_are_refused(void **state) {
  (void)state;
  tt_pmi pmi;
  int ends[2];
  assert_int_equal(pipe(ends), 0);
  assert_int_equal(tt_pmi_start(&pmi, ends[1], 1, 0, 1, SECOND), TUTTI_ERR_SYSTEM);
  assert_non_null(strstr(tutti_last_error(), "not a socket"));
  close(ends[0]);
  close(ends[1]);
  assert_int_equal(tt_pmi_start(&pmi, ends[1], 1, 0, 1, SECOND), TUTTI_ERR_SYSTEM);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_everyone_gets_everything),
      cmocka_unit_test(test_version_that_the_server_speaks_is_found),
      cmocka_unit_test(test_odd_servers_are_told_of),
      cmocka_unit_test(test_rank_that_does_not_come_is_waited_for_in_vain),
      cmocka_unit_test(test_descriptor_that_is_another_one_now_is_left_alone),
      cmocka_unit_test(test_descriptors_that_are_no_sockets_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
