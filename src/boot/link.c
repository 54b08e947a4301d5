/* boot/link.c - one connection of the launcher's server: whole requests out of pieces, replies in pieces. */
#include "boot/server.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

tt_boot_answer *tt_boot_answer_create(tutti_status status, size_t size, char **content) {
  tt_boot_reply head = {.status = (uint64_t)status, .bytes = size};
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

/* The rest of what is being received: first the request's head, then the contribution. */
static size_t rest(tt_boot_link *link, char **to) {
  size_t head = sizeof link->request;
  if (link->got < head) {
    *to = (char *)&link->request + link->got;
    return head - link->got;
  }
  *to = link->in + (link->got - head);
  return head + link->request.bytes - link->got;
}

static bool accept_head(tt_boot_link *link, int64_t rank_count) {
  const tt_boot_request *request = &link->request;
  if (request->magic != TT_BOOT_MAGIC || request->rank >= rank_count || request->bytes > TT_BOOT_BYTES_MAXIMUM)
    return false;
  char *in = realloc(link->in, request->bytes + 1);
  if (in == NULL)
    return false;
  link->in = in;
  return true;
}

tt_boot_event tt_boot_link_receive(tt_boot_link *link, int64_t rank_count) {
  size_t head = sizeof link->request;
  if (link->got >= head && link->got == head + link->request.bytes)
    link->got = 0;
  for (;;) {
    char *to;
    size_t wanted = rest(link, &to);
    ssize_t count = wanted > 0 ? recv(link->fd, to, wanted, MSG_DONTWAIT) : 0;
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return TT_BOOT_NOTHING;
    if (count <= 0 && wanted > 0)
      return TT_BOOT_CLOSED;
    link->got += (size_t)count;
    if (link->got == head && wanted > 0 && !accept_head(link, rank_count))
      return TT_BOOT_CLOSED;
    if (link->got >= head && link->got == head + link->request.bytes)
      return TT_BOOT_REQUEST;
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
