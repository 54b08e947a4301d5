/* bindings/mpi/pipes.c - packets: a pool of buffers, MPI's requests for those on their way, and matched probes.
 *
 *     send      MPI_Isend of head and data, which lie behind each other
 *     receive   MPI_Improbe (any source) -> a packet of that size -> MPI_Imrecv
 *
 * Matched probes instead of receives posted beforehand: they need no length to be agreed upon and nothing to be
 * cancelled at the end, and a long message goes from MPI straight to where it is used. */
#include "pipes.h"

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
  CLASSES = 16,        /* of the pool: LINE << class bytes of room; longer packets are not kept */
  PACKETS_A_CALL = 32, /* that one call of progress takes */
  FLUSH_SECONDS = 5
};

enum { MET = 1, LEFT = 2, FAILED = 4 };

static_assert(offsetof(tt_mpi_packet, data) == LINE, "data is aligned, right behind the head");
static_assert(offsetof(tt_mpi_packet, head) + sizeof(tt_mpi_head) == LINE, "data is aligned, right behind the head");

struct tt_mpi_pipes {
  MPI_Comm comm;
  tt_mpi_owner owner;
  tt_mpi_packet *pool[CLASSES];
  /* on their way: requests that were not complete at once, each with its packet */
  MPI_Request *request;
  tt_mpi_packet **packet;
  MPI_Status *status; /* of those that complete together */
  int *done;
  int count, size;
  unsigned char *peer; /* of each rank: MET, LEFT; FAILED: a packet is lost, and it has still to be told */
  int rank_count, met, left, failed;
};

/* ---- the pool ---- */

static uint8_t class_of(size_t room) {
  uint8_t size_class = 0;
  while (size_class < CLASSES && ((size_t)LINE << size_class) < room)
    size_class++;
  return size_class;
}

tt_mpi_packet *tt_mpi_packet_get(tt_mpi_pipes *pipes, size_t room) {
  if (room > INT_MAX - LINE)
    return NULL;
  uint8_t size_class = class_of(room);
  bool pooled = size_class < CLASSES;
  tt_mpi_packet *packet = pooled ? pipes->pool[size_class] : NULL;
  if (packet) {
    pipes->pool[size_class] = packet->next;
    return packet;
  }
  size_t bytes = pooled ? (size_t)LINE << size_class : (room + LINE - 1) / LINE * LINE;
  packet = aligned_alloc(LINE, sizeof *packet + bytes);
  if (packet)
    packet->size_class = size_class;
  return packet;
}

void tt_mpi_packet_put(tt_mpi_pipes *pipes, tt_mpi_packet *packet) {
  if (packet->size_class == CLASSES) {
    free(packet);
    return;
  }
  packet->next = pipes->pool[packet->size_class];
  pipes->pool[packet->size_class] = packet;
}

