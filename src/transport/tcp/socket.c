/* transport/tcp/socket.c - sockets of tcp: listen, accept, connect, and the options of each. */
#include "transport/tcp/socket.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096 }; /* all ranks of a large job may come at once, while this one computes */
enum { UNSENT_BYTES = 128 << 10 };
enum { ALIVE_AFTER_S = 1, ALIVE_EVERY_S = 1, ALIVE_TRIES = 2 };

/* Options that are not there make nothing wrong, only slower. */
static void set(int fd, int level, int option, int value) { (void)setsockopt(fd, level, option, &value, sizeof value); }

/* ---- forks ---- */

/* A connection ends when the last process that holds it has ended: forks close their copies, or a rank that is killed
 * would seem to live on in them. */
static struct {
  pthread_mutex_t lock; /* held while the process forks */
  unsigned char *open;  /* of each descriptor: it is one of these sockets */
  int count;
} all = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void before_fork(void) { pthread_mutex_lock(&all.lock); }
static void after_fork(void) { pthread_mutex_unlock(&all.lock); }

static void close_copies(void) {
  for (int fd = 0; fd < all.count; fd++) {
    if (all.open[fd])
      close(fd);
    all.open[fd] = 0;
  }
  after_fork();
}

static void watch_forks(void) { pthread_atfork(before_fork, after_fork, close_copies); }

static bool make_room(int count) {
  unsigned char *grown = count > all.count ? realloc(all.open, (size_t)count) : all.open;
  if (!grown)
    return false;
  if (count > all.count) {
    memset(grown + all.count, 0, (size_t)(count - all.count));
    all.open = grown;
    all.count = count;
  }
  return true;
}

/* No fork falls between the making of a socket and its entry. */
static void begin_keep(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch_forks);
  pthread_mutex_lock(&all.lock);
}

/* Without memory forks keep a copy. */
static int end_keep(int fd) {
  if (fd >= 0 && make_room(2 * (fd + 1)))
    all.open[fd] = 1;
  pthread_mutex_unlock(&all.lock);
  return fd;
}

void tt_tcp_socket_close(int fd) {
  pthread_mutex_lock(&all.lock);
  if (fd < all.count)
    all.open[fd] = 0;
  close(fd);
  pthread_mutex_unlock(&all.lock);
}

/* ---- addresses ---- */

static socklen_t bytes_of(const struct sockaddr_storage *address) {
  assert(address->ss_family == AF_INET || address->ss_family == AF_INET6);
  return address->ss_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
}

static in_port_t *port_of(struct sockaddr_storage *address) {
  return address->ss_family == AF_INET6 ? &((struct sockaddr_in6 *)(void *)address)->sin6_port
                                        : &((struct sockaddr_in *)(void *)address)->sin_port;
}

/* Its own, with any port. */
static struct sockaddr_storage own_address(const tt_rail *rail) {
  struct sockaddr_storage address = rail->address;
  *port_of(&address) = 0;
  return address;
}

/* The number of a NIC in a link-local address means something on its own machine only. */
static struct sockaddr_storage seen_from(const tt_rail *rail, const struct sockaddr_storage *address) {
  struct sockaddr_storage seen = *address;
  struct sockaddr_in6 *there = (struct sockaddr_in6 *)(void *)&seen;
  const struct sockaddr_in6 *here = (const struct sockaddr_in6 *)(const void *)&rail->address;
  if (seen.ss_family == AF_INET6 && rail->address.ss_family == AF_INET6 && IN6_IS_ADDR_LINKLOCAL(&there->sin6_addr))
    there->sin6_scope_id = here->sin6_scope_id;
  return seen;
}

