/* boot/client.c - a rank's side of the launcher's allgather: one connection, one request and one reply at a time. A
 * launcher that has no room for a connection of each rank tells some to come again for the reply. */
#include "boot/launcher.h"
#include "boot/wire.h"

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SLACK_NS 5000000000 /* the server sees a timeout first and knows who is missing */

typedef struct client {
  tt_boot base;
  tt_file file;               /* the connection's, if it is open now */
  char address[TT_BOOT_NAME]; /* "": a job of one rank */
} client;

static tutti_status move_some(int fd, char *bytes, size_t size, bool write_it, size_t *moved) {
  ssize_t count = write_it ? send(fd, bytes, size, MSG_NOSIGNAL | MSG_DONTWAIT) : recv(fd, bytes, size, MSG_DONTWAIT);
  *moved = count > 0 ? (size_t)count : 0;
  if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)))
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_PEER, "the launcher closed the connection%s%s", count < 0 ? ": " : "",
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
      return tt_fail(TUTTI_ERR_SYSTEM, "poll of the connection to the launcher failed: %s", strerror(errno));
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
    return tt_fail(TUTTI_ERR_SYSTEM, "the launcher sent an error text of %" PRIu64 " bytes", reply->bytes);
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
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRIu64 " bytes from the launcher", reply->bytes);
  tutti_status status = move(fd, packed, reply->bytes, false, until_ns);
  if (status == TUTTI_OK && !tt_boot_unpack(packed, reply->bytes, all, bytes, rank_count))
    status =
        tt_fail(TUTTI_ERR_SYSTEM, "the launcher sent %" PRIu64 " bytes, which cannot be the data of %" PRId64 " ranks",
                reply->bytes, rank_count);
  free(packed);
  return status;
}

/* ---- the connection ---- */

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

static tutti_status connect_socket(int fd, const char *address, int64_t until_ns) {
  struct sockaddr_un name;
  socklen_t size = tt_boot_address(address + strlen("unix:@"), &name);
  int error = connect_until(fd, &name, size, until_ns);
  if (error == EAGAIN)
    return tt_fail(TUTTI_ERR_TIMEOUT, "the launcher at '%s' (TUTTI_BOOT) does not accept a connection", address);
  if (error != 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "connect to the launcher at '%s' (TUTTI_BOOT) failed: %s", address,
                   strerror(error));
  if (!tt_boot_same_user(fd))
    return tt_fail(TUTTI_ERR_SYSTEM, "the launcher at '%s' (TUTTI_BOOT) belongs to another user", address);
  return TUTTI_OK;
}

static tutti_status open_connection(client *own, int64_t until_ns) {
  assert(!tt_file_is_open(&own->file) && *own->address != '\0');
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0)
    return tt_fail(TUTTI_ERR_SYSTEM, "socket for the connection to the launcher failed: %s", strerror(errno));
  tutti_status status = connect_socket(fd, own->address, until_ns);
  if (status == TUTTI_OK)
    own->file = tt_file_of(fd);
  else
    close(fd);
  return status;
}

static void close_connection(client *own) {
  if (tt_file_is_open(&own->file))
    close(own->file.fd);
  own->file.fd = -1;
}

/* ---- the allgather ---- */

typedef struct question {
  tt_boot_request request;
  const void *mine;
  void *all;
  size_t bytes; /* of each rank */
  int64_t until_ns;
  char *missing;
  size_t missing_size;
} question;