static void free_pool(tt_mpi_pipes *pipes) {
  for (int n = 0; n < CLASSES; n++)
    while (pipes->pool[n]) {
      tt_mpi_packet *packet = pipes->pool[n];
      pipes->pool[n] = packet->next;
      free(packet);
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
static tutti_status make_room(tt_mpi_pipes *pipes) {
  if (pipes->count < pipes->size)
    return TUTTI_OK;
  size_t size = pipes->size ? 2 * (size_t)pipes->size : 64;
  if (!grow_array((void **)&pipes->request, size * sizeof *pipes->request) ||
      !grow_array((void **)&pipes->packet, size * sizeof(tt_mpi_packet *)) ||
      !grow_array((void **)&pipes->status, size * sizeof *pipes->status) ||
      !grow_array((void **)&pipes->done, size * sizeof *pipes->done))
    return TUTTI_ERR_MEMORY;
  pipes->size = (int)size;
  return TUTTI_OK;
}

static void mark(tt_mpi_pipes *pipes, int64_t peer, unsigned char what) {
  bool had = pipes->peer[peer] & what;
  pipes->met += what == MET && !had;
  pipes->left += what == LEFT && !had;
  pipes->failed += what == FAILED && !had;
  pipes->peer[peer] |= what;
}

/* The public interface of transports has no text. */
static void fail(tt_mpi_pipes *pipes, bool comes, int64_t peer, const char *why) {
  fprintf(stderr, "tutti: a message %s rank %" PRId64 " failed: %s\n", comes ? "from" : "to", peer, why);
  mark(pipes, peer, FAILED);
}

/* A packet that has gone, or has failed to. */
static void forget(tt_mpi_pipes *pipes, tt_mpi_packet *packet) {
  if (!packet->comes && packet->kind == TT_MPI_DATA)
    pipes->owner.sent(pipes->owner.user, packet);
  tt_mpi_packet_put(pipes, packet);
}

static tutti_status drop(tt_mpi_pipes *pipes, tt_mpi_packet *packet, int code) {
  char text[MPI_MAX_ERROR_STRING] = "?";
  int length = 0;
  PMPI_Error_string(code, text, &length);
  fail(pipes, packet->comes, packet->peer, text);
  forget(pipes, packet);
  return TUTTI_ERR_PEER;
}

/* Its request is complete. */
static void arrive(tt_mpi_pipes *pipes, tt_mpi_packet *packet) {
  int64_t peer = packet->peer;
  bool delivered = packet->comes && packet->kind != TT_MPI_BYE;
  if (delivered && pipes->owner.deliver_take(pipes->owner.user, packet) != TUTTI_OK)
    fail(pipes, true, peer, "no memory");
  if (delivered)
    return;
  if (packet->comes)
    mark(pipes, peer, LEFT);
  forget(pipes, packet);
}

/* Most are complete at once. There is room for the others. */
static tutti_status follow(tt_mpi_pipes *pipes, tt_mpi_packet *packet, MPI_Request request) {
  int complete = 0, code = PMPI_Test(&request, &complete, MPI_STATUS_IGNORE);
  if (code != MPI_SUCCESS)
    return drop(pipes, packet, code);
  if (complete) {
    arrive(pipes, packet);
    return TUTTI_OK;
  }
  pipes->request[pipes->count] = request;
  pipes->packet[pipes->count++] = packet;
  return TUTTI_OK;
}

tutti_status tt_mpi_pipes_send_take(tt_mpi_pipes *pipes, tt_mpi_packet *packet) {
  MPI_Request request;
  int bytes = (int)(sizeof packet->head + packet->bytes);
  packet->comes = false;
  mark(pipes, packet->peer, MET);
  if (make_room(pipes) != TUTTI_OK) {
    forget(pipes, packet);
    return TUTTI_ERR_MEMORY;
  }
  int code = PMPI_Isend(&packet->head, bytes, MPI_BYTE, (int)packet->peer, packet->kind, pipes->comm, &request);
  return code == MPI_SUCCESS ? follow(pipes, packet, request) : drop(pipes, packet, code);
}

/* Receives what a probe has found. */
static void receive(tt_mpi_pipes *pipes, MPI_Message *message, const MPI_Status *found) {
  MPI_Request request;
  int bytes = 0;
  PMPI_Get_count(found, MPI_BYTE, &bytes);
  tutti_status status = make_room(pipes);
  tt_mpi_packet *packet = status != TUTTI_OK ? NULL : tt_mpi_packet_get(pipes, (size_t)bytes - sizeof packet->head);
  if (!packet) {
    fail(pipes, true, found->MPI_SOURCE, "no memory");
    return;
  }
  packet->bytes = (size_t)bytes - sizeof packet->head;
  packet->peer = found->MPI_SOURCE;
  packet->kind = (uint8_t)found->MPI_TAG;
  packet->comes = true;
  mark(pipes, packet->peer, MET);
  int code = PMPI_Imrecv(&packet->head, bytes, MPI_BYTE, message, &request);
  if (code == MPI_SUCCESS)
    follow(pipes, packet, request);
  else
    drop(pipes, packet, code);
}

static tutti_status receive_all(tt_mpi_pipes *pipes) {
  for (int n = 0; n < PACKETS_A_CALL; n++) {
    MPI_Message message;
    MPI_Status found;
    int here = 0;
    if (PMPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, pipes->comm, &here, &message, &found) != MPI_SUCCESS)
      return TUTTI_ERR_SYSTEM;
    if (!here)
      break;
    receive(pipes, &message, &found);
  }
  return TUTTI_OK;
}

/* Forgets those that have arrived. */
static void close_ranks(tt_mpi_pipes *pipes) {
  int kept = 0;
  for (int n = 0; n < pipes->count; n++)
    if (pipes->packet[n]) {
      pipes->request[kept] = pipes->request[n];
      pipes->packet[kept++] = pipes->packet[n];
    }
  pipes->count = kept;
}

static tutti_status complete(tt_mpi_pipes *pipes) {
  int count = 0, code = PMPI_Testsome(pipes->count, pipes->request, &count, pipes->done, pipes->status);
  if (code != MPI_SUCCESS && code != MPI_ERR_IN_STATUS)
    return TUTTI_ERR_SYSTEM;
  for (int n = 0; n < count; n++) {
    tt_mpi_packet *packet = pipes->packet[pipes->done[n]];
    int error = code == MPI_SUCCESS ? MPI_SUCCESS : pipes->status[n].MPI_ERROR;
    if (error == MPI_SUCCESS)
      arrive(pipes, packet);
    else
      drop(pipes, packet, error);
    pipes->packet[pipes->done[n]] = NULL;
  }
  if (count > 0)
    close_ranks(pipes);
  return TUTTI_OK;
}

/* Each rank of which a packet is lost, one at a time. */
static tutti_status tell_failed(tt_mpi_pipes *pipes, int64_t *peer) {
  int r = 0;
  if (pipes->failed == 0)
    return TUTTI_OK;
  while (!(pipes->peer[r] & FAILED))
    r++;
  pipes->peer[r] &= (unsigned char)~FAILED;
  pipes->failed--;
  *peer = r;
  return TUTTI_ERR_PEER;
}

tutti_status tt_mpi_pipes_progress(tt_mpi_pipes *pipes, int64_t *peer) {
  tutti_status status = receive_all(pipes);
  if (status == TUTTI_OK && pipes->count > 0)
    status = complete(pipes);
  return status == TUTTI_OK ? tell_failed(pipes, peer) : status;
}

/* ---- begin and end ---- */

tutti_status tt_mpi_pipes_create(MPI_Comm comm, const tt_mpi_owner *owner, tt_mpi_pipes **pipes) {
  tt_mpi_pipes *made = calloc(1, sizeof *made);
  int count = 0;
  bool refused =
      PMPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN) != MPI_SUCCESS || PMPI_Comm_size(comm, &count) != MPI_SUCCESS;
  if (!made || refused || !(made->peer = calloc((size_t)count, sizeof *made->peer))) {
    free(made);
    return refused ? TUTTI_ERR_SYSTEM : TUTTI_ERR_MEMORY;
  }
  made->comm = comm;
  made->owner = *owner;
  made->rank_count = count;
  *pipes = made;
  return TUTTI_OK;
}

