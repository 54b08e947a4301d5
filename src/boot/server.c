/* boot/server.c - the launcher's server: opened, called when something has come, closed. What ranks contribute, and
 * when all are answered, is rounds.c's. */
#include "boot/rounds.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define RETRY_NS 100000000

/* Whoever wants to connect waits in the queue until others have gone. */
static void rest_listener(tt_boot_server *server) {
  epoll_ctl(server->epoll, EPOLL_CTL_DEL, server->listener, NULL);
  server->retry_ns = tt_clock_ns() + RETRY_NS;
  tt_boot_server_set_timer(server);
}

/* Those who wait for more than can come are told why. */
static void fail_crowded(tt_boot_server *server, int error) {
  rest_listener(server);
  if (server->waiting == 0)
    return;
  snprintf(server->text, sizeof server->text, "the launcher cannot take more ranks: %s%s", strerror(error),
           error == EMFILE ? " (ulimit -n)" : "");
  tt_boot_round_fail(server, TUTTI_ERR_SYSTEM);
}

static void accept_connection(tt_boot_server *server) {
  assert(server->connection_count <= server->connection_most);
  if (server->connection_count == server->connection_most) {
    rest_listener(server);
    return;
  }
  int fd = accept4(server->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
  if (fd < 0 && errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
    fail_crowded(server, errno);
  if (fd < 0)
    return;
  tt_boot_connection *connection = tt_boot_same_user(fd) ? tt_boot_connection_create(fd) : NULL;
  if (connection == NULL) {
    close(fd);
    return;
  }
  connection->after = server->connections;
  if (connection->after != NULL)
    connection->after->before = connection;
  server->connections = connection;
  server->connection_count++;
  tt_boot_server_watch(server, fd, connection, false);
}

static void serve_connection(tt_boot_server *server, tt_boot_connection *connection, uint32_t events) {
  if (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) {
    tt_boot_event event = tt_boot_connection_receive(connection, server->rank_count);
    if (event == TT_BOOT_CLOSED)
      tt_boot_server_drop(server, connection);
    else if (event == TT_BOOT_REQUEST && !connection->foreign && connection->request.again)
      tt_boot_round_visit(server, connection);
    else if (event == TT_BOOT_REQUEST)
      tt_boot_round_contribute(server, connection);
  } else if (events & EPOLLOUT) {
    tt_boot_server_flush(server, connection);
  }
}

static void serve_timer(tt_boot_server *server) {
  uint64_t expired;
  if (read(server->timer, &expired, sizeof expired) < 0)
    return;
  int64_t now_ns = tt_clock_ns();
  if (server->retry_ns != 0 && now_ns >= server->retry_ns)
    tt_boot_server_resume(server);
  if (server->waiting > 0 && now_ns >= server->deadline_ns)
    tt_boot_round_fail_late(server);
  tt_boot_server_set_timer(server);
}

void tt_boot_server_serve(tt_boot_server *server) {
  struct epoll_event event; /* one at a time: serving one may drop another */
  while (epoll_wait(server->epoll, &event, 1, 0) == 1)
    if (event.data.ptr == &server->listener)
      accept_connection(server);
    else if (event.data.ptr == &server->timer)
      serve_timer(server);
    else
      serve_connection(server, event.data.ptr, event.events);
}

void tt_boot_server_lose(tt_boot_server *server, int64_t rank, const char *how) {
  assert(rank >= 0 && rank < server->rank_count);
  tt_boot_seat *of = &server->seat[rank];
  tt_boot_server_serve(server); /* what it had sent before it ended counts */
  of->lost = true;
  snprintf(of->how, sizeof of->how, "%s", how);
  tt_boot_round_forget(server, of);
  tt_boot_round_check(server);
}

static tutti_status fail_call(const char *call) {
  return tt_fail(TUTTI_ERR_SYSTEM, "%s for the launcher's server failed: %s", call, strerror(errno));
}

static tutti_status open_listener(tt_boot_server *server) {
  uint64_t number[2];
  struct sockaddr_un address;
  if (getrandom(number, sizeof number, 0) != (ssize_t)sizeof number)
    return fail_call("getrandom");
  snprintf(server->address, sizeof server->address, "unix:@tutti-%016" PRIx64 "%016" PRIx64, number[0], number[1]);
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
  tt_boot_server_watch(server, server->listener, &server->listener, false);
  tt_boot_server_watch(server, server->timer, &server->timer, false);
  return TUTTI_OK;
}

tutti_status tt_boot_server_open(int64_t rank_count, int64_t connections, tt_boot_server **server) {
  assert(rank_count > 0);
  tt_boot_server *made = calloc(1, sizeof *made + (size_t)rank_count * sizeof made->seat[0]);
  if (made == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the server of %" PRId64 " ranks", rank_count);
  made->rank_count = rank_count;
  made->connection_most = connections < rank_count ? connections : INT64_MAX;
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
  while (server->connections != NULL)
    tt_boot_server_drop(server, server->connections);
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
