/* agree/notes.c - what ranks of different machines tell each other beside a call's data: they share no boards.
 *
 *     question   "what did you call?"       by whoever has waited long, or has found another call's data
 *     record     the answer; it goes to a copy of the other rank's board, where record.c and agree.c look
 *     verdict    "the communicator is broken, because ..."
 *     stop       what refuse.c says of refused calls; the last one is "I have destroyed the communicator", too
 *     seek       "have you destroyed it?", to a rank that heard of nothing before; left: the answer, "yes"
 *
 * Notes travel through streams of their own between every two ranks, opened when a wait has become long or something is
 * wrong, and taken in while this rank waits: nothing of this happens in a call that goes well. Those of a communicator
 * serve its side communicators too. A long wait may be a
 * good one: then only some ranks are asked at a time, each rank asking others, since each may cost a connection. A note
 * that finds no free slot is left out: questions are asked again, and what is said once has a stream to itself. Who is
 * sought may have the communicator no more, so that this goes by the hidden one. */
#include "agree/parts.h"

#include <assert.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTEN_NS 20000000 /* of waiting, before notes are looked for; then as often as */
#define LOOK_NS 5000000
#define ASK_NS 500000000 /* before others are asked; and then again after */
#define ASK_AGAIN_NS 2000000000
#define ASK_AT_ONCE 16    /* ranks of other machines */
#define SEND_NS 300000000 /* for verdicts to leave: who has not been met is called first */

typedef enum kind { TALK, ONCE, KINDS } kind; /* of streams */
typedef enum talk {
  QUESTION,
  RECORD,
  STOP, /* say yours too */
  STOP_TOO,
  SEEK,
  LEFT,
  VERDICT, /* by ONCE, as the next */
  LAST_STOP
} talk;

typedef struct note {
  uint64_t number, init; /* of the call; of the persistent request that it is a start of, or 0. SEEK, LEFT: number: the
                            communicator's */
  uint32_t talk, status;
  union {
    tt_record record;
    tt_stop stop;
    char text[TT_VERDICT_TEXT];
  } of;
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
  assert(!comm->side.main); /* those have none of their own */
  if (!comm->agree.notes)
    comm->agree.notes = calloc(1, sizeof *comm->agree.notes + (size_t)comm->size * sizeof comm->agree.notes->end[0]);
  return comm->agree.notes != NULL;
}

static tutti_stream *open_end(const tutti_comm *comm, kind of, int64_t rank, bool out, tutti_stream **end) {
  assert(comm->far[rank]); /* who is here reads the board */
  int64_t from = comm->job_rank[out ? comm->rank : rank], to = comm->job_rank[out ? rank : comm->rank];
  const tutti_stream_spec spec = {.id = (comm->id << 32) + UINT32_MAX - 16 - of, /* lanes are fewer */
                                  .source = from,
                                  .readers = &to,
                                  .reader_count = 1,
                                  .slot_bytes_minimum = sizeof(note),
                                  .once = 2};
  if (!*end && comm->ops->stream_open(comm->transport, &spec, end) != TUTTI_OK)
    *end = NULL;
  return *end;
}

void tt_notes_close(tutti_comm *comm) {
  for (int64_t r = 0; comm->agree.notes && r < comm->size; r++)
    for (kind of = 0; of < KINDS; of++) {
      if (comm->agree.notes->end[r][of].in)
        comm->ops->stream_close(comm->transport, comm->agree.notes->end[r][of].in);
      if (comm->agree.notes->end[r][of].out)
        comm->ops->stream_close(comm->transport, comm->agree.notes->end[r][of].out);
    }
  free(comm->agree.notes);
}

static size_t bytes_of(const note *of) {
  switch ((talk)of->talk) {
  case QUESTION:
  case SEEK:
  case LEFT:
    return offsetof(note, of);
  case RECORD:
    return offsetof(note, of) + sizeof of->of.record;
  default:
    return sizeof *of;
  }
}

