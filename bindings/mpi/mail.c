/* bindings/mpi/mail.c - letters: a pool of buffers, MPI's requests for those on their way, and matched probes.
 *
 *     send      MPI_Isend of head and data, which lie behind each other
 *     receive   MPI_Improbe (any source) -> a letter of that size -> MPI_Imrecv
 *
 * Matched probes instead of receives posted beforehand: they need no length to be agreed upon and nothing to be
 * cancelled at the end, and a long message goes from MPI straight to where it is used. */
#include "mail.h"

#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum {
  LINE = 64,
  CLASSES = 16,        /* of the pool: LINE << class bytes of room; longer letters are not kept */
  LETTERS_A_CALL = 32, /* that one call of progress takes */
  FLUSH_SECONDS = 5
};

enum { MET = 1, LEFT = 2 };

static_assert(offsetof(tt_mpi_letter, data) == LINE, "data is aligned, right behind the head");
static_assert(offsetof(tt_mpi_letter, head) + sizeof(tt_mpi_head) == LINE, "data is aligned, right behind the head");

struct tt_mpi_mail {
  MPI_Comm comm;
  tt_mpi_postman postman;
  tt_mpi_letter *pool[CLASSES];
  /* on their way: requests that were not complete at once, each with its letter */
  MPI_Request *request;
  tt_mpi_letter **letter;
  MPI_Status *status; /* of those that complete together */
  int *done;
  int count, size;
  unsigned char *peer; /* of each rank: MET, LEFT */
  int rank_count, met, left;
};

/* ---- the pool ---- */

static uint8_t class_of(size_t room) {
  uint8_t size_class = 0;
  while (size_class < CLASSES && ((size_t)LINE << size_class) < room)
    size_class++;
  return size_class;
}

tt_mpi_letter *tt_mpi_letter_take(tt_mpi_mail *mail, size_t room) {
  if (room > INT_MAX - LINE)
    return NULL;
  uint8_t size_class = class_of(room);
  bool pooled = size_class < CLASSES;
  tt_mpi_letter *letter = pooled ? mail->pool[size_class] : NULL;
  if (letter) {
    mail->pool[size_class] = letter->next;
    return letter;
  }
  size_t bytes = pooled ? (size_t)LINE << size_class : (room + LINE - 1) / LINE * LINE;
  letter = aligned_alloc(LINE, sizeof *letter + bytes);
  if (letter)
    letter->size_class = size_class;
  return letter;
}

void tt_mpi_letter_give(tt_mpi_mail *mail, tt_mpi_letter *letter) {
  if (letter->size_class == CLASSES) {
    free(letter);
    return;
  }
  letter->next = mail->pool[letter->size_class];
  mail->pool[letter->size_class] = letter;
}

static void free_pool(tt_mpi_mail *mail) {
  for (int n = 0; n < CLASSES; n++)
    while (mail->pool[n]) {
      tt_mpi_letter *letter = mail->pool[n];
      mail->pool[n] = letter->next;
      free(letter);
    }
}

/* ---- on their way ---- */

static bool grow_array(void **array, size_t bytes) {
  void *grown = realloc(*array, bytes);
  if (grown)
    *array = grown;
  return grown != NULL;
}

/* Room for one request more. */
static tutti_status make_room(tt_mpi_mail *mail) {
  if (mail->count < mail->size)
    return TUTTI_OK;
  size_t size = mail->size ? 2 * (size_t)mail->size : 64;
  if (!grow_array((void **)&mail->request, size * sizeof *mail->request) ||
      !grow_array((void **)&mail->letter, size * sizeof(tt_mpi_letter *)) ||
      !grow_array((void **)&mail->status, size * sizeof *mail->status) ||
      !grow_array((void **)&mail->done, size * sizeof *mail->done))
    return TUTTI_ERR_MEMORY;
  mail->size = (int)size;
  return TUTTI_OK;
}