static tutti_status send_request(client *own, const question *of) {
  size_t bytes = of->request.bytes;
  char *frame = malloc(sizeof of->request + bytes);
  if (frame == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for an allgather of %zu bytes", bytes);
  memcpy(frame, &of->request, sizeof of->request);
  memcpy(frame + sizeof of->request, of->mine, bytes);
  tutti_status status = move(own->file.fd, frame, sizeof of->request + bytes, true, of->until_ns);
  free(frame);
  return status;
}

/* The launcher has what this rank contributes, and no room for it to wait. */
static tutti_status go_away(client *own, question *of) {
  uint64_t after_us = 0;
  tutti_status status = move(own->file.fd, &after_us, sizeof after_us, false, of->until_ns);
  if (status != TUTTI_OK)
    return status;
  close_connection(own);
  of->request.again++;
  of->request.bytes = 0;
  int64_t left_ns = of->until_ns - tt_clock_ns();
  if (left_ns <= 0)
    return tt_fail(TUTTI_ERR_TIMEOUT, "the launcher does not answer");
  int64_t after_ns = (int64_t)(after_us % 60000000) * 1000;
  after_ns = after_ns < left_ns ? after_ns : left_ns;
  const struct timespec pause = {.tv_sec = after_ns / 1000000000, .tv_nsec = after_ns % 1000000000};
  nanosleep(&pause, NULL);
  return TUTTI_OK;
}

static tutti_status ask(client *own, question *of, bool *again) {
  tt_boot_reply reply;
  tutti_status status = tt_file_is_open(&own->file) ? TUTTI_OK : open_connection(own, of->until_ns);
  if (status == TUTTI_OK)
    status = send_request(own, of);
  if (status == TUTTI_OK)
    status = move(own->file.fd, &reply, sizeof reply, false, of->until_ns);
  *again = status == TUTTI_OK && reply.status == TT_BOOT_AGAIN;
  if (status != TUTTI_OK)
    return status;
  if (*again)
    return go_away(own, of);
  if (reply.status != TUTTI_OK)
    return receive_text(own->file.fd, &reply, of->until_ns, of->missing, of->missing_size);
  return receive_all(own->file.fd, &reply, of->all, of->bytes, own->base.boot.rank_count, of->until_ns);
}

static tutti_status allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                              size_t missing_size) {
  client *own = user;
  if (*own->address == '\0') {
    assert(own->base.boot.rank_count == 1);
    memcpy(all, mine, bytes);
    return TUTTI_OK;
  }
  if (bytes > TT_BOOT_BYTES_MAXIMUM)
    return tt_fail(TUTTI_ERR_ARGUMENT, "allgather of %zu bytes a rank; the limit is %u", bytes, TT_BOOT_BYTES_MAXIMUM);
  question of = {.request = {.version = *tt_boot_version_own(),
                             .rank = (uint32_t)own->base.boot.rank,
                             .bytes = bytes,
                             .timeout_ns = timeout_ns},
                 .mine = mine,
                 .all = all,
                 .bytes = bytes,
                 .until_ns = tt_clock_until(timeout_ns) + SLACK_NS,
                 .missing = missing,
                 .missing_size = missing_size};
  tutti_status status;
  bool again;
  do
    status = ask(own, &of, &again);
  while (status == TUTTI_OK && again);
  if (of.request.again) /* another rank needs the room */
    close_connection(own);
  return status;
}

/* ---- made ---- */

static void close_client(tt_boot *boot) {
  client *own = (client *)boot;
  close_connection(own);
  free(own);
}

static tutti_status make(int64_t rank, int64_t rank_count, const char *address, client **made) {
  *made = malloc(sizeof **made);
  if (*made == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for the connection to the launcher");
  **made = (client){.base = {.close = close_client}, .file.fd = -1};
  (*made)->base.boot = (tutti_boot){sizeof(tutti_boot), rank, rank_count, *made, allgather};
  snprintf((*made)->address, sizeof(*made)->address, "%s", address);
  return TUTTI_OK;
}

tutti_status tt_boot_connect(const char *address, int64_t rank, int64_t rank_count, int64_t timeout_ns,
                             tt_boot **boot) {
  if (rank_count < 1 || rank < 0 || rank >= rank_count)
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "TUTTI_RANK is %" PRId64 ", which is not a rank of a job of %" PRId64 " (TUTTI_SIZE)", rank,
                   rank_count);
  if (strncmp(address, "unix:@", 6) != 0 || strlen(address) >= TT_BOOT_NAME)
    return tt_fail(TUTTI_ERR_ARGUMENT, "TUTTI_BOOT is '%s'; expected unix:@NAME", address);
  client *made;
  tutti_status status = make(rank, rank_count, address, &made);
  if (status != TUTTI_OK)
    return status;
  status = open_connection(made, tt_clock_until(timeout_ns));
  if (status == TUTTI_OK)
    *boot = &made->base;
  else
    close_client(&made->base);
  return status;
}

tutti_status tt_boot_open_run(int64_t timeout_ns, tt_boot **boot) {
  const tt_options *options = tt_options_get();
  return tt_boot_connect(options->set.boot, options->set.rank, options->set.size, timeout_ns, boot);
}

tutti_status tt_boot_open_alone(int64_t timeout_ns, tt_boot **boot) {
  (void)timeout_ns;
  int64_t size = tt_options_get()->set.size;
  if (size > 1)
    return tt_fail(TUTTI_ERR_ARGUMENT, "TUTTI_SIZE is %" PRId64 ", but TUTTI_BOOT is not set", size);
  client *made;
  tutti_status status = make(0, 1, "", &made);
  if (status == TUTTI_OK)
    *boot = &made->base;
  return status;
}