static void send_note(tutti_comm *comm, int64_t rank, const note *from) {
  kind of = from->talk == VERDICT || from->talk == LAST_STOP ? ONCE : TALK;
  tutti_stream *end = open_end(comm, of, rank, true, &comm->agree.notes->end[rank][of].out);
  size_t bytes = bytes_of(from), room = 0;
  assert(bytes <= sizeof *from);
  tutti_slot_header *header;
  void *data;
  if (!end || comm->ops->reserve(comm->transport, end, &header, &data, &room) != TUTTI_OK || room < bytes)
    return;
  *header = (tutti_slot_header){.call = from->number};
  memcpy(data, from, bytes);
  comm->ops->commit(comm->transport, end, bytes);
}

/* To at most so many ranks of other machines, others each time. */
static void send_notes(tutti_comm *comm, const note *from, int64_t most) {
  int64_t peer;
  for (int64_t n = 0, sent = 0; n < comm->size && sent < most; n++) {
    int64_t rank = (comm->rank + ++comm->agree.notes->next) % comm->size;
    if (comm->far[rank])
      send_note(comm, rank, from);
    sent += comm->far[rank];
  }
  comm->context->ops->progress(comm->context->transport, &peer);
}

/* ---- what has come ---- */

static note stop_note(const tutti_comm *comm, talk how) {
  assert(how == STOP || how == STOP_TOO || how == LAST_STOP);
  return (note){.talk = how, .of.stop = comm->refused.stops->own.said};
}

static void answer(tutti_comm *comm, const tutti_comm *of, int64_t rank, const note *question) {
  note own = {.number = question->number, .init = question->init, .talk = RECORD};
  if (tt_record_read(of, comm->rank, question->number, &own.of.record))
    send_note(comm, rank, &own);
}

static void take_stop(tutti_comm *comm, int64_t rank, const note *come) {
  tt_refuse_told(comm, rank, &come->of.stop);
  if (come->talk == LAST_STOP)
    tt_refuse_left(comm, rank);
  if (come->talk != STOP || !comm->refused.stops)
    return;
  const note own = stop_note(comm, STOP_TOO);
  send_note(comm, rank, &own);
}

static void take_record(tutti_comm *comm, int64_t rank, const note *come) {
  tutti_comm *of = come->init > 0 ? tt_comm_side(comm, come->init) : comm;
  if (!of) /* not made here yet, or gone */
    return;
  if (come->talk == QUESTION)
    answer(comm, of, rank, come);
  else
    tt_record_keep(of, rank, &come->of.record);
}

/* ---- who has destroyed a communicator ---- */

/* By 32 numbers each a word of bits, as a pointer; numbers mostly follow one another. */
static uintptr_t bit_of(uint64_t id) { return (uintptr_t)1 << id % 32; }

static bool is_left(const tutti_context *context, uint64_t id) {
  return (uintptr_t)tt_index_find(&context->made.left, id / 32) & bit_of(id);
}

/* Without memory others wait until this rank leaves the job. */
static void remember(tutti_context *context, uint64_t id) {
  uintptr_t word = (uintptr_t)tt_index_find(&context->made.left, id / 32);
  tt_index_set(&context->made.left, id / 32, (void *)(word | bit_of(id)));
}

void tt_notes_make(tutti_context *context, uint64_t id) {
  if (!is_left(context, id))
    return;
  uintptr_t word = (uintptr_t)tt_index_find(&context->made.left, id / 32) & ~bit_of(id);
  tt_index_remove(&context->made.left, id / 32);
  if (word)
    tt_index_set(&context->made.left, id / 32, (void *)word);
}

static void take_seek(tutti_comm *control, int64_t rank, const note *come) {
  const note own = {.number = come->number, .talk = LEFT};
  if (is_left(control->context, come->number))
    send_note(control, rank, &own);
}

static void take_left(const tutti_comm *control, int64_t job_rank, const note *come) {
  const tutti_comm *comm = tt_index_find(&control->context->made.by_number, come->number);
  int64_t rank = comm ? tt_comm_rank_of(comm, job_rank) : -1;
  if (rank >= 0 && comm->refused.stops && comm->far[rank])
    tt_refuse_left(comm, rank);
}

static void take_note(tutti_comm *comm, int64_t rank, const note *come) {
  switch ((talk)come->talk) {
  case VERDICT:
    tt_agree_adopt(comm, (tutti_status)come->status, come->of.text);
    return;
  case QUESTION:
  case RECORD:
    take_record(comm, rank, come);
    return;
  case SEEK:
    take_seek(comm, rank, come);
    return;
  case LEFT:
    take_left(comm, rank, come);
    return;
  default:
    take_stop(comm, rank, come);
  }
}

