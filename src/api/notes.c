/* api/notes.c - what ranks of different machines tell each other beside a call's data: they share no boards.
 *
 *     question   "what did you call?"       by whoever has waited long, or has found another call's data
 *     record     the answer; it goes to a copy of the other rank's board, where record.c and agree.c look
 *     verdict    "the communicator is broken, because ..."
 *
 * Notes travel through streams of their own between every two ranks, opened when a wait has become long or something is
 * wrong, and taken in while this rank waits: nothing of this happens in a call that goes well. Those of a communicator
 * serve its side communicators too. A long wait may be a
 * good one: then only some ranks are asked at a time, each rank asking others, since each may cost a connection. A note
 * that finds no free slot is left out: questions are asked again, and a verdict has a stream to itself. */
#include "api/record.h"
#include "api/refuse.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTEN_NS 20000000 /* of waiting, before notes are looked for; then as often as */
#define LOOK_NS 5000000
#define ASK_NS 500000000 /* before others are asked; and then again after */
#define ASK_AGAIN_NS 2000000000
#define ASK_AT_ONCE 16 /* ranks of other machines */

typedef enum kind { TALK, VERDICT, KINDS } kind;             /* of streams */
typedef enum talk { QUESTION, RECORD, STOP, STOP_TOO } talk; /* STOP: say yours too */

typedef struct note {
  uint64_t number, init; /* of the call; of the persistent request that it is a start of, or 0 */
  uint32_t talk, status;
  tt_record_words record;
  tt_stop stop; /* number: its tag */
  char text[TT_VERDICT_TEXT];
} note;

struct tt_notes {
  int64_t looked_ns, asked_ns;
  uint64_t asked, asked_init; /* the call that others were asked of last */
  int64_t next;               /* who gets the next note: so many behind this rank */
  struct {
    tutti_stream *in, *out; /* NULL: not open */
  } end[][KINDS];           /* of each rank */
};

/* ---- streams ---- */

static bool make_notes(tutti_comm *comm) {
  if (!comm->notes)
    comm->notes = calloc(1, sizeof *comm->notes + (size_t)comm->size * sizeof comm->notes->end[0]);
  return comm->notes != NULL;
}

static tutti_stream *open_end(const tutti_comm *comm, kind of, int64_t rank, bool out, tutti_stream **end) {
  int64_t from = comm->job_rank[out ? comm->rank : rank], to = comm->job_rank[out ? rank : comm->rank];
  const tutti_stream_spec spec = {.id = (comm->id << 32) + UINT32_MAX - 16 - of, /* lanes are fewer */
                                  .source = from,
                                  .readers = &to,
                                  .reader_count = 1,
                                  .slot_bytes_minimum = sizeof(note),
                                  .once = 1};
  if (!*end && comm->ops->stream_open(comm->transport, &spec, end) != TUTTI_OK)
    *end = NULL;
  return *end;
}

void tt_notes_close(tutti_comm *comm) {
  for (int64_t r = 0; comm->notes && r < comm->size; r++)
    for (kind of = 0; of < KINDS; of++) {
      if (comm->notes->end[r][of].in)
        comm->ops->stream_close(comm->transport, comm->notes->end[r][of].in);
      if (comm->notes->end[r][of].out)
        comm->ops->stream_close(comm->transport, comm->notes->end[r][of].out);
    }
  free(comm->notes);
}

static void send_note(tutti_comm *comm, kind of, int64_t rank, const note *from) {
  tutti_stream *end = open_end(comm, of, rank, true, &comm->notes->end[rank][of].out);
  size_t bytes = of == VERDICT ? sizeof *from : offsetof(note, text), room = 0;
  tutti_slot_header *header;
  void *data;
  if (!end || comm->ops->reserve(comm->transport, end, &header, &data, &room) != TUTTI_OK || room < bytes)
    return;
  *header = (tutti_slot_header){.call = from->number};
  memcpy(data, from, bytes);
  comm->ops->commit(comm->transport, end, bytes);
}

/* To at most so many ranks of other machines, others each time. */
static void send_notes(tutti_comm *comm, kind of, const note *from, int64_t most) {
  int64_t peer;
  for (int64_t n = 0, sent = 0; n < comm->size && sent < most; n++) {
    int64_t rank = (comm->rank + ++comm->notes->next) % comm->size;
    if (comm->far[rank])
      send_note(comm, of, rank, from);
    sent += comm->far[rank];
  }
  comm->context->ops->progress(comm->context->transport, &peer);
}

/* ---- what has come ---- */

