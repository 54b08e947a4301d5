/* boot/server.c - the launcher's side of the allgather: collects one contribution of each rank, then answers all.
 *
 * A round is complete when every rank has contributed; it fails when the earliest deadline passes or when a rank has
 * ended that has not contributed. A failed round is told to each rank once, also to those that come later. Closing a
 * connection is no failure: the same rank may come again for its next context.
 *
 * Where there may be fewer connections than ranks, a quarter of them is for coming and going: a rank that has
 * contributed and finds more is told to come again, a little later, until the reply is there. */
#include "boot/server.h"
#include "boot/boot.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define RETRY_NS 100000000
#define VISIT_LEAST_US 2000 /* after which a rank comes again the first time, each time twice as long */
#define VISIT_US 500        /* and at last as long as leaves so much between the visits of all */

typedef struct seat {
  bool came;            /* has contributed to this round */
  tt_boot_link *link;   /* where the rank waits for the reply; NULL: it does not, or is to come again */
  char *mine;           /* what it has contributed, if it is to come again */
  tt_boot_answer *owed; /* the reply, when it does */
  bool missed;          /* a round failed before it came to it */
  bool lost;
  char how[64];
} seat;

struct tt_boot_server {
  int64_t rank_count;
  int epoll, listener, timer;
  char address[TT_BOOT_NAME];
  tt_boot_link *links;
  int64_t link_count, link_most; /* most: INT64_MAX where each rank can have one */
  int64_t away;                  /* ranks that were told to come again, and have no reply */
  int64_t waiting;               /* ranks that have contributed to this round */
  int64_t deadline_ns;           /* of this round */
  int64_t retry_ns;              /* there was no room for a connection: when to look again; 0: there was */
  uint64_t bytes;                /* of a contribution in this round */
  tutti_status failure;          /* of the last round that failed */
  char text[256];
  seat seat[];
};

static void set_timer(tt_boot_server *server) {
  int64_t at_ns = server->waiting > 0 ? server->deadline_ns : 0;
  if (server->retry_ns != 0 && (at_ns == 0 || server->retry_ns < at_ns))
    at_ns = server->retry_ns;
  struct itimerspec when = {.it_value = {.tv_sec = at_ns / 1000000000, .tv_nsec = at_ns % 1000000000}};
  timerfd_settime(server->timer, TFD_TIMER_ABSTIME, &when, NULL);
}

static void watch(tt_boot_server *server, int fd, void *what, bool write_too) {
  struct epoll_event event = {.events = EPOLLIN | (write_too ? (uint32_t)EPOLLOUT : 0), .data.ptr = what};
  if (epoll_ctl(server->epoll, EPOLL_CTL_MOD, fd, &event) != 0)
    epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event);
}

/* The listener has rested for want of room. */
static void resume_listener(tt_boot_server *server) {
  server->retry_ns = 0;
  watch(server, server->listener, &server->listener, false);
  set_timer(server);
}

static void drop(tt_boot_server *server, tt_boot_link *link) {
  for (int64_t r = 0; r < server->rank_count; r++)
    if (server->seat[r].link == link) {
      server->seat[r].link = NULL;
      server->seat[r].came = false;
      server->waiting--;
    }
  *(link->before != NULL ? &link->before->after : &server->links) = link->after;
  if (link->after != NULL)
    link->after->before = link->before;
  tt_boot_link_destroy(link);
  server->link_count--;
  if (server->retry_ns != 0)
    resume_listener(server);
}

static void flush(tt_boot_server *server, tt_boot_link *link) {
  bool waits = false;
  if (tt_boot_link_send(link, &waits))
    watch(server, link->fd, link, waits);
  else
    drop(server, link);
}

/* answer: NULL where there is no memory for it */
static void give(tt_boot_server *server, tt_boot_link *link, tt_boot_answer *answer) {
  if (answer != NULL && tt_boot_link_reply(link, answer))
    flush(server, link);
  else
    drop(server, link);
}

