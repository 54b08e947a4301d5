/* boot/server.h - the server's connections: bytes in and out without blocking. */
#ifndef TT_BOOT_SERVER_H
#define TT_BOOT_SERVER_H

#include "boot/wire.h"

/* One rank's connection. A rank may close it and come again: contexts are made and destroyed. */
typedef struct tt_boot_link {
  struct tt_boot_link *before, *after; /* of the server's list */
  int fd;
  tt_boot_request request; /* being received */
  size_t got;              /* bytes of request and contribution */
  char *in;                /* the contribution */
  char *out;               /* replies */
  size_t out_bytes, sent;
} tt_boot_link;

tt_boot_link *tt_boot_link_create(int fd); /* NULL: no memory; fd is the caller's then */
void tt_boot_link_destroy(tt_boot_link *link);

typedef enum tt_boot_event { TT_BOOT_NOTHING, TT_BOOT_REQUEST, TT_BOOT_CLOSED } tt_boot_event;

/* Receives what is there. REQUEST: request and in are whole; the next call begins a new one. */
tt_boot_event tt_boot_link_receive(tt_boot_link *link, int64_t rank_count);
/* Adds a reply; false: no memory. */
bool tt_boot_link_reply(tt_boot_link *link, tutti_status status, const void *bytes, size_t size);
/* Sends what can be sent; false: the other end is gone. *waits: something is left. */
bool tt_boot_link_send(tt_boot_link *link, bool *waits);

#endif
