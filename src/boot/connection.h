/* boot/connection.h - the server's connections: bytes in and out without blocking. */
#ifndef TT_BOOT_CONNECTION_H
#define TT_BOOT_CONNECTION_H

#include "boot/wire.h"

/* A reply as it is sent, one copy for all connections that it goes to. */
typedef struct tt_boot_answer {
  int64_t holders;
  size_t bytes; /* of the whole */
  char frame[];
} tt_boot_answer;

/* Its maker is the first holder; *content: `size` bytes to fill. NULL: no memory. */
tt_boot_answer *tt_boot_answer_create(uint64_t status, size_t size, char **content);
void tt_boot_answer_release(tt_boot_answer *answer); /* accepts NULL; the last holder frees it */

/* One rank's connection. A rank may close it and come again: contexts are made and destroyed. */
typedef struct tt_boot_connection {
  struct tt_boot_connection *before, *after; /* of the server's list */
  int fd;
  bool foreign;            /* it speaks another version: only the beginning of its request is understood */
  tt_boot_request request; /* being received */
  size_t got;              /* bytes of request and contribution */
  char *in;                /* the contribution */
  tt_boot_answer *out;     /* NULL: all is sent */
  size_t sent;             /* bytes of it */
} tt_boot_connection;

tt_boot_connection *tt_boot_connection_create(int fd); /* NULL: no memory; fd is the caller's then */
void tt_boot_connection_destroy(tt_boot_connection *connection);

typedef enum tt_boot_event { TT_BOOT_NOTHING, TT_BOOT_REQUEST, TT_BOOT_CLOSED } tt_boot_event;

/* Receives what is there. REQUEST: request and in are whole, or it is a foreign one's and has version and rank; the
 * next call begins a new one. */
tt_boot_event tt_boot_connection_receive(tt_boot_connection *connection, int64_t rank_count);
/* Becomes a holder of the answer; false: the rank has asked before it had the last one. */
bool tt_boot_connection_reply(tt_boot_connection *connection, tt_boot_answer *answer);
/* Sends what can be sent; false: the other end is gone. *waits: something is left. */
bool tt_boot_connection_send(tt_boot_connection *connection, bool *waits);

#endif