static tt_boot_answer *say(const tt_boot_server *server, tutti_status status) {
  char *text;
  size_t length = strlen(server->text);
  tt_boot_answer *answer = tt_boot_answer_create((uint64_t)status, length, &text);
  if (answer != NULL)
    memcpy(text, server->text, length);
  return answer;
}

static void refuse(tt_boot_server *server, tt_boot_link *link, tutti_status status) {
  tt_boot_answer *answer = say(server, status);
  give(server, link, answer);
  tt_boot_answer_release(answer);
}

/* ---- ranks that come again ---- */

static void say_again(tt_boot_server *server, tt_boot_link *link) {
  uint64_t most_us = (uint64_t)server->away * VISIT_US + VISIT_LEAST_US, after_us = VISIT_LEAST_US;
  for (uint32_t n = 0; n < link->request.again && after_us < most_us; n++)
    after_us *= 2;
  after_us = after_us < most_us ? after_us : most_us;
  char *content;
  tt_boot_answer *answer = tt_boot_answer_create(TT_BOOT_AGAIN, sizeof after_us, &content);
  if (answer != NULL)
    memcpy(content, &after_us, sizeof after_us);
  give(server, link, answer);
  tt_boot_answer_release(answer);
}

static void send_away(tt_boot_server *server, seat *of) {
  tt_boot_link *link = of->link;
  of->mine = link->in;
  of->link = NULL;
  link->in = NULL;
  server->away++;
  say_again(server, link);
}

/* answer: NULL where there is none. */
static void owe(tt_boot_server *server, seat *of, tt_boot_answer *answer) {
  free(of->mine);
  of->mine = NULL;
  server->away--;
  of->owed = answer;
  if (answer != NULL)
    answer->holders++;
}

/* The rank will not come for the reply: it has ended, or given up. */
static void forget_visit(tt_boot_server *server, seat *of) {
  tt_boot_answer_release(of->owed);
  of->owed = NULL;
  if (of->mine == NULL)
    return;
  owe(server, of, NULL);
  of->came = false;
  server->waiting--;
}

static void visit(tt_boot_server *server, tt_boot_link *link) {
  seat *of = &server->seat[link->request.rank];
  tt_boot_answer *owed = of->owed;
  if (owed == NULL && of->mine != NULL) {
    say_again(server, link);
    return;
  }
  of->owed = NULL;
  give(server, link, owed);
  tt_boot_answer_release(owed);
}

/* ---- rounds ---- */

static void end_seat(tt_boot_server *server, seat *of, bool failed, tt_boot_answer *answer) {
  tt_boot_link *link = of->link;
  of->missed = !of->came && failed;
  of->came = false;
  of->link = NULL;
  if (link != NULL)
    give(server, link, answer);
  else if (of->mine != NULL)
    owe(server, of, answer);
}

/* Ends the round: each waiting rank gets the answer, the others are told when they come if it failed. */
static void end_round(tt_boot_server *server, bool failed, tt_boot_answer *answer) {
  for (int64_t r = 0; r < server->rank_count; r++)
    end_seat(server, &server->seat[r], failed, answer);
  tt_boot_answer_release(answer);
  server->waiting = 0;
  set_timer(server);
}

static void fail_round(tt_boot_server *server, tutti_status status) {
  server->failure = status;
  end_round(server, true, say(server, status));
}

static void fail_late(tt_boot_server *server) {
  size_t used = 0;
  server->text[0] = '\0';
  for (int64_t r = 0; r < server->rank_count && used + 24 < sizeof server->text; r++)
    if (!server->seat[r].came)
      used += (size_t)snprintf(server->text + used, sizeof server->text - used, "%s%lld", used > 0 ? ", " : "",
                               (long long)r);
  fail_round(server, TUTTI_ERR_TIMEOUT);
}

static const char *contribution(const seat *of) { return of->link != NULL ? of->link->in : of->mine; }

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
  tt_boot_answer *answer = tt_boot_answer_create(TUTTI_OK, pack_all(server, NULL), &all);
  if (answer == NULL) {
    snprintf(server->text, sizeof server->text, "no memory in the launcher");
    fail_round(server, TUTTI_ERR_MEMORY);
    return;
  }
  pack_all(server, all);
  end_round(server, false, answer);
}

