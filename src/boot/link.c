/* boot/link.c - one connection of the launcher's server: whole requests out of pieces, replies in pieces. */
#include "boot/link.h"

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

tt_boot_link *tt_boot_link_create(int fd) {
  tt_boot_link *link = calloc(1, sizeof *link);
  if (link != NULL)
    link->fd = fd;
  return link;
}

void tt_boot_link_destroy(tt_boot_link *link) {
  close(link->fd);
  free(link->in);
  tt_boot_answer_release(link->out);
  free(link);
}

#define KNOWN offsetof(tt_boot_request, again) /* bytes of a request that are the same in every version */

/* The rest of what is being received: first the request's head, then the contribution. */
static size_t rest(tt_boot_link *link, char **to) {
  assert(!link->foreign);
  size_t head = sizeof link->request;
  if (link->got < head) {
    *to = (char *)&link->request + link->got;
    return head - link->got;
  }
  *to = link->in + (link->got - head);
  return head + link->request.bytes - link->got;
}

static bool accept_known(tt_boot_link *link, int64_t rank_count) {
  const tt_boot_request *request = &link->request;
  link->foreign = request->version.wire != tt_boot_version_own()->wire;
  return request->version.magic == TT_BOOT_MAGIC && request->rank < rank_count;
}

static bool accept_head(tt_boot_link *link) {
  const tt_boot_request *request = &link->request;
  char *in = request->bytes <= TT_BOOT_BYTES_MAXIMUM ? realloc(link->in, request->bytes + 1) : NULL;
  if (in == NULL)
    return false;
  link->in = in;
  return true;
}

static bool is_whole(const tt_boot_link *link) {
  return link->got >= sizeof link->request && link->got == sizeof link->request + link->request.bytes;
}

/* `count` bytes more of the request. NOTHING: there is more to come. */
static tt_boot_event take(tt_boot_link *link, size_t count, int64_t rank_count) {
  size_t before = link->got;
  assert(!link->foreign);
  link->got += count;
  if (before < KNOWN && link->got >= KNOWN && !accept_known(link, rank_count))
    return TT_BOOT_CLOSED;
  if (!link->foreign && count > 0 && link->got == sizeof link->request && !accept_head(link))
    return TT_BOOT_CLOSED;
  return link->foreign || is_whole(link) ? TT_BOOT_REQUEST : TT_BOOT_NOTHING;
}

/* What follows a request that is not understood. */
static tt_boot_event pass_over(tt_boot_link *link) {
  char bytes[4096];
  ssize_t count;
  do
    count = recv(link->fd, bytes, sizeof bytes, MSG_DONTWAIT);
  while (count > 0);
  return count < 0 && (errno == EAGAIN || errno == EINTR) ? TT_BOOT_NOTHING : TT_BOOT_CLOSED;
}

tt_boot_event tt_boot_link_receive(tt_boot_link *link, int64_t rank_count) {
  if (link->foreign)
    return pass_over(link);
  if (is_whole(link))
    link->got = 0;
  for (tt_boot_event event = TT_BOOT_NOTHING;;) {
    char *to;
    size_t wanted = rest(link, &to);
    ssize_t count = wanted > 0 ? recv(link->fd, to, wanted, MSG_DONTWAIT) : 0;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return TT_BOOT_NOTHING;
    if (count <= 0 && wanted > 0)
      return TT_BOOT_CLOSED;
    event = take(link, (size_t)count, rank_count);
    if (event != TT_BOOT_NOTHING)
      return event;
  }
}

bool tt_boot_link_reply(tt_boot_link *link, tt_boot_answer *answer) {
  if (link->out != NULL)
    return false;
  answer->holders++;
  link->out = answer;
  link->sent = 0;
  return true;
}

bool tt_boot_link_send(tt_boot_link *link, bool *waits) {
  assert(link->out == NULL || link->sent < link->out->bytes);
  while (link->out != NULL && link->sent < link->out->bytes) {
    ssize_t count =
        send(link->fd, link->out->frame + link->sent, link->out->bytes - link->sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count < 0 && errno != EAGAIN && errno != EINTR)
      return false;
    *waits = count < 0;
    if (*waits)
      return true;
    link->sent += (size_t)count;
  }
  tt_boot_answer_release(link->out);
  link->out = NULL;
  *waits = false;
  return true;
}
