/* boot/client.c - a rank's side of the launcher's allgather: one connection, one request and one reply at a time. */
#include "boot/launcher.h"
#include "boot/wire.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SLACK_NS 5000000000 /* the server sees a timeout first and knows who is missing */

typedef struct client {
  tt_boot base;
  int fd; /* -1: a job of one rank */
} client;

static tutti_status move_some(int fd, char *bytes, size_t size, bool write_it, size_t *moved) {
  ssize_t count = write_it ? send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(fd, bytes, size, MSG_DONTWAIT);
  *moved = count > 0 ? (size_t)count : 0;
  if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)))
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_PEER, "the launcher's connection is closed%s%s", count < 0 ? ": " : "",
                 count < 0 ? strerror(errno) : "");
}

/* Sends or receives all of it before `until_ns`. */
static tutti_status move(int fd, void *bytes, size_t size, bool write_it, int64_t until_ns) {
  for (size_t done = 0; done < size;) {
    int64_t left_ms = (until_ns - tt_clock_ns()) / 1000000;
    if (left_ms < 0)
      return tt_fail(TUTTI_ERR_TIMEOUT, "the launcher does not answer");
    struct pollfd ready = {.fd = fd, .events = write_it ? POLLOUT : POLLIN};
    int count = poll(&ready, 1, left_ms < 1000000 ? (int)left_ms + 1 : 1000000);
    if (count < 0 && errno != EINTR)
      return tt_fail(TUTTI_ERR_SYSTEM, "poll of the launcher's connection failed: %s", strerror(errno));
    if (count <= 0)
      continue;
    size_t moved = 0;
    tutti_status status = move_some(fd, (char *)bytes + done, size - done, write_it, &moved);
    if (status != TUTTI_OK)
      return status;
    done += moved;
  }
  return TUTTI_OK;
}

static tutti_status receive_text(int fd, const tt_boot_reply *reply, int64_t until_ns, char *missing,
                                 size_t missing_size) {
  char text[512] = "";
  if (reply->bytes >= sizeof text)
    return tt_fail(TUTTI_ERR_SYSTEM, "the launcher sends an error text of %llu bytes",
                   (unsigned long long)reply->bytes);
  tutti_status status = move(fd, text, reply->bytes, false, until_ns);
  if (status != TUTTI_OK)
    return status;
  bool late = reply->status == TUTTI_ERR_TIMEOUT;
  if (late && missing != NULL && missing_size > 0)
    snprintf(missing, missing_size, "%s", text);
  return tt_fail((tutti_status)reply->status, "%s%s", late ? "these ranks have not joined: " : "", text);
}

/* bytes: of each rank. */
static tutti_status receive_all(int fd, const tt_boot_reply *reply, void *all, size_t bytes, int64_t rank_count,
                                int64_t until_ns) {
  char *packed = reply->bytes < PTRDIFF_MAX ? malloc(reply->bytes + 1) : NULL;
  if (packed == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the launcher's answer of %llu bytes",
                   (unsigned long long)reply->bytes);
  tutti_status status = move(fd, packed, reply->bytes, false, until_ns);
  if (status == TUTTI_OK && !tt_boot_unpack(packed, reply->bytes, all, bytes, rank_count))
    status = tt_fail(TUTTI_ERR_SYSTEM, "the launcher's answer of %llu bytes is not that of %lld ranks",
                     (unsigned long long)reply->bytes, (long long)rank_count);
  free(packed);
  return status;
}

static tutti_status receive_reply(int fd, void *all, size_t bytes, int64_t rank_count, int64_t until_ns, char *missing,
                                  size_t missing_size) {
  tt_boot_reply reply;
  tutti_status status = move(fd, &reply, sizeof reply, false, until_ns);
  if (status != TUTTI_OK)
    return status;
  if (reply.status != TUTTI_OK)
    return receive_text(fd, &reply, until_ns, missing, missing_size);
  return receive_all(fd, &reply, all, bytes, rank_count, until_ns);
}

