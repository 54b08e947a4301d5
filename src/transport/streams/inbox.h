/* transport/streams/inbox.h - what has come of streams: packets wait in the inbox of their stream's opening, and places
 * know which reader gets which. */
#ifndef TT_TRANSPORT_STREAMS_INBOX_H
#define TT_TRANSPORT_STREAMS_INBOX_H

#include "transport/streams/table.h"

typedef struct tt_streams_inbox {
  tt_streams_node node;
  struct tt_streams_inbox *next_here; /* in its place */
  tt_streams_packet *packets;         /* by slot */
  uint64_t first_packet;              /* the least number of its packets so far */
  uint32_t arrived;                   /* slots, ever */
  uint32_t next;                      /* slot that is read next: so many have been released */
  uint32_t told;                      /* of these, the writer knows */
  uint32_t end;                       /* how many there will have been, if `ended` */
  uint32_t before;                    /* openings before it whose reader is not known: nothing was written to them */
  bool ended, closed;                 /* by its writer; by its reader */
} tt_streams_inbox;

typedef struct tt_streams_place {
  tt_streams_node node;
  bool open;               /* there is a reader now */
  bool once;               /* nobody will open it again */
  bool empty;              /* who gets nothing: the writer has opened again without having written */
  tt_streams_inbox *inbox; /* of the reader; NULL: nothing has come */
  tt_streams_inbox *first; /* whose reader is not known, by number */
  uint32_t missed;         /* readers that were closed before anything came: theirs may come still, and is dropped */
} tt_streams_place;

/* TUTTI_ERR_ARGUMENT: that stream has a reader. */
tutti_status tt_streams_place_open(tt_streams *self, uint64_t id, int64_t peer, tt_streams_place **place);
void tt_streams_place_close(tt_streams *self, tt_streams_place *at);
/* It has no reader, and none will come: what has come for one is dropped, and the place with it. */
void tt_streams_place_forget(tt_streams *self, tt_streams_place *at);
/* The slot that is next; NULL: it has not come. */
tt_streams_packet *tt_streams_place_peek(tt_streams *self, tt_streams_place *at);
/* That slot is there. */
tutti_status tt_streams_place_release(tt_streams *self, tt_streams_place *at);

/* At the end: the packets of a node that is one. */
void tt_streams_inbox_drop_packets(tt_streams *self, tt_streams_inbox *box);

#endif