static note stop_note(const tutti_comm *comm, uint64_t tag, talk how) {
  return (note){.number = tag, .talk = how, .stop = comm->board[comm->rank]->stop[(tag - 1) & 1]};
}

static void send_stop(tutti_comm *comm, int64_t rank, uint64_t tag, talk how) {
  note own = stop_note(comm, tag, how);
  if (own.stop.seen_in == tag || own.stop.ended_in == tag)
    send_note(comm, TALK, rank, &own);
}

static void answer(tutti_comm *comm, const tutti_comm *of, int64_t rank, const note *question) {
  note own = {.number = question->number, .init = question->init, .talk = RECORD};
  if (tt_record_read(of, comm->rank, question->number, &own.record.record))
    send_note(comm, TALK, rank, &own);
}

/* Whoever asks may be an epoch behind. */
static void take_stop(tutti_comm *comm, int64_t rank, const note *come) {
  tt_record_make(comm, rank);
  if (comm->board[rank])
    tt_refuse_told(comm, rank, come->number, &come->stop);
  if (come->talk == STOP)
    send_stop(comm, rank, come->number, STOP_TOO);
}

static void take_note(tutti_comm *comm, kind what, int64_t rank, const note *come) {
  if (what == VERDICT) {
    tt_agree_take(comm, (tutti_status)come->status, come->text);
    return;
  }
  if (come->talk == STOP || come->talk == STOP_TOO) {
    take_stop(comm, rank, come);
    return;
  }
  tutti_comm *of = come->init > 0 ? tt_side_find(comm, come->init) : comm;
  if (!of) /* not made here yet, or gone */
    return;
  if (come->talk == QUESTION)
    answer(comm, of, rank, come);
  else
    tt_record_keep(of, rank, &come->record);
}

static void look_at(tutti_comm *comm, kind of, int64_t rank) {
  tutti_stream *end = open_end(comm, of, rank, false, &comm->notes->end[rank][of].in);
  const tutti_slot_header *header = NULL;
  const void *data;
  size_t bytes;
  note come = {.number = 0};
  while (end && comm->ops->peek(comm->transport, end, &header, &data, &bytes) == TUTTI_OK && header) {
    memcpy(&come, data, bytes < sizeof come ? bytes : sizeof come);
    if (comm->ops->release(comm->transport, end) != TUTTI_OK)
      return;
    take_note(comm, of, rank, &come);
  }
}

void tt_notes_take(tutti_comm *asking) {
  tutti_comm *comm = tt_comm_main(asking);
  int64_t peer;
  if (!make_notes(comm))
    return;
  comm->context->ops->progress(comm->context->transport, &peer);
  for (int64_t r = 0; r < comm->size; r++)
    for (kind of = 0; of < KINDS && comm->far[r]; of++)
      look_at(comm, of, r);
}

/* ---- what is told ---- */

/* Of a persistent request any start will do: its record says which is the last. */
static void ask(tutti_comm *asking, uint64_t number, int64_t most) {
  const note question = {.number = asking->main ? 1 : number, .init = asking->init, .talk = QUESTION};
  send_notes(tt_comm_main(asking), TALK, &question, most);
}

void tt_notes_stop(tutti_comm *comm, uint64_t tag, bool asks) {
  note own = stop_note(comm, tag, asks ? STOP : STOP_TOO);
  if (make_notes(comm))
    send_notes(comm, TALK, &own, comm->size);
}

void tt_notes_ask(tutti_comm *asking, uint64_t number) {
  if (make_notes(tt_comm_main(asking)))
    ask(asking, number, asking->size);
}

void tt_notes_break(tutti_comm *asking, tutti_status status, const char *why) {
  tutti_comm *comm = tt_comm_main(asking);
  note verdict = {.status = (uint32_t)status};
  snprintf(verdict.text, sizeof verdict.text, "%s", why);
  if (make_notes(comm))
    send_notes(comm, VERDICT, &verdict, comm->size);
}

void tt_notes_look(tutti_comm *asking, uint64_t number, int64_t waited_ns, int64_t now) {
  tutti_comm *comm = tt_comm_main(asking);
  if (waited_ns < LISTEN_NS || !make_notes(comm) || now - comm->notes->looked_ns < LOOK_NS)
    return;
  comm->notes->looked_ns = now;
  tt_notes_take(comm);
  bool again = comm->notes->asked == number && comm->notes->asked_init == asking->init;
  if (waited_ns < ASK_NS || (again && now - comm->notes->asked_ns < ASK_AGAIN_NS))
    return;
  comm->notes->asked = number;
  comm->notes->asked_init = asking->init;
  comm->notes->asked_ns = now;
  ask(asking, number, ASK_AT_ONCE);
}