static tutti_status allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                              size_t missing_size) {
  client *own = user;
  if (own->fd < 0) {
    memcpy(all, mine, bytes);
    return TUTTI_OK;
  }
  if (bytes > TT_BOOT_BYTES_MAXIMUM)
    return tt_fail(TUTTI_ERR_ARGUMENT, "allgather of %zu bytes a rank; at most %u", bytes, TT_BOOT_BYTES_MAXIMUM);
  int64_t until_ns = tt_clock_until(timeout_ns) + SLACK_NS;
  tt_boot_request request = {.version = *tt_boot_version_own(),
                             .rank = (uint32_t)own->base.boot.rank,
                             .bytes = bytes,
                             .timeout_ns = timeout_ns};
  char *frame = malloc(sizeof request + bytes);
  if (frame == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for an allgather of %zu bytes", bytes);
  memcpy(frame, &request, sizeof request);
  memcpy(frame + sizeof request, mine, bytes);
  tutti_status status = move(own->fd, frame, sizeof request + bytes, true, until_ns);
  free(frame);
  if (status != TUTTI_OK)
    return status;
  return receive_reply(own->fd, all, bytes, own->base.boot.rank_count, until_ns, missing, missing_size);
}

static void close_client(tt_boot *boot) {
  client *own = (client *)boot;
  if (own->fd >= 0)
    close(own->fd);
  free(own);
}

static tutti_status make(int64_t rank, int64_t rank_count, int fd, tt_boot **boot) {
  client *made = malloc(sizeof *made);
  if (made == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the launcher's connection");
  made->base = (tt_boot){.boot = {sizeof(tutti_boot), rank, rank_count, made, allgather}, .close = close_client};
  made->fd = fd;
  *boot = &made->base;
  return TUTTI_OK;
}

/* Where many connect at once it waits for a place in the queue: 0, or errno, EAGAIN after `until_ns`. */
static int connect_until(int fd, const struct sockaddr_un *name, socklen_t size, int64_t until_ns) {
  for (;;) {
    int64_t left_us = (until_ns - tt_clock_ns()) / 1000;
    if (left_us < 1) /* 0 would be no limit */
      left_us = 1;
    struct timeval limit = {.tv_sec = left_us / 1000000, .tv_usec = left_us % 1000000};
    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    if (connect(fd, (const struct sockaddr *)name, size) == 0)
      return 0;
    if (errno != EINTR)
      return errno;
    if (tt_clock_ns() >= until_ns)
      return EAGAIN;
  }
}

static tutti_status connect_socket(int fd, const char *address, int64_t timeout_ns) {
  struct sockaddr_un name;
  socklen_t size = tt_boot_address(address + strlen("unix:@"), &name);
  int error = connect_until(fd, &name, size, tt_clock_until(timeout_ns));
  if (error == EAGAIN)
    return tt_fail(TUTTI_ERR_TIMEOUT, "the launcher at '%s' (TUTTI_BOOT) takes no connection", address);
  if (error != 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "connect to the launcher at '%s' (TUTTI_BOOT) failed: %s", address,
                   strerror(error));
  if (!tt_boot_same_user(fd))
    return tt_fail(TUTTI_ERR_SYSTEM, "the launcher at '%s' (TUTTI_BOOT) belongs to another user", address);
  return TUTTI_OK;
}

tutti_status tt_boot_connect(const char *address, int64_t rank, int64_t rank_count, int64_t timeout_ns,
                             tt_boot **boot) {
  if (rank_count < 1 || rank < 0 || rank >= rank_count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "rank %lld (TUTTI_RANK) is none of a job of %lld (TUTTI_SIZE)", (long long)rank,
                   (long long)rank_count);
  if (strncmp(address, "unix:@", 6) != 0 || strlen(address) > sizeof((struct sockaddr_un *)0)->sun_path)
    return tt_fail(TUTTI_ERR_ARGUMENT, "'%s' (TUTTI_BOOT) is not unix:@NAME", address);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "socket for the launcher's connection failed: %s", strerror(errno));
  tutti_status status = connect_socket(fd, address, timeout_ns);
  if (status == TUTTI_OK)
    status = make(rank, rank_count, fd, boot);
  if (status != TUTTI_OK)
    close(fd);
  return status;
}

tutti_status tt_boot_open_run(int64_t timeout_ns, tt_boot **boot) {
  const tt_options *options = tt_options_get();
  return tt_boot_connect(options->boot, options->rank, options->size, timeout_ns, boot);
}

tutti_status tt_boot_open_alone(int64_t timeout_ns, tt_boot **boot) {
  (void)timeout_ns;
  int64_t size = tt_options_get()->size;
  if (size > 1)
    return tt_fail(TUTTI_ERR_ARGUMENT, "TUTTI_SIZE is %lld, but TUTTI_BOOT is not set", (long long)size);
  return make(0, 1, -1, boot);
}