/* Ends the round if it can be complete no more, or is. */
static void check_round(tt_boot_server *server) {
  if (server->waiting == server->rank_count)
    complete(server);
  for (int64_t r = 0; r < server->rank_count && server->waiting > 0; r++)
    if (server->seat[r].lost && !server->seat[r].came) {
      snprintf(server->text, sizeof server->text, "rank %lld %s before it joined", (long long)r, server->seat[r].how);
      fail_round(server, TUTTI_ERR_PEER);
    }
}

static void describe_foreign(tt_boot_server *server, const tt_boot_request *request) {
  char theirs[TT_BOOT_VERSION_TEXT], ours[TT_BOOT_VERSION_TEXT];
  snprintf(server->text, sizeof server->text, "rank %u has tutti %s, the launcher has %s", request->rank,
           tt_boot_version_text(&request->version, theirs), tt_boot_version_text(tt_boot_version_own(), ours));
}

static void contribute(tt_boot_server *server, tt_boot_link *link) {
  const tt_boot_request *request = &link->request;
  uint32_t rank = request->rank;
  seat *own = &server->seat[rank];
  forget_visit(server, own);
  if (own->missed) {
    own->missed = false;
    refuse(server, link, server->failure);
    return;
  }
  if (own->came) {
    snprintf(server->text, sizeof server->text, "rank %u has joined twice", rank);
    refuse(server, link, TUTTI_ERR_MISMATCH);
    fail_round(server, TUTTI_ERR_MISMATCH);
    return;
  }
  if (link->foreign) {
    describe_foreign(server, request);
    refuse(server, link, TUTTI_ERR_MISMATCH);
    fail_round(server, TUTTI_ERR_MISMATCH);
    own->missed = false;
    return;
  }
  own->link = link;
  own->came = true;
  if (server->waiting++ > 0 && request->bytes != server->bytes) {
    snprintf(server->text, sizeof server->text, "rank %u contributes another number of bytes than the others", rank);
    fail_round(server, TUTTI_ERR_MISMATCH);
    return;
  }
  int64_t deadline_ns = tt_clock_until(request->timeout_ns);
  if (server->waiting == 1 || deadline_ns < server->deadline_ns) {
    server->deadline_ns = deadline_ns;
    set_timer(server);
  }
  server->bytes = request->bytes;
  check_round(server);
  if (own->link == link && server->link_count > server->link_most / 4 * 3)
    send_away(server, own);
}

/* Whoever wants to connect waits in the queue until others have gone. */
static void rest_listener(tt_boot_server *server) {
  epoll_ctl(server->epoll, EPOLL_CTL_DEL, server->listener, NULL);
  server->retry_ns = tt_clock_ns() + RETRY_NS;
  set_timer(server);
}

/* Those who wait for more than can come are told why. */
static void fail_crowded(tt_boot_server *server, int error) {
  rest_listener(server);
  if (server->waiting == 0)
    return;
  snprintf(server->text, sizeof server->text, "the launcher has no room for more ranks: %s%s", strerror(error),
           error == EMFILE ? " (ulimit -n)" : "");
  fail_round(server, TUTTI_ERR_SYSTEM);
}

static void accept_link(tt_boot_server *server) {
  if (server->link_count == server->link_most) {
    rest_listener(server);
    return;
  }
  int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
    fail_crowded(server, errno);
  if (fd < 0)
    return;
  tt_boot_link *link = tt_boot_same_user(fd) ? tt_boot_link_create(fd) : NULL;
  if (link == NULL) {
    close(fd);
    return;
  }
  link->after = server->links;
  if (link->after != NULL)
    link->after->before = link;
  server->links = link;
  server->link_count++;
  watch(server, fd, link, false);
}

static void serve_link(tt_boot_server *server, tt_boot_link *link, uint32_t events) {
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
    tt_boot_event event = tt_boot_link_receive(link, server->rank_count);
    if (event == TT_BOOT_CLOSED)
      drop(server, link);
    else if (event == TT_BOOT_REQUEST && !link->foreign && link->request.again)
      visit(server, link);
    else if (event == TT_BOOT_REQUEST)
      contribute(server, link);
  } else if (events & EPOLLOUT) {
    flush(server, link);
  }
}