static void look_at(tutti_comm *comm, kind of, int64_t rank) {
  tutti_stream *end = open_end(comm, of, rank, false, &comm->agree.notes->end[rank][of].in);
  const tutti_slot_header *header = NULL;
  const void *data;
  size_t bytes;
  note come = {.number = 0};
  while (end && comm->ops->peek(comm->transport, end, &header, &data, &bytes) == TUTTI_OK && header) {
    memcpy(&come, data, bytes < sizeof come ? bytes : sizeof come);
    if (comm->ops->release(comm->transport, end) != TUTTI_OK)
      return;
    take_note(comm, rank, &come);
  }
}

void tt_notes_receive(tutti_comm *asking) {
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
  const note question = {.number = asking->side.main ? 1 : number, .init = asking->side.init, .talk = QUESTION};
  send_notes(tt_comm_main(asking), &question, most);
}

void tt_notes_stop(tutti_comm *comm, bool asks) {
  note own = stop_note(comm, asks ? STOP : STOP_TOO);
  if (make_notes(comm))
    send_notes(comm, &own, comm->size);
}

void tt_notes_seek(const tutti_comm *comm, int64_t rank) {
  tutti_comm *control = comm->context->made.control;
  const note question = {.number = comm->id, .talk = SEEK};
  assert(comm != control);
  if (make_notes(control))
    send_note(control, comm->job_rank[rank], &question);
}

void tt_notes_leave(tutti_comm *comm) {
  if (!comm->refused.stops) {
    remember(comm->context, comm->id);
    return;
  }
  const note own = stop_note(comm, LAST_STOP);
  if (make_notes(comm))
    send_notes(comm, &own, comm->size);
}

void tt_notes_ask(tutti_comm *asking, uint64_t number) {
  if (make_notes(tt_comm_main(asking)))
    ask(asking, number, asking->size);
}

static bool is_unsent(const tutti_comm *comm) {
  for (int64_t r = 0; comm->ops->unsent && r < comm->size; r++) {
    tutti_stream *out = comm->agree.notes->end[r][ONCE].out;
    if (out && comm->ops->unsent(comm->transport, out) > 0)
      return true;
  }
  return false;
}

/* This rank may compute for long now. Not one time for each of many communicators that break together. */
static void send_off(tutti_comm *comm) {
  tutti_context *context = comm->context;
  int64_t began_ns = tt_clock_ns(), now_ns = began_ns, peer;
  if (began_ns - context->made.told_ns < SEND_NS)
    return;
  for (; is_unsent(comm) && now_ns - began_ns < SEND_NS; now_ns = tt_clock_ns()) {
    sched_yield();
    context->ops->progress(context->transport, &peer);
  }
  context->made.told_ns = now_ns;
}

void tt_notes_break(tutti_comm *asking, tutti_status status, const char *why) {
  tutti_comm *comm = tt_comm_main(asking);
  note verdict = {.talk = VERDICT, .status = (uint32_t)status};
  snprintf(verdict.of.text, sizeof verdict.of.text, "%s", why);
  if (!make_notes(comm))
    return;
  send_notes(comm, &verdict, comm->size);
  send_off(comm);
}

void tt_notes_look(tutti_comm *asking, uint64_t number, int64_t waited_ns, int64_t now) {
  tutti_comm *comm = tt_comm_main(asking);
  if (waited_ns < LISTEN_NS || !make_notes(comm) || now - comm->agree.notes->looked_ns < LOOK_NS)
    return;
  comm->agree.notes->looked_ns = now;
  tt_notes_receive(comm);
  bool again = comm->agree.notes->asked == number && comm->agree.notes->asked_init == asking->side.init;
  if (waited_ns < ASK_NS || (again && now - comm->agree.notes->asked_ns < ASK_AGAIN_NS))
    return;
  comm->agree.notes->asked = number;
  comm->agree.notes->asked_init = asking->side.init;
  comm->agree.notes->asked_ns = now;
  ask(asking, number, ASK_AT_ONCE);
}
