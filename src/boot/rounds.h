/* boot/rounds.h - the launcher's server: who has contributed to the round that is under way, and how each connection
 * is answered. */
#ifndef TT_BOOT_ROUNDS_H
#define TT_BOOT_ROUNDS_H

#include "boot/boot.h"
#include "boot/connection.h"

typedef struct tt_boot_seat {
  bool came;                      /* has contributed to this round */
  tt_boot_connection *connection; /* where the rank waits for the reply; NULL: it does not, or is to come again */
  char *mine;                     /* what it has contributed, if it is to come again */
  tt_boot_answer *owed;           /* the reply, when it does */
  bool missed;                    /* a round failed before it came to it */
  bool lost;
  char how[64];
} tt_boot_seat;

struct tt_boot_server {
  int64_t rank_count;
  int epoll, listener, timer;
  char address[TT_BOOT_NAME];
  tt_boot_connection *connections;
  int64_t connection_count, connection_most; /* most: INT64_MAX where each rank can have one */
  int64_t away;                              /* ranks that were told to come again, and have no reply */
  int64_t waiting;                           /* ranks that have contributed to this round */
  int64_t deadline_ns;                       /* of this round */
  int64_t retry_ns;                          /* there was no room for a connection: when to look again; 0: there was */
  uint64_t bytes;                            /* of a contribution in this round */
  tutti_status failure;                      /* of the last round that failed */
  char text[256];
  tt_boot_seat seat[];
};

/* ---- connections ---- */

/* The timer rings at the round's deadline, or when there may be room again. */
void tt_boot_server_set_timer(tt_boot_server *server);
void tt_boot_server_watch(tt_boot_server *server, int fd, void *what, bool write_too);
/* The listener has rested for want of room. */
void tt_boot_server_resume(tt_boot_server *server);
void tt_boot_server_drop(tt_boot_server *server, tt_boot_connection *connection);
void tt_boot_server_flush(tt_boot_server *server, tt_boot_connection *connection);

/* ---- rounds ---- */

void tt_boot_round_contribute(tt_boot_server *server, tt_boot_connection *connection);
/* A rank comes again for its reply. */
void tt_boot_round_visit(tt_boot_server *server, tt_boot_connection *connection);
/* The rank will not come for the reply: it has ended, or given up. */
void tt_boot_round_forget(tt_boot_server *server, tt_boot_seat *of);
/* Ends the round if it can be complete no more, or is. */
void tt_boot_round_check(tt_boot_server *server);
/* The server's text says why. */
void tt_boot_round_fail(tt_boot_server *server, tutti_status status);
void tt_boot_round_fail_late(tt_boot_server *server); /* names who is missing */

#endif
