/* examples/sockets.c - a boot and a transport of one's own, on installed headers alone.
 *
 *     cc examples/sockets.c -o sockets $(pkg-config --cflags --libs tutti) && ./sockets 3
 *
 * The program starts its ranks itself, with a Unix stream socket between every two of them. The boot is an allgather
 * over these; the transport sends frames over them. It has the mandatory functions only. A stream has one slot: it is
 * free for the writer again when the reader's word has come that it is released.
 *
 *     writer   reserve, commit --- DATA, id, header, bytes --> peek, release   reader
 *              free again      <-- RELEASED, id ----------------------'
 *
 * ./sockets 3 mismatch: rank 0 calls something else than the others, and all are told so. */
#include <tutti/tutti.h>

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RANKS = 16, LINE = 64 };

typedef struct mesh { /* one rank's sockets to all others */
  int64_t rank, count;
  int fd[RANKS];
} mesh;

/* ---- the boot: everyone writes to everyone, then reads from everyone ---- */

static tutti_status boot_allgather(void *user, const void *mine, void *all, size_t bytes, int64_t timeout_ns,
                                   char *missing, size_t missing_size) {
  const mesh *of = user;
  struct timeval timeout = {(time_t)(timeout_ns / 1000000000), 1};
  memcpy((char *)all + (size_t)of->rank * bytes, mine, bytes);
  for (int64_t r = 0; r < of->count; r++)
    if (r != of->rank && send(of->fd[r], mine, bytes, MSG_NOSIGNAL) != (ssize_t)bytes)
      return TUTTI_ERR_PEER;
  for (int64_t r = 0; r < of->count; r++) {
    if (r == of->rank)
      continue;
    setsockopt(of->fd[r], SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    if (recv(of->fd[r], (char *)all + (size_t)r * bytes, bytes, MSG_WAITALL) == (ssize_t)bytes)
      continue;
    if (missing)
      snprintf(missing, missing_size, "%d", (int)r);
    return errno == EAGAIN ? TUTTI_ERR_TIMEOUT : TUTTI_ERR_PEER;
  }
  return TUTTI_OK;
}

/* ---- frames, and bytes on their way ---- */

typedef enum frame_kind { DATA, RELEASED } frame_kind;

typedef struct frame { /* in front of `bytes` bytes */
  uint64_t kind, id, bytes;
  tutti_slot_header header;
} frame;

typedef struct queue {
  char *at;
  size_t used, size;
} queue;

typedef struct wire { /* to one peer */
  int fd;
  int deaf; /* it has closed its end; what it sent before that may still be here */
  int gone; /* and all of that has been read */
  queue in, out;
} wire;

struct tutti_stream {
  uint64_t id;
  int64_t peer;
  int writes; /* this rank is the source */
  int full;   /* writer: sent and not released; reader: come and not released */
  tutti_slot_header header;
  void *data;
  size_t bytes, room;
  tutti_stream *next;
};

typedef struct sockets { /* what open makes */
  int64_t rank, count;
  wire wire[RANKS];
  tutti_stream *streams;
} sockets;

static int queue_room(queue *of, size_t bytes) {
  if (of->size - of->used >= bytes)
    return 1;
  size_t size = 2 * (of->used + bytes);
  char *at = realloc(of->at, size);
  if (at) {
    of->at = at;
    of->size = size;
  }
  return at != NULL;
}

static void queue_drop(queue *of, size_t bytes) {
  memmove(of->at, of->at + bytes, of->used - bytes);
  of->used -= bytes;
}

/* Sends what the socket takes now. */
static void push(wire *to) {
  ssize_t sent = 1;
  while (!to->deaf && to->out.used > 0 && sent > 0) {
    sent = send(to->fd, to->out.at, to->out.used, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0)
      queue_drop(&to->out, (size_t)sent);
    else if (errno != EAGAIN && errno != EINTR)
      to->deaf = 1;
  }
  if (to->deaf)
    to->out.used = 0;
}

static tutti_status put(wire *to, const frame *head, const void *data) {
  if (!queue_room(&to->out, sizeof *head + head->bytes))
    return TUTTI_ERR_MEMORY;
  memcpy(to->out.at + to->out.used, head, sizeof *head);
  if (head->bytes > 0)
    memcpy(to->out.at + to->out.used + sizeof *head, data, head->bytes);
  to->out.used += sizeof *head + head->bytes;
  push(to);
  return TUTTI_OK;
}

/* ---- streams ---- */

/* The end of that name; made where there is none, since a peer may send before this rank has opened. */
static tutti_stream *find(sockets *self, uint64_t id, int64_t peer, int writes, size_t room) {
  tutti_stream *stream = self->streams;
  while (stream && (stream->id != id || stream->peer != peer || stream->writes != writes))
    stream = stream->next;
  if (!stream && (stream = calloc(1, sizeof *stream))) {
    *stream = (tutti_stream){.id = id, .peer = peer, .writes = writes, .next = self->streams};
    self->streams = stream;
  }
  if (stream && stream->room < room) {
    free(stream->data);
    stream->data = aligned_alloc(LINE, (room + LINE - 1) / LINE * LINE);
    stream->room = stream->data ? room : 0;
  }
  return stream && stream->room >= room ? stream : NULL;
}

static tutti_status stream_open(void *self, const tutti_stream_spec *spec, tutti_stream **stream) {
  sockets *all = self;
  int writes = spec->source == all->rank;
  int64_t peer = writes ? spec->readers[0] : spec->source;
  /* What has come already stays where it is. */
  *stream = find(all, spec->id, peer, writes, writes ? spec->slot_bytes_minimum : 0);
  return *stream ? TUTTI_OK : TUTTI_ERR_MEMORY;
}

static void stream_close(void *self, tutti_stream *stream) {
  tutti_stream **at = &((sockets *)self)->streams;
  while (*at != stream)
    at = &(*at)->next;
  *at = stream->next;
  free(stream->data);
  free(stream);
}

static tutti_status reserve(void *self, tutti_stream *stream, tutti_slot_header **header, void **data, size_t *room) {
  *room = stream->full ? 0 : stream->room;
  *header = &stream->header;
  *data = stream->data;
  return stream->full && ((sockets *)self)->wire[stream->peer].gone ? TUTTI_ERR_PEER : TUTTI_OK;
}

static tutti_status commit(void *self, tutti_stream *stream, size_t bytes) {
  frame head = {DATA, stream->id, bytes, stream->header};
  stream->full = 1;
  return put(&((sockets *)self)->wire[stream->peer], &head, stream->data);
}

/* Who looks for a slot that has not come waits for its peer: then it matters that it is gone. */
static tutti_status peek(void *self, tutti_stream *stream, const tutti_slot_header **header, const void **data,
                         size_t *bytes) {
  *header = stream->full ? &stream->header : NULL;
  *data = stream->data;
  *bytes = stream->bytes;
  return !stream->full && ((sockets *)self)->wire[stream->peer].gone ? TUTTI_ERR_PEER : TUTTI_OK;
}

static tutti_status release(void *self, tutti_stream *stream) {
  frame head = {RELEASED, stream->id, 0, {0, 0}};
  stream->full = 0;
  return put(&((sockets *)self)->wire[stream->peer], &head, NULL);
}

/* ---- the transport ---- */

static tutti_status deliver(sockets *self, int64_t peer, const frame *head, const char *data) {
  tutti_stream *stream = find(self, head->id, peer, head->kind == RELEASED, head->bytes);
  if (!stream)
    return TUTTI_ERR_MEMORY;
  stream->full = head->kind == DATA;
  if (head->kind == RELEASED)
    return TUTTI_OK;
  stream->header = head->header;
  stream->bytes = head->bytes;
  memcpy(stream->data, data, head->bytes);
  return TUTTI_OK;
}

/* Delivers the frames that are whole. */
static tutti_status unpack(sockets *self, int64_t peer) {
  queue *in = &self->wire[peer].in;
  tutti_status status = TUTTI_OK;
  size_t done = 0;
  frame head;
  while (status == TUTTI_OK && in->used - done >= sizeof head) {
    memcpy(&head, in->at + done, sizeof head);
    if (in->used - done - sizeof head < head.bytes)
      break;
    status = deliver(self, peer, &head, in->at + done + sizeof head);
    done += sizeof head + head.bytes;
  }
  queue_drop(in, done);
  return status;
}

/* Receives what has come. */
static tutti_status pull(sockets *self, int64_t peer) {
  wire *from = &self->wire[peer];
  if (!queue_room(&from->in, 65536))
    return TUTTI_ERR_MEMORY;
  ssize_t come = recv(from->fd, from->in.at + from->in.used, 65536, MSG_DONTWAIT);
  if (come == 0 || (come < 0 && errno != EAGAIN && errno != EINTR))
    from->gone = 1;
  if (come <= 0)
    return TUTTI_OK;
  from->in.used += (size_t)come;
  return unpack(self, peer);
}

static tutti_status progress(void *self, int64_t *peer) {
  sockets *all = self;
  tutti_status status = TUTTI_OK;
  (void)peer; /* named by those who wait for it */
  for (int64_t r = 0; r < all->count && status == TUTTI_OK; r++)
    if (r != all->rank && !all->wire[r].gone) {
      push(&all->wire[r]);
      status = pull(all, r);
    }
  return status;
}

static tutti_status open_sockets(const void *config, const tutti_boot *boot, void **self) {
  const mesh *of = config;
  sockets *made = calloc(1, sizeof *made);
  if (!made)
    return TUTTI_ERR_MEMORY;
  made->rank = boot->rank;
  made->count = boot->rank_count;
  for (int64_t r = 0; r < made->count; r++)
    made->wire[r].fd = of->fd[r];
  *self = made;
  return TUTTI_OK;
}

/* What was committed is delivered: those who wait for it read. */
static void flush(sockets *self) {
  int64_t peer;
  for (int64_t r = 0; r < self->count; r++)
    while (self->wire[r].out.used > 0 && progress(self, &peer) == TUTTI_OK)
      poll(&(struct pollfd){self->wire[r].fd, POLLIN | POLLOUT, 0}, 1, 100);
}

static void close_sockets(void *self) {
  sockets *all = self;
  if (!all)
    return;
  flush(all);
  while (all->streams)
    stream_close(all, all->streams);
  for (int64_t r = 0; r < all->count; r++) {
    free(all->wire[r].in.at);
    free(all->wire[r].out.at);
  }
  free(all);
}

static const tutti_transport_ops transport = {.size = sizeof(tutti_transport_ops),
                                              .name = "sockets",
                                              .open = open_sockets,
                                              .close = close_sockets,
                                              .stream_open = stream_open,
                                              .stream_close = stream_close,
                                              .reserve = reserve,
                                              .commit = commit,
                                              .peek = peek,
                                              .release = release,
                                              .progress = progress};

/* ---- a job ---- */

enum { COUNT = 100000 };

static void check(int right, const char *what) {
  if (!right) {
    fprintf(stderr, "sockets: %s: %s\n", what, tutti_last_error());
    exit(1);
  }
}

static void run_collectives(tutti_comm *comm) {
  int64_t rank = tutti_comm_rank(comm), size = tutti_comm_size(comm);
  static double in[RANKS * COUNT], out[RANKS * COUNT];
  for (int64_t n = 0; n < size * COUNT; n++)
    in[n] = (double)(rank + n);
  check(tutti_barrier(comm) == TUTTI_OK, "barrier");
  check(tutti_allreduce(in, out, COUNT, TUTTI_FLOAT64, TUTTI_MAX, comm) == TUTTI_OK, "allreduce");
  check(out[0] == (double)(size - 1) && out[COUNT - 1] == (double)(size + COUNT - 2), "allreduce's result");
  check(tutti_broadcast(in, out, COUNT, TUTTI_FLOAT64, size - 1, comm) == TUTTI_OK, "broadcast");
  check(out[0] == (double)(size - 1) && out[COUNT - 1] == (double)(size + COUNT - 2), "broadcast's result");
  check(tutti_allgather(in, out, COUNT, TUTTI_FLOAT64, comm) == TUTTI_OK, "allgather");
  for (int64_t r = 0; r < size; r++)
    check(out[r * COUNT] == (double)r && out[r * COUNT + COUNT - 1] == (double)(r + COUNT - 1), "allgather's result");
  check(tutti_reduce_scatter(in, out, COUNT, TUTTI_FLOAT64, TUTTI_AVERAGE, comm) == TUTTI_OK, "reduce-scatter");
  check(out[0] == (double)(rank * COUNT) + (double)(size - 1) / 2, "reduce-scatter's result");
}

static void run_mismatch(tutti_comm *comm) {
  static double in[COUNT], out[COUNT];
  int64_t count = tutti_comm_rank(comm) == 0 ? 10 : 11;
  tutti_status status = tutti_allreduce(in, out, count, TUTTI_FLOAT64, TUTTI_SUM, comm);
  check(status == TUTTI_ERR_MISMATCH, tutti_status_name(status));
  check(tutti_barrier(comm) == TUTTI_ERR_MISMATCH, "a later call");
}

static void run_rank(mesh *of, int mismatch) {
  tutti_boot boot = {sizeof boot, of->rank, of->count, of, boot_allgather};
  tutti_context *context;
  tutti_comm *comm;
  tutti_context_options options;
  tutti_context_options_init(&options);
  options.boot = &boot;
  options.transport = &transport;
  options.transport_config = of;
  check(tutti_context_create(&options, &context) == TUTTI_OK, "context");
  check(tutti_comm_create(context, &comm) == TUTTI_OK, "communicator");
  (mismatch ? run_mismatch : run_collectives)(comm);
  if (of->rank == 0)
    printf("%d ranks: %s\n", (int)of->count, mismatch ? tutti_last_error() : "all results are right");
  tutti_comm_destroy(comm);
  tutti_context_destroy(context);
}

/* Keeps rank's ends of all pairs. */
static mesh own_mesh(int pair[RANKS][RANKS][2], int64_t rank, int64_t count) {
  mesh own = {.rank = rank, .count = count};
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b < a; b++)
      for (int end = 0; end < 2; end++) {
        if ((end ? b : a) == rank)
          own.fd[end ? a : b] = pair[a][b][end];
        else
          close(pair[a][b][end]);
      }
  return own;
}

int main(int argc, char **argv) {
  int pair[RANKS][RANKS][2], failed = 0, status;
  int64_t count = argc > 1 ? atoi(argv[1]) : 3;
  if (count < 1 || count > RANKS)
    return fprintf(stderr, "usage: sockets [ranks, at most %d] [mismatch]\n", RANKS), 2;
  for (int64_t a = 0; a < count; a++)
    for (int64_t b = 0; b < a; b++)
      check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair[a][b]) == 0, "socketpair");
  for (int64_t r = 0; r < count; r++)
    if (fork() == 0) {
      mesh own = own_mesh(pair, r, count);
      run_rank(&own, argc > 2);
      return 0;
    }
  own_mesh(pair, -1, count);
  while (wait(&status) > 0)
    failed |= status != 0;
  return failed;
}
