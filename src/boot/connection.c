/* boot/connection.c - one connection of the launcher's server: whole requests out of pieces, replies in pieces. */
#include "boot/connection.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tt_boot_answer *tt_boot_answer_create(uint64_t status, size_t size, char **content) {
  tt_boot_reply head = {.status = status, .bytes = size};
  tt_boot_answer *answer = malloc(sizeof *answer + sizeof head + size);
  if (answer == NULL)
    return NULL;
  answer->holders = 1;
  answer->bytes = sizeof head + size;
  memcpy(answer->frame, &head, sizeof head);
  *content = answer->frame + sizeof head;
  return answer;
}

void tt_boot_answer_release(tt_boot_answer *answer) {
  assert(answer == NULL || answer->holders > 0);
  if (answer != NULL && --answer->holders == 0)
    free(answer);
}

tt_boot_connection *tt_boot_connection_create(int fd) {
  tt_boot_connection *connection = calloc(1, sizeof *connection);
  if (connection != NULL)
    connection->fd = fd;
  return connection;
}

void tt_boot_connection_destroy(tt_boot_connection *connection) {
  close(connection->fd);
  free(connection->in);
  tt_boot_answer_release(connection->out);
  free(connection);
}

#define KNOWN offsetof(tt_boot_request, again) /* bytes of a request that are the same in every version */

/* The rest of what is being received: first the request's head, then the contribution. */
static size_t rest(tt_boot_connection *connection, char **to) {
  assert(!connection->foreign);
  size_t head = sizeof connection->request;
  if (connection->got < head) {
    *to = (char *)&connection->request + connection->got;
    return head - connection->got;
  }
  *to = connection->in + (connection->got - head);
  return head + connection->request.bytes - connection->got;
}

static bool accept_known(tt_boot_connection *connection, int64_t rank_count) {
  const tt_boot_request *request = &connection->request;
  connection->foreign = request->version.wire != tt_boot_version_own()->wire;
  return request->version.magic == TT_BOOT_MAGIC && request->rank < rank_count;
}

static bool accept_head(tt_boot_connection *connection) {
  const tt_boot_request *request = &connection->request;
  char *in = request->bytes <= TT_BOOT_BYTES_MAXIMUM ? realloc(connection->in, request->bytes + 1) : NULL;
  if (in == NULL)
    return false;
  connection->in = in;
  return true;
}

static bool is_whole(const tt_boot_connection *connection) {
  return connection->got >= sizeof connection->request &&
         connection->got == sizeof connection->request + connection->request.bytes;
}

/* `count` bytes more of the request. NOTHING: there is more to come. */
static tt_boot_event take(tt_boot_connection *connection, size_t count, int64_t rank_count) {
  size_t before = connection->got;
  assert(!connection->foreign);
  connection->got += count;
  if (before < KNOWN && connection->got >= KNOWN && !accept_known(connection, rank_count))
    return TT_BOOT_CLOSED;
  if (!connection->foreign && count > 0 && connection->got == sizeof connection->request && !accept_head(connection))
    return TT_BOOT_CLOSED;
  return connection->foreign || is_whole(connection) ? TT_BOOT_REQUEST : TT_BOOT_NOTHING;
}

/* What follows a request that is not understood. */
static tt_boot_event pass_over(tt_boot_connection *connection) {
  char bytes[4096];
  ssize_t count;
  do
    count = recv(connection->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  while (count > 0);
  return count < 0 && (errno == EAGAIN || errno == EINTR) ? TT_BOOT_NOTHING : TT_BOOT_CLOSED;
}

tt_boot_event tt_boot_connection_receive(tt_boot_connection *connection, int64_t rank_count) {
  if (connection->foreign)
    return pass_over(connection);
  if (is_whole(connection))
    connection->got = 0;
  for (tt_boot_event event = TT_BOOT_NOTHING;;) {
    char *to;
    size_t wanted = rest(connection, &to);
    ssize_t count = wanted > 0 ? recv(connection->fd, to, wanted, MSG_DONTWAIT) : 0;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return TT_BOOT_NOTHING;
    if (count <= 0 && wanted > 0)
      return TT_BOOT_CLOSED;
    event = take(connection, (size_t)count, rank_count);
    if (event != TT_BOOT_NOTHING)
      return event;
  }
}

bool tt_boot_connection_reply(tt_boot_connection *connection, tt_boot_answer *answer) {
  if (connection->out != NULL)
    return false;
  answer->holders++;
  connection->out = answer;
  connection->sent = 0;
  return true;
}

bool tt_boot_connection_send(tt_boot_connection *connection, bool *waits) {
  assert(connection->out == NULL || connection->sent < connection->out->bytes);
  while (connection->out != NULL && connection->sent < connection->out->bytes) {
    ssize_t count = send(connection->fd, connection->out->frame + connection->sent,
                         connection->out->bytes - connection->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN && errno != EINTR)
      return false;
    *waits = count < 0;
    if (*waits)
      return true;
    connection->sent += (size_t)count;
  }
  tt_boot_answer_release(connection->out);
  connection->out = NULL;
  *waits = false;
  return true;
}
