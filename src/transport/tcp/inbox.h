/* transport/tcp/inbox.h - what has come of streams: letters wait in the inbox of their stream's opening, and places
 * know which reader gets which. */
#ifndef TT_TRANSPORT_TCP_INBOX_H
#define TT_TRANSPORT_TCP_INBOX_H

#include "transport/tcp/nodes.h"

typedef struct tt_tcp_inbox {
  tt_tcp_node node;
  struct tt_tcp_inbox *next_here; /* in its place */
  tt_tcp_letter *letters;         /* by slot */
  uint64_t first_letter;          /* the least number of its letters so far */
  uint32_t arrived;               /* slots, ever */
  uint32_t next;                  /* slot that is read next: so many have been released */
  uint32_t told;                  /* of these, the writer knows */
  uint32_t end;                   /* how many there will have been, if `ended` */
  uint32_t before;                /* openings before it whose reader is not known: nothing was written to them */
  bool ended, closed;             /* by its writer; by its reader */
} tt_tcp_inbox;

typedef struct tt_tcp_place {
  tt_tcp_node node;
  bool open;           /* there is a reader now */
  bool empty;          /* who gets nothing: the writer has opened again without having written */
  tt_tcp_inbox *inbox; /* of the reader; NULL: nothing has come */
  tt_tcp_inbox *first; /* whose reader is not known, by number */
  uint32_t missed;     /* readers that were closed before anything came: theirs may come still, and is dropped */
} tt_tcp_place;

/* TUTTI_ERR_ARGUMENT: that stream has a reader. */
tutti_status tt_tcp_place_open(tt_tcp *self, uint64_t id, int64_t peer, tt_tcp_place **place);
void tt_tcp_place_close(tt_tcp *self, tt_tcp_place *at);
/* The slot that is next; NULL: it has not come. */
tt_tcp_letter *tt_tcp_place_peek(tt_tcp *self, tt_tcp_place *at);
/* That slot is there. */
tutti_status tt_tcp_place_release(tt_tcp *self, tt_tcp_place *at);

/* As the pipes want it; user: tt_tcp. */
tutti_status tt_tcp_inbox_deliver_take(void *user, tt_tcp_letter *letter);
void tt_tcp_inbox_credit_all(void *user, int64_t peer);
/* At the end: the letters of a node that is one. */
void tt_tcp_inbox_drop_letters(tt_tcp *self, tt_tcp_inbox *box);

#endif