static void serve_timer(tt_boot_server *server) {
  uint64_t expired;
  if (read(server->timer, &expired, sizeof expired) < 0)
    return;
  int64_t now_ns = tt_clock_ns();
  if (server->retry_ns != 0 && now_ns >= server->retry_ns)
    resume_listener(server);
  if (server->waiting > 0 && now_ns >= server->deadline_ns)
    fail_late(server);
  set_timer(server);
}

void tt_boot_server_serve(tt_boot_server *server) {
  struct epoll_event event; /* one at a time: serving one may drop another */
  while (epoll_wait(server->epoll, &event, 1, 0) == 1)
    if (event.data.ptr == &server->listener)
      accept_link(server);
    else if (event.data.ptr == &server->timer)
      serve_timer(server);
    else
      serve_link(server, event.data.ptr, event.events);
}

void tt_boot_server_lose(tt_boot_server *server, int64_t rank, const char *how) {
  seat *of = &server->seat[rank];
  tt_boot_server_serve(server); /* what it had sent before it ended counts */
  of->lost = true;
  snprintf(of->how, sizeof of->how, "%s", how);
  forget_visit(server, of);
  check_round(server);
}

static tutti_status fail_call(const char *call) {
  return tt_fail(TUTTI_ERR_SYSTEM, "%s for the launcher's server failed: %s", call, strerror(errno));
}

static tutti_status open_listener(tt_boot_server *server) {
  uint64_t number[2];
  struct sockaddr_un address;
  if (getrandom(number, sizeof number, 0) != (ssize_t)sizeof number)
    return fail_call("getrandom");
  snprintf(server->address, sizeof server->address, "unix:@tutti-%016llx%016llx", (unsigned long long)number[0],
           (unsigned long long)number[1]);
  server->listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (server->listener < 0)
    return fail_call("socket");
  socklen_t size = tt_boot_address(server->address + strlen("unix:@"), &address);
  if (bind(server->listener, (struct sockaddr *)&address, size) != 0 || listen(server->listener, 4096) != 0)
    return fail_call("bind or listen");
  return TUTTI_OK;
}

static tutti_status open_all(tt_boot_server *server) {
  server->epoll = epoll_create1(EPOLL_CLOEXEC);
  server->timer = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  if (server->epoll < 0 || server->timer < 0)
    return fail_call("epoll_create1 or timerfd_create");
  tutti_status status = open_listener(server);
  if (status != TUTTI_OK)
    return status;
  watch(server, server->listener, &server->listener, false);
  watch(server, server->timer, &server->timer, false);
  return TUTTI_OK;
}

tutti_status tt_boot_server_open(int64_t rank_count, int64_t links, tt_boot_server **server) {
  tt_boot_server *made = calloc(1, sizeof *made + (size_t)rank_count * sizeof made->seat[0]);
  if (made == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the server of %lld ranks", (long long)rank_count);
  made->rank_count = rank_count;
  made->link_most = links < rank_count ? links : INT64_MAX;
  made->epoll = made->listener = made->timer = -1;
  tutti_status status = open_all(made);
  if (status == TUTTI_OK)
    *server = made;
  else
    tt_boot_server_close(made);
  return status;
}

const char *tt_boot_server_address(const tt_boot_server *server) { return server->address; }
int tt_boot_server_fd(const tt_boot_server *server) { return server->epoll; }

void tt_boot_server_close(tt_boot_server *server) {
  if (server == NULL)
    return;
  while (server->links != NULL)
    drop(server, server->links);
  for (int64_t r = 0; r < server->rank_count; r++) {
    free(server->seat[r].mine);
    tt_boot_answer_release(server->seat[r].owed);
  }
  int fds[] = {server->epoll, server->listener, server->timer};
  for (size_t f = 0; f < TT_COUNT(fds); f++)
    if (fds[f] >= 0)
      close(fds[f]);
  free(server);
}