static tutti_status say_goodbye(tt_mpi_pipes *pipes, int64_t peer) {
  tt_mpi_packet *packet = tt_mpi_packet_get(pipes, 0);
  if (!packet)
    return TUTTI_ERR_MEMORY;
  packet->peer = peer;
  packet->kind = TT_MPI_BYE;
  packet->bytes = 0;
  packet->head = (tt_mpi_head){.stream = 0};
  return tt_mpi_pipes_send_take(pipes, packet);
}

static time_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

void tt_mpi_pipes_flush(tt_mpi_pipes *pipes) {
  time_t until = now() + FLUSH_SECONDS;
  int64_t peer = -1;
  tutti_status status = tt_mpi_pipes_progress(pipes, &peer);
  for (int r = 0; r < pipes->rank_count && status == TUTTI_OK; r++)
    if (pipes->peer[r] & MET)
      status = say_goodbye(pipes, r);
  while ((pipes->count > 0 || pipes->left < pipes->met) && now() <= until && status == TUTTI_OK) {
    status = tt_mpi_pipes_progress(pipes, &peer);
    sched_yield();
  }
}

/* MPI may still use a packet whose request it has not completed: that memory stays. */
void tt_mpi_pipes_destroy(tt_mpi_pipes *pipes) {
  for (int n = 0; n < pipes->count; n++)
    PMPI_Request_free(&pipes->request[n]);
  free_pool(pipes);
  free(pipes->peer);
  free(pipes->request);
  free(pipes->packet);
  free(pipes->status);
  free(pipes->done);
  free(pipes);
}
