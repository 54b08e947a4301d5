/* boot/rounds.c - the launcher's side of the allgather: collects one contribution of each rank, then answers all.
 *
 * A round is complete when every rank has contributed; it fails when the earliest deadline passes or when a rank has
 * ended that has not contributed. A failed round is told to each rank once, also to those that come later. Closing a
 * connection is no failure: the same rank may come again for its next context.
 *
 * Where there may be fewer connections than ranks, a quarter of them is for coming and going: a rank that has
 * contributed and finds more is told to come again, a little later, until the reply is there. */
#include "boot/rounds.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#define VISIT_LEAST_US 2000 /* after which a rank comes again the first time, each time twice as long */
#define VISIT_US 500        /* and at last as long as leaves so much between the visits of all */

void tt_boot_server_set_timer(tt_boot_server *server) {
  int64_t at_ns = server->waiting > 0 ? server->deadline_ns : 0;
  if (server->retry_ns != 0 && (at_ns == 0 || server->retry_ns < at_ns))
    at_ns = server->retry_ns;
  struct itimerspec when = {.it_value = {.tv_sec = at_ns / 1000000000, .tv_nsec = at_ns % 1000000000}};
  timerfd_settime(server->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

void tt_boot_server_watch(tt_boot_server *server, int fd, void *what, bool write_too) {
  struct epoll_event event = {.events = EPOLLIN | (write_too ? (uint32_t)EPOLLOUT : 0), .data.ptr = what};
  if (epoll_ctl(server->epoll, EPOLL_CTL_MOD, fd, &event) != 0)
    epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event);
}

void tt_boot_server_resume(tt_boot_server *server) {
  server->retry_ns = 0;
  tt_boot_server_watch(server, server->listener, &server->listener, false);
  tt_boot_server_set_timer(server);
}

void tt_boot_server_drop(tt_boot_server *server, tt_boot_connection *connection) {
  for (int64_t r = 0; r < server->rank_count; r++)
    if (server->seat[r].connection == connection) {
      assert(server->seat[r].came && server->waiting > 0);
      server->seat[r].connection = NULL;
      server->seat[r].came = false;
      server->waiting--;
    }
  *(connection->before != NULL ? &connection->before->after : &server->connections) = connection->after;
  if (connection->after != NULL)
    connection->after->before = connection->before;
  tt_boot_connection_destroy(connection);
  assert(server->connection_count > 0);
  server->connection_count--;
  if (server->retry_ns != 0)
    tt_boot_server_resume(server);
}

void tt_boot_server_flush(tt_boot_server *server, tt_boot_connection *connection) {
  bool waits = false;
  if (tt_boot_connection_send(connection, &waits))
    tt_boot_server_watch(server, connection->fd, connection, waits);
  else
    tt_boot_server_drop(server, connection);
}

/* answer: NULL where there is no memory for it */
static void give(tt_boot_server *server, tt_boot_connection *connection, tt_boot_answer *answer) {
  if (answer != NULL && tt_boot_connection_reply(connection, answer))
    tt_boot_server_flush(server, connection);
  else
    tt_boot_server_drop(server, connection);
}

static tt_boot_answer *say(const tt_boot_server *server, tutti_status status) {
  char *text;
  size_t length = strlen(server->text);
  tt_boot_answer *answer = tt_boot_answer_create((uint64_t)status, length, &text);
  if (answer != NULL)
    memcpy(text, server->text, length);
  return answer;
}

static void refuse(tt_boot_server *server, tt_boot_connection *connection, tutti_status status) {
  tt_boot_answer *answer = say(server, status);
  give(server, connection, answer);
  tt_boot_answer_release(answer);
}

/* ---- ranks that come again ---- */

static void say_again(tt_boot_server *server, tt_boot_connection *connection) {
  uint64_t most_us = (uint64_t)server->away * VISIT_US + VISIT_LEAST_US, after_us = VISIT_LEAST_US;
  for (uint32_t n = 0; n < connection->request.again && after_us < most_us; n++)
    after_us *= 2;
  after_us = after_us < most_us ? after_us : most_us;
  char *content;
  tt_boot_answer *answer = tt_boot_answer_create(TT_BOOT_AGAIN, sizeof after_us, &content);
  if (answer != NULL)
    memcpy(content, &after_us, sizeof after_us);
  give(server, connection, answer);
  tt_boot_answer_release(answer);
}

static void send_away(tt_boot_server *server, tt_boot_seat *of) {
  tt_boot_connection *connection = of->connection;
  assert(of->came && of->mine == NULL && of->owed == NULL);
  of->mine = connection->in;
  of->connection = NULL;
  connection->in = NULL;
  server->away++;
  say_again(server, connection);
}

/* answer: NULL where there is none. */
static void owe(tt_boot_server *server, tt_boot_seat *of, tt_boot_answer *answer) {
  assert(server->away > 0 && of->owed == NULL);
  free(of->mine);
  of->mine = NULL;
  server->away--;
  of->owed = answer;
  if (answer != NULL)
    answer->holders++;
}

void tt_boot_round_forget(tt_boot_server *server, tt_boot_seat *of) {
  tt_boot_answer_release(of->owed);
  of->owed = NULL;
  if (of->mine == NULL)
    return;
  owe(server, of, NULL);
  of->came = false;
  server->waiting--;
}

void tt_boot_round_visit(tt_boot_server *server, tt_boot_connection *connection) {
  tt_boot_seat *of = &server->seat[connection->request.rank];
  tt_boot_answer *owed = of->owed;
  if (owed == NULL && of->mine != NULL) {
    say_again(server, connection);
    return;
  }
  of->owed = NULL;
  give(server, connection, owed);
  tt_boot_answer_release(owed);
}

/* ---- rounds ---- */

static void end_seat(tt_boot_server *server, tt_boot_seat *of, bool failed, tt_boot_answer *answer) {
  tt_boot_connection *connection = of->connection;
  assert(of->came == (connection != NULL || of->mine != NULL));
  of->missed = !of->came && failed;
  of->came = false;
  of->connection = NULL;
  if (connection != NULL)
    give(server, connection, answer);
  else if (of->mine != NULL)
    owe(server, of, answer);
}

/* Ends the round: each waiting rank gets the answer, the others are told when they come if it failed. */
static void end_round(tt_boot_server *server, bool failed, tt_boot_answer *answer) {
  for (int64_t r = 0; r < server->rank_count; r++)
    end_seat(server, &server->seat[r], failed, answer);
  tt_boot_answer_release(answer);
  server->waiting = 0;
  tt_boot_server_set_timer(server);
}

void tt_boot_round_fail(tt_boot_server *server, tutti_status status) {
  server->failure = status;
  end_round(server, true, say(server, status));
}

void tt_boot_round_fail_late(tt_boot_server *server) {
  size_t used = 0;
  server->text[0] = '\0';
  for (int64_t r = 0; r < server->rank_count && used + 24 < sizeof server->text; r++)
    if (!server->seat[r].came)
      used += (size_t)snprintf(server->text + used, sizeof server->text - used, "%s%" PRId64, used > 0 ? ", " : "", r);
  tt_boot_round_fail(server, TUTTI_ERR_TIMEOUT);
}

static const char *contribution(const tt_boot_seat *of) {
  assert(of->came);
  return of->connection != NULL ? of->connection->in : of->mine;
}

/* packed: NULL, or room for what it returns. */
static size_t pack_all(const tt_boot_server *server, char *packed) {
  size_t used = 0;
  for (int64_t r = 0; r < server->rank_count; r++) {
    const char *before = r > 0 ? contribution(&server->seat[r - 1]) : NULL;
    used += tt_boot_pack(contribution(&server->seat[r]), before, server->bytes, packed != NULL ? packed + used : NULL);
  }
  return used;
}

static void complete(tt_boot_server *server) {
  char *all;
  size_t size = pack_all(server, NULL);
  tt_boot_answer *answer = tt_boot_answer_create(TUTTI_OK, size, &all);
  if (answer == NULL) {
    snprintf(server->text, sizeof server->text, "no memory in the launcher");
    tt_boot_round_fail(server, TUTTI_ERR_MEMORY);
    return;
  }
  size_t used = pack_all(server, all);
  assert(used == size);
  (void)used;
  end_round(server, false, answer);
}

void tt_boot_round_check(tt_boot_server *server) {
  assert(server->waiting >= 0 && server->waiting <= server->rank_count);
  if (server->waiting == server->rank_count)
    complete(server);
  for (int64_t r = 0; r < server->rank_count && server->waiting > 0; r++)
    if (server->seat[r].lost && !server->seat[r].came) {
      snprintf(server->text, sizeof server->text, "rank %" PRId64 " %s before it joined", r, server->seat[r].how);
      tt_boot_round_fail(server, TUTTI_ERR_PEER);
    }
}

static void describe_foreign(tt_boot_server *server, const tt_boot_request *request) {
  char theirs[TT_BOOT_VERSION_TEXT], ours[TT_BOOT_VERSION_TEXT];
  snprintf(server->text, sizeof server->text, "rank %u has tutti %s, the launcher has %s", request->rank,
           tt_boot_version_text(&request->version, theirs), tt_boot_version_text(tt_boot_version_own(), ours));
}

/* What this rank says ends the round for all. */
static void refuse_for_all(tt_boot_server *server, tt_boot_connection *connection) {
  refuse(server, connection, TUTTI_ERR_MISMATCH);
  tt_boot_round_fail(server, TUTTI_ERR_MISMATCH);
}

void tt_boot_round_contribute(tt_boot_server *server, tt_boot_connection *connection) {
  const tt_boot_request *request = &connection->request;
  uint32_t rank = request->rank;
  assert(rank < server->rank_count);
  tt_boot_seat *own = &server->seat[rank];
  tt_boot_round_forget(server, own);
  if (own->missed) {
    own->missed = false;
    refuse(server, connection, server->failure);
    return;
  }
  if (own->came) {
    snprintf(server->text, sizeof server->text, "rank %u joined twice", rank);
    refuse_for_all(server, connection);
    return;
  }
  if (connection->foreign) {
    describe_foreign(server, request);
    refuse_for_all(server, connection);
    own->missed = false;
    return;
  }
  own->connection = connection;
  own->came = true;
  if (server->waiting++ > 0 && request->bytes != server->bytes) {
    snprintf(server->text, sizeof server->text, "rank %u contributes another number of bytes than the others", rank);
    tt_boot_round_fail(server, TUTTI_ERR_MISMATCH);
    return;
  }
  int64_t deadline_ns = tt_clock_until(request->timeout_ns);
  if (server->waiting == 1 || deadline_ns < server->deadline_ns) {
    server->deadline_ns = deadline_ns;
    tt_boot_server_set_timer(server);
  }
  server->bytes = request->bytes;
  tt_boot_round_check(server);
  if (own->connection == connection && server->connection_count > server->connection_most / 4 * 3)
    send_away(server, own);
}