/* MPI's own text: the public interface of transports has none. */
static tutti_status fail(int code, const tt_mpi_letter *letter) {
  char text[MPI_MAX_ERROR_STRING] = "?";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  fprintf(stderr, "tutti: a message %s rank %" PRId64 " failed: %s\n", letter->comes ? "from" : "to", letter->peer,
          text);
  return TUTTI_ERR_PEER;
}

/* A letter that has gone, or has failed to. */
static void forget(tt_mpi_mail *mail, tt_mpi_letter *letter) {
  if (!letter->comes && letter->kind == TT_MPI_DATA)
    mail->postman.sent(mail->postman.user, letter);
  tt_mpi_letter_give(mail, letter);
}

static tutti_status drop(tt_mpi_mail *mail, tt_mpi_letter *letter, int code) {
  tutti_status status = fail(code, letter);
  forget(mail, letter);
  return status;
}

static void note(tt_mpi_mail *mail, int64_t peer, unsigned char what) {
  mail->met += what == MET && !(mail->peer[peer] & MET);
  mail->left += what == LEFT && !(mail->peer[peer] & LEFT);
  mail->peer[peer] |= what;
}

/* Its request is complete. */
static tutti_status arrive(tt_mpi_mail *mail, tt_mpi_letter *letter) {
  if (letter->comes && letter->kind == TT_MPI_BYE)
    note(mail, letter->peer, LEFT);
  else if (letter->comes)
    return mail->postman.deliver_take(mail->postman.user, letter);
  forget(mail, letter);
  return TUTTI_OK;
}

/* Most are complete at once. There is room for the others. */
static tutti_status follow(tt_mpi_mail *mail, tt_mpi_letter *letter, MPI_Request request) {
  int complete = 0, code = PMPI_Test(&request, &complete, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS)
    return drop(mail, letter, code);
  if (complete)
    return arrive(mail, letter);
  mail->request[mail->count] = request;
  mail->letter[mail->count++] = letter;
  return TUTTI_OK;
}

tutti_status tt_mpi_mail_send_take(tt_mpi_mail *mail, tt_mpi_letter *letter) {
  MPI_Request request;
  int bytes = (int)(sizeof letter->head + letter->bytes);
  letter->comes = false;
  note(mail, letter->peer, MET);
  if (make_room(mail) != TUTTI_OK) {
    forget(mail, letter);
    return TUTTI_ERR_MEMORY;
  }
  int code = PMPI_Isend(&letter->head, bytes, MPI_BYTE, (int)letter->peer, letter->kind, mail->comm, &request);
  return code == MPI_SUCCESS ? follow(mail, letter, request) : drop(mail, letter, code);
}

/* Receives what a probe has found. */
static tutti_status receive(tt_mpi_mail *mail, MPI_Message *message, const MPI_Status *found) {
  MPI_Request request;
  int bytes = 0;
  PMPI_Get_count(found, MPI_BYTE, &bytes);
  tutti_status status = make_room(mail);
  tt_mpi_letter *letter = status ? NULL : tt_mpi_letter_take(mail, (size_t)bytes - sizeof letter->head);
  if (!letter)
    return TUTTI_ERR_MEMORY;
  letter->bytes = (size_t)bytes - sizeof letter->head;
  letter->peer = found->MPI_SOURCE;
  letter->kind = (uint8_t)found->MPI_TAG;
  letter->comes = true;
  note(mail, letter->peer, MET);
  int code = PMPI_Imrecv(&letter->head, bytes, MPI_BYTE, message, &request);
  return code == MPI_SUCCESS ? follow(mail, letter, request) : drop(mail, letter, code);
}

static tutti_status receive_all(tt_mpi_mail *mail) {
  tutti_status status = TUTTI_OK;
  for (int n = 0; n < LETTERS_A_CALL && !status; n++) {
    MPI_Message message;
    MPI_Status found;
    int here = 0;
    if (PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, mail->comm, &here, &message, &found) != MPI_SUCCESS)
      return TUTTI_ERR_SYSTEM;
    if (!here)
      break;
    status = receive(mail, &message, &found);
  }
  return status;
}

