/* boot/testing.h - a PMI server for tests: it speaks both dialects over socketpairs, and says one odd thing when told
 * to. */
#ifndef TT_BOOT_TESTING_H
#define TT_BOOT_TESTING_H

#include "boot/pmi.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define RANKS 3
#define PUTS 128

static const char silence[] = ""; /* the server says nothing any more: told by address */

typedef struct fake {
  int version;     /* the only one it speaks; 0: both */
  int value_max;   /* vallen_max */
  bool in_bytes;   /* replies come byte by byte */
  int64_t odd_at;  /* this request of rank 0, 0 .., gets `odd` for a reply; -1: none */
  const char *odd; /* NULL: the connection is closed */
  size_t odd_bytes;
  int rank_count;
  int fd[RANKS]; /* its ends */
  bool framed[RANKS];
  int64_t request_count; /* of rank 0 */
  int waiting;           /* at the fence */
  char put[PUTS][2][TT_PMI_VALUE];
  int put_count;
} fake;

static inline const char *field(const char *message, const char *key, char value[static TT_PMI_VALUE]) {
  char pattern[64];
  snprintf(pattern, sizeof pattern, "%s=", key);
  const char *at = strstr(message, pattern);
  size_t length = at ? strcspn(at + strlen(pattern), " ;\n") : 0;
  snprintf(value, TT_PMI_VALUE, "%.*s", (int)length, at ? at + strlen(pattern) : "");
  return value;
}

static inline void send_bytes(const fake *own, int rank, const char *bytes, size_t size) {
  size_t step = own->in_bytes ? 1 : size;
  for (size_t at = 0; at < size; at += step)
    if (send(own->fd[rank], bytes + at, step, MSG_NOSIGNAL) < 0)
      return;
}

static inline void reply(const fake *own, int rank, const char *text) {
  char frame[TT_PMI_MESSAGE + 8];
  if (own->framed[rank])
    snprintf(frame, sizeof frame, "%-6zu%s", strlen(text), text); /* as Slurm fills it */
  else
    snprintf(frame, sizeof frame, "%s\n", text);
  send_bytes(own, rank, frame, strlen(frame));
}

static inline void serve_init(fake *own, int rank, const char *message) {
  char value[TT_PMI_VALUE], text[128];
  int version = atoi(field(message, "pmi_version", value));
  bool right = own->version == 0 || version == own->version;
  snprintf(text, sizeof text, "cmd=response_to_init pmi_version=%d pmi_subversion=0 rc=%d", version, right ? 0 : -1);
  reply(own, rank, text);
  own->framed[rank] = right && version == 2;
}

static inline void serve_put(fake *own, int rank, const char *message) {
  if (own->put_count == PUTS)
    abort();
  field(message, "key", own->put[own->put_count][0]);
  field(message, "value", own->put[own->put_count++][1]);
  reply(own, rank, own->framed[rank] ? "cmd=kvs-put-response;rc=0;" : "cmd=put_result rc=0 msg=success");
}

static inline void serve_get(const fake *own, int rank, const char *message) {
  char key[TT_PMI_VALUE], text[TT_PMI_MESSAGE];
  field(message, "key", key);
  snprintf(text, sizeof text, "%s",
           own->framed[rank] ? "cmd=kvs-get-response;rc=0;found=FALSE;" : "cmd=get_result rc=-1 msg=key_not_found");
  for (int p = 0; p < own->put_count; p++)
    if (strcmp(own->put[p][0], key) == 0)
      snprintf(text, sizeof text,
               own->framed[rank] ? "cmd=kvs-get-response;rc=0;found=TRUE;value=%s;" : "cmd=get_result rc=0 value=%s",
               own->put[p][1]);
  reply(own, rank, text);
}

static inline void serve_fence(fake *own) {
  if (++own->waiting < own->rank_count)
    return;
  own->waiting = 0;
  for (int r = 0; r < own->rank_count; r++)
    reply(own, r, own->framed[r] ? "cmd=kvs-fence-response;rc=0;" : "cmd=barrier_out");
}

static inline void serve(fake *own, int rank, const char *message) {
  char cmd[TT_PMI_VALUE], text[128];
  field(message, "cmd", cmd);
  snprintf(text, sizeof text, "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=%d", own->value_max);
  if (strcmp(cmd, "init") == 0)
    serve_init(own, rank, message);
  else if (strcmp(cmd, "get_maxes") == 0)
    reply(own, rank, text);
  else if (strcmp(cmd, "get_my_kvsname") == 0)
    reply(own, rank, "cmd=my_kvsname kvsname=kvs_1_0");
  else if (strcmp(cmd, "fullinit") == 0)
    reply(own, rank, "cmd=fullinit-response;rc=0;pmi-version=2;");
  else if (strcmp(cmd, "job-getid") == 0)
    reply(own, rank, "cmd=job-getid-response;rc=0;jobid=7.0;");
  else if (strcmp(cmd, "put") == 0 || strcmp(cmd, "kvs-put") == 0)
    serve_put(own, rank, message);
  else if (strcmp(cmd, "get") == 0 || strcmp(cmd, "kvs-get") == 0)
    serve_get(own, rank, message);
  else if (strcmp(cmd, "barrier_in") == 0 || strcmp(cmd, "kvs-fence") == 0)
    serve_fence(own);
  else if (strcmp(cmd, "finalize") == 0)
    reply(own, rank, own->framed[rank] ? "cmd=finalize-response;rc=0;" : "cmd=finalize_ack");
}

/* A whole request; false: the rank has gone. */
static inline bool take(const fake *own, int rank, char message[static TT_PMI_MESSAGE]) {
  size_t length = 0, wanted = own->framed[rank] ? 6 : TT_PMI_MESSAGE - 1;
  for (bool head = own->framed[rank]; length < wanted; length++) {
    if (recv(own->fd[rank], message + length, 1, 0) != 1)
      return false;
    message[length + 1] = '\0';
    if (head && length + 1 == wanted) {
      wanted += (size_t)atoi(message);
      head = false;
    } else if (!own->framed[rank] && message[length] == '\n') {
      return true;
    }
  }
  return true;
}

typedef struct seat {
  fake *server;
  int rank;
} seat;

static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static inline void serve_oddly(fake *own) {
  if (own->odd == NULL)
    shutdown(own->fd[0], SHUT_RDWR);
  else if (own->odd != silence)
    send_bytes(own, 0, own->odd, own->odd_bytes);
}

/* One thread for each rank's connection; they take turns at the store. */
static inline void *run_server(void *argument) {
  seat *own = argument;
  char message[TT_PMI_MESSAGE + 1];
  while (take(own->server, own->rank, message)) {
    pthread_mutex_lock(&turn);
    bool odd = own->rank == 0 && own->server->request_count++ == own->server->odd_at;
    if (odd)
      serve_oddly(own->server);
    else
      serve(own->server, own->rank, message);
    pthread_mutex_unlock(&turn);
  }
  return NULL;
}

#endif
