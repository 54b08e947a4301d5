/* bindings/mpi/mail.h - letters between the ranks of an MPI communicator: what transport.c makes streams of.
 *
 * A letter is a buffer of a pool, with a head and data. It is sent as one message; the receiver asks MPI what has come,
 * from anyone, and takes all of it, each into a letter that is long enough. So what nobody waits for yet never stands
 * in the way of what somebody waits for. Letters of one sender may arrive in another order than they were sent. */
#ifndef TT_MPI_MAIL_H
#define TT_MPI_MAIL_H

#include <tutti/transport.h>

#include <mpi.h>
#include <stdbool.h>

typedef struct tt_mpi_head { /* travels in front of the data */
  uint64_t stream;
  uint32_t number;  /* of the slot in its stream; wraps */
  uint32_t credits; /* slots that the sender has released of the stream of that id from the receiver to it */
  tutti_slot_header slot;
} tt_mpi_head;

typedef enum tt_mpi_kind { TT_MPI_DATA = 1, TT_MPI_CREDITS, TT_MPI_BYE } tt_mpi_kind; /* MPI's tag */

typedef struct tt_mpi_letter {
  struct tt_mpi_letter *next;
  int64_t peer;
  size_t bytes; /* of data */
  uint8_t size_class, kind;
  bool comes; /* or goes */
  tt_mpi_head head;
  unsigned char data[]; /* 64-byte aligned */
} tt_mpi_letter;

typedef struct tt_mpi_mail tt_mpi_mail;

typedef struct tt_mpi_postman {                                    /* who has letters sent and gets those that come */
  tutti_status (*deliver_take)(void *user, tt_mpi_letter *letter); /* of data or credits; keeps it */
  void (*sent)(void *user, const tt_mpi_letter *letter);           /* a letter of data needs this rank no more */
  void *user;
} tt_mpi_postman;

tutti_status tt_mpi_mail_create(MPI_Comm comm, const tt_mpi_postman *postman, tt_mpi_mail **mail);
/* Says goodbye to everyone it has met, and waits a while until what is on its way has arrived and they have said it
 * too: nothing is left in MPI then. Later than that, what is left is left to MPI. */
void tt_mpi_mail_flush(tt_mpi_mail *mail);
/* All letters have been given back or sent. */
void tt_mpi_mail_destroy(tt_mpi_mail *mail);

/* A letter with room for that many bytes, from the pool; NULL: no memory, or more than MPI can count. */
tt_mpi_letter *tt_mpi_letter_take(tt_mpi_mail *mail, size_t room);
void tt_mpi_letter_give(tt_mpi_mail *mail, tt_mpi_letter *letter);

/* Sends letter->bytes of data to letter->peer, and gives it back. */
tutti_status tt_mpi_mail_send_take(tt_mpi_mail *mail, tt_mpi_letter *letter);
/* Delivers what has come, and lets MPI move on. TUTTI_ERR_PEER: a message from or to *peer has failed. */
tutti_status tt_mpi_mail_progress(tt_mpi_mail *mail, int64_t *peer);

#endif