void tt_tcp_socket_name(const struct sockaddr_storage *address, char text[static TT_TCP_NAME_BYTES]) {
  char host[INET6_ADDRSTRLEN] = "?";
  const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)(const void *)address;
  const struct sockaddr_in *four = (const struct sockaddr_in *)(const void *)address;
  if (address->ss_family != AF_INET6) {
    inet_ntop(AF_INET, &four->sin_addr, host, sizeof host);
    snprintf(text, TT_TCP_NAME_BYTES, "%s:%u", host, ntohs(four->sin_port));
    return;
  }
  inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof host);
  if (six->sin6_scope_id > 0)
    snprintf(text, TT_TCP_NAME_BYTES, "[%s%%%u]:%u", host, six->sin6_scope_id, ntohs(six->sin6_port));
  else
    snprintf(text, TT_TCP_NAME_BYTES, "[%s]:%u", host, ntohs(six->sin6_port));
}

/* ---- listening ---- */

static tutti_status fail_listen(const tt_rail *rail, const char *call) {
  int error = errno;
  char name[TT_TCP_NAME_BYTES];
  tt_tcp_socket_name(&rail->address, name);
  return tt_fail(TUTTI_ERR_SYSTEM, "%s for listening on NIC '%.*s' (%s) failed: %s", call, (int)sizeof rail->name,
                 rail->name, name, strerror(error));
}

static tutti_status listen_on(int fd, const tt_rail *rail, in_port_t *port) {
  struct sockaddr_storage address = own_address(rail);
  socklen_t bytes = bytes_of(&address);
  if (bind(fd, (const struct sockaddr *)&address, bytes) != 0)
    return fail_listen(rail, "bind");
  if (listen(fd, BACKLOG) != 0)
    return fail_listen(rail, "listen");
  if (getsockname(fd, (struct sockaddr *)&address, &bytes) != 0)
    return fail_listen(rail, "getsockname");
  *port = *port_of(&address);
  return TUTTI_OK;
}

static int make(const tt_rail *rail) {
  begin_keep();
  return end_keep(socket(rail->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
}

tutti_status tt_tcp_socket_listen(const tt_rail *rail, in_port_t *port, int *fd) {
  int made = make(rail);
  if (made < 0)
    return fail_listen(rail, "socket");
  tutti_status status = listen_on(made, rail, port);
  if (status == TUTTI_OK)
    *fd = made;
  else
    tt_tcp_socket_close(made);
  return status;
}

int tt_tcp_socket_accept(int listener) {
  begin_keep();
  int fd = end_keep(accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (fd >= 0)
    set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  return fd;
}

/* ---- connecting ---- */

static bool connect_from(int fd, const tt_rail *rail, const struct sockaddr_storage *address) {
  struct sockaddr_storage own = own_address(rail), there = seen_from(rail, address);
  set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1); /* connect chooses it: many peers may share one */
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  return bind(fd, (const struct sockaddr *)&own, bytes_of(&own)) == 0 &&
         (connect(fd, (const struct sockaddr *)&there, bytes_of(&there)) == 0 || errno == EINPROGRESS ||
          errno == EINTR);
}

int tt_tcp_socket_connect(const tt_rail *rail, const struct sockaddr_storage *address) {
  int fd = make(rail);
  if (fd < 0 || connect_from(fd, rail, address))
    return fd;
  int error = errno;
  tt_tcp_socket_close(fd);
  errno = error;
  return -1;
}

int tt_tcp_socket_error(int fd) {
  int error = 0;
  socklen_t bytes = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) == 0 ? error : errno;
}

/* ---- options ---- */

/* A process that this one has forked may hold the connection, too: so it is undone, not only closed. */
void tt_tcp_socket_abort(int fd) {
  const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
  const struct sockaddr none = {.sa_family = AF_UNSPEC};
  (void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  (void)connect(fd, &none, sizeof none);
  tt_tcp_socket_close(fd);
}

void tt_tcp_socket_tune(int fd) {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, ALIVE_AFTER_S);
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, ALIVE_EVERY_S);
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, ALIVE_TRIES);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, UNSENT_BYTES);
}
