/* transport/shm/pass.c - a descriptor from one rank to others: an abstract Unix socket with a random name.
 *
 * Each other rank connects, says its number and gets the descriptor. Both ends ask the kernel (SO_PEERCRED) whether the
 * other belongs to the same user: names of abstract sockets are free for all. */
#include "transport/shm/pass.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static tutti_status fail_call(const char *call) {
  return tt_fail(TUTTI_ERR_SYSTEM, "%s for passing the shared segment failed: %s", call, strerror(errno));
}

static socklen_t set_address(struct sockaddr_un *address, const char *name) {
  assert(strlen(name) < TT_SHM_PASS_NAME);
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path + 1, name, strlen(name)); /* first byte 0: abstract */
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
}

static bool same_user(int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}

/* Whether `fd` becomes readable before `until_ns`. */
static bool readable(int fd, int64_t until_ns) {
  for (;;) {
    int64_t left_ms = (until_ns - tt_clock_ns() + 999999) / 1000000;
    struct pollfd poll_fd = {.fd = fd, .events = POLLIN};
    int ready = poll(&poll_fd, 1, left_ms > 0 ? (int)(left_ms < 1000000 ? left_ms : 1000000) : 0);
    if (ready > 0)
      return true;
    if (ready == 0 && tt_clock_ns() >= until_ns)
      return false;
    if (ready < 0 && errno != EINTR)
      return false;
  }
}

static tutti_status bind_and_listen(int fd, int64_t rank_count, char *name) {
  uint64_t number[2];
  if (getrandom(number, sizeof number, 0) != (ssize_t)sizeof number)
    return fail_call("getrandom");
  snprintf(name, TT_SHM_PASS_NAME, "tutti-%016" PRIx64 "%016" PRIx64, number[0], number[1]);
  struct sockaddr_un address;
  socklen_t size = set_address(&address, name);
  if (bind(fd, (struct sockaddr *)&address, size) != 0)
    return fail_call("bind");
  if (listen(fd, (int)(rank_count < 4096 ? rank_count : 4096)) != 0)
    return fail_call("listen");
  return TUTTI_OK;
}

tutti_status tt_shm_pass_open(bool serves, int64_t rank_count, char name[static TT_SHM_PASS_NAME], int *made) {
  int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return fail_call("socket");
  tutti_status status = serves ? bind_and_listen(fd, rank_count, name) : TUTTI_OK;
  if (status == TUTTI_OK)
    *made = fd;
  else
    close(fd);
  return status;
}

static bool send_fd(int connection, int fd) {
  char byte = 0;
  struct iovec data = {.iov_base = &byte, .iov_len = 1};
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof fd);
  memcpy(CMSG_DATA(rights), &fd, sizeof fd);
  return sendmsg(connection, &message, MSG_NOSIGNAL) == 1;
}

static tutti_status fail_missing(const bool *awaited, int64_t rank_count) {
  char missing[200] = "";
  size_t used = 0;
  for (int64_t r = 0; r < rank_count && used + 24 < sizeof missing; r++)
    if (awaited[r])
      used += (size_t)snprintf(missing + used, sizeof missing - used, "%s%" PRId64, used > 0 ? ", " : "", r);
  return tt_fail(TUTTI_ERR_TIMEOUT, "these ranks did not fetch the shared segment in time: %s", missing);
}

/* Serves one connection. A stranger's, or one that is lost, is no error. */
static tutti_status serve_one(int listener, int fd, bool *awaited, int64_t rank_count, int64_t until_ns) {
  int connection = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
  if (connection < 0)
    return errno == EINTR || errno == ECONNABORTED ? TUTTI_OK : fail_call("accept");
  int64_t rank = -1;
  bool done = same_user(connection) && readable(connection, until_ns) &&
              recv(connection, &rank, sizeof rank, 0) == (ssize_t)sizeof rank && rank >= 0 && rank < rank_count &&
              awaited[rank] && send_fd(connection, fd);
  if (done)
    awaited[rank] = false;
  close(connection);
  return TUTTI_OK;
}

static int64_t count_awaited(const bool *awaited, int64_t rank_count) {
  int64_t count = 0;
  for (int64_t r = 0; r < rank_count; r++)
    count += awaited[r];
  return count;
}

tutti_status tt_shm_pass_serve(int listener, int fd, bool *awaited, int64_t rank_count, int64_t until_ns) {
  tutti_status status = TUTTI_OK;
  while (status == TUTTI_OK && count_awaited(awaited, rank_count) > 0) {
    if (!readable(listener, until_ns))
      status = fail_missing(awaited, rank_count);
    else
      status = serve_one(listener, fd, awaited, rank_count, until_ns);
  }
  return status;
}

static tutti_status receive_fd(int connection, int *fd) {
  char byte;
  struct iovec data = {.iov_base = &byte, .iov_len = 1};
  union {
    struct cmsghdr header;
    char space[CMSG_SPACE(sizeof(int))];
  } control = {0};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control.space, .msg_controllen = sizeof control.space};
  ssize_t got = recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  if (got < 0)
    return fail_call("recvmsg");
  struct cmsghdr *rights = CMSG_FIRSTHDR(&message);
  if (got == 0 || rights == NULL || rights->cmsg_type != SCM_RIGHTS)
    return tt_fail(TUTTI_ERR_SYSTEM, "the first rank of this machine passed no descriptor of the shared segment%s",
                   message.msg_flags & MSG_CTRUNC ? ": this process has no free descriptor (see ulimit -n)" : "");
  memcpy(fd, CMSG_DATA(rights), sizeof *fd);
  return TUTTI_OK;
}

tutti_status tt_shm_pass_fetch(int connection, const char *name, int64_t rank, int64_t until_ns, int *fd) {
  struct sockaddr_un address;
  socklen_t size = set_address(&address, name);
  if (connect(connection, (struct sockaddr *)&address, size) != 0)
    return fail_call("connect");
  if (!same_user(connection))
    return tt_fail(TUTTI_ERR_SYSTEM, "the socket '%s' belongs to another user", name);
  if (send(connection, &rank, sizeof rank, MSG_NOSIGNAL) != (ssize_t)sizeof rank)
    return fail_call("send");
  if (!readable(connection, until_ns))
    return tt_fail(TUTTI_ERR_TIMEOUT, "the first rank of this machine did not pass the shared segment in time");
  return receive_fd(connection, fd);
}