/* Forgets those that have arrived. */
static void close_ranks(tt_mpi_mail *mail) {
  int kept = 0;
  for (int n = 0; n < mail->count; n++)
    if (mail->letter[n]) {
      mail->request[kept] = mail->request[n];
      mail->letter[kept++] = mail->letter[n];
    }
  mail->count = kept;
}

/* The first error is kept; all that are complete are taken. */
static tutti_status complete(tt_mpi_mail *mail, int64_t *peer) {
  tutti_status status = TUTTI_OK;
  int count = 0, code = PMPI_Testsome(mail->count, mail->request, &count, mail->done, mail->status);
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
    return TUTTI_ERR_SYSTEM;
  for (int n = 0; n < count; n++) {
    tt_mpi_letter *letter = mail->letter[mail->done[n]];
    int64_t from = letter->peer;
    int error = code == MPI_SUCCESS ? MPI_SUCCESS : mail->status[n].MPI_ERROR;
    tutti_status one = error == MPI_SUCCESS ? arrive(mail, letter) : drop(mail, letter, error);
    if (one && !status) {
      status = one;
      *peer = from;
    }
    mail->letter[mail->done[n]] = NULL;
  }
  if (count > 0)
    close_ranks(mail);
  return status;
}

tutti_status tt_mpi_mail_progress(tt_mpi_mail *mail, int64_t *peer) {
  tutti_status status = receive_all(mail);
  return status || mail->count == 0 ? status : complete(mail, peer);
}

/* ---- begin and end ---- */

tutti_status tt_mpi_mail_create(MPI_Comm comm, const tt_mpi_postman *postman, tt_mpi_mail **mail) {
  tt_mpi_mail *made = calloc(1, sizeof *made);
  int count = 0;
  bool refused =
      PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) != MPI_SUCCESS || PMPI_Comm_size(comm, &count) != MPI_SUCCESS;
  if (!made || refused || !(made->peer = calloc((size_t)count, sizeof *made->peer))) {
    free(made);
    return refused ? TUTTI_ERR_SYSTEM : TUTTI_ERR_MEMORY;
  }
  made->comm = comm;
  made->postman = *postman;
  made->rank_count = count;
  *mail = made;
  return TUTTI_OK;
}

static tutti_status say_goodbye(tt_mpi_mail *mail, int64_t peer) {
  tt_mpi_letter *letter = tt_mpi_letter_take(mail, 0);
  if (!letter)
    return TUTTI_ERR_MEMORY;
  letter->peer = peer;
  letter->kind = TT_MPI_BYE;
  letter->bytes = 0;
  letter->head = (tt_mpi_head){.stream = 0};
  return tt_mpi_mail_send_take(mail, letter);
}

static time_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

void tt_mpi_mail_flush(tt_mpi_mail *mail) {
  time_t until = now() + FLUSH_SECONDS;
  int64_t peer = -1;
  tutti_status status = tt_mpi_mail_progress(mail, &peer);
  for (int r = 0; r < mail->rank_count && !status; r++)
    if (mail->peer[r] & MET)
      status = say_goodbye(mail, r);
  while ((mail->count > 0 || mail->left < mail->met) && now() <= until && !status) {
    status = tt_mpi_mail_progress(mail, &peer);
    sched_yield();
  }
}

/* MPI may still use a letter whose request it has not completed: that memory stays. */
void tt_mpi_mail_destroy(tt_mpi_mail *mail) {
  for (int n = 0; n < mail->count; n++)
    PMPI_Request_free(&mail->request[n]);
  free_pool(mail);
  free(mail->peer);
  free(mail->request);
  free(mail->letter);
  free(mail->status);
  free(mail->done);
  free(mail);
}
