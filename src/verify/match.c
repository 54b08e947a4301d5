/* verify/match.c - which receive gets which send.
 *
 * A stream is (lane id, source, reader). The n-th step that sends into it meets the n-th that receives from it: both
 * lists stand in the plans, so the pairs are known before anything runs. Both must speak of the same block, message
 * bounds and round; at the end each stream is empty. A published lane is one list of sends that each of its readers has
 * whole. */
#include "verify/proof.h"

#include <assert.h>

typedef struct stream {
  uint32_t id, source, reader;
  uint32_t send_lane, recv_lane; /* TT_NONE: no such lane so far; send_lane of an empty entry is TT_NONE */
  uint32_t last;                 /* send */
  uint32_t next;                 /* send that the reader gets next */
} stream;

typedef struct matcher {
  tt_proof *proof;
  stream *stream; /* hash table, open addressing */
  uint32_t mask;
  uint64_t seed;       /* of its hashes: a text that knew it could have all streams meet */
  uint32_t *next_send; /* in the stream of each send */
} matcher;

static stream *slot_of(const matcher *match, uint32_t id, uint32_t source, uint32_t reader) {
  const uint32_t key[] = {id, source, reader};
  for (uint32_t at = (uint32_t)tt_hash(match->seed, key, sizeof key);; at++) {
    stream *found = &match->stream[at & match->mask];
    if (found->send_lane == TT_NONE || (found->id == id && found->source == source && found->reader == reader))
      return found;
  }
}

/* The stream from a send lane to one reader, NULL where another lane of the same id has it. */
static stream *open_stream(const matcher *match, uint32_t lane, uint32_t reader) {
  const tt_proof_lane *of = &match->proof->lane[lane];
  stream *found = slot_of(match, of->lane->id, of->rank, reader);
  if (found->send_lane == TT_NONE)
    *found = (stream){of->lane->id, of->rank, reader, lane, TT_NONE, TT_NONE, TT_NONE};
  return found->send_lane == lane ? found : NULL;
}

/* Adds a send to the end of a list that ends with `last`. */
static void append_send(const matcher *match, uint32_t step, uint32_t last) {
  tt_proof *proof = match->proof;
  if (last != TT_NONE)
    match->next_send[last] = step;
  match->next_send[step] = TT_NONE;
  proof->message_before[step] = proof->step[step]->flags & TT_STEP_FIRST ? last : TT_NONE;
}

static tutti_status send_to_one(const matcher *match, uint32_t lane, uint32_t step) {
  stream *to = open_stream(match, lane, (uint32_t)match->proof->step[step]->peer);
  if (to == NULL)
    return tt_verify_fail(match->proof, step, "two lanes of the rank send with id %u",
                          match->proof->lane[lane].lane->id);
  append_send(match, step, to->last);
  if (to->next == TT_NONE)
    to->next = step;
  to->last = step;
  return TUTTI_OK;
}

static tutti_status publish_to(const matcher *match, uint32_t lane, uint32_t first_send) {
  const tt_proof_lane *of = &match->proof->lane[lane];
  const int32_t *reader = match->proof->plan[of->rank]->reader + of->lane->first_reader;
  for (uint32_t n = 0; n < of->lane->reader_count; n++) {
    stream *to = open_stream(match, lane, (uint32_t)reader[n]);
    if (to == NULL)
      return tt_verify_fail(match->proof, first_send, "two lanes of the rank send with id %u", of->lane->id);
    to->next = first_send;
  }
  return TUTTI_OK;
}

static tutti_status send_lane(const matcher *match, uint32_t lane) {
  const tt_proof_lane *of = &match->proof->lane[lane];
  uint32_t first = TT_NONE, last = TT_NONE;
  tutti_status status = TUTTI_OK;
  for (uint32_t n = 0; n < of->lane->step_count && status == TUTTI_OK; n++) {
    uint32_t step = of->first_step + n;
    if (match->proof->step[step]->kind != TT_STEP_SEND)
      continue;
    if (of->lane->published)
      append_send(match, step, last);
    else
      status = send_to_one(match, lane, step);
    first = first == TT_NONE ? step : first;
    last = step;
  }
  return status == TUTTI_OK && of->lane->published ? publish_to(match, lane, first) : status;
}

/* Messages are runs of steps in a lane, so each step's end is the end of the step after it. */
static void end_messages(tt_proof *proof, const tt_proof_lane *lane) {
  for (uint32_t n = lane->lane->step_count; n-- > 0;) {
    uint32_t step = lane->first_step + n;
    bool last = (proof->step[step]->flags & TT_STEP_LAST) != 0;
    proof->message_end[step] = last || n + 1 == lane->lane->step_count ? step : proof->message_end[step + 1];
  }
}

static const char *unlike(const tt_proof *proof, uint32_t recv, uint32_t send) {
  const tt_step *to = proof->step[recv], *from = proof->step[send];
  if (to->block != from->block)
    return "another block";
  if (((to->flags ^ from->flags) & (TT_STEP_FIRST | TT_STEP_LAST)) != 0)
    return "another place in its message";
  if (to->time != from->time)
    return "another round";
  if (proof->lane[proof->lane_of[recv]].lane->published != proof->lane[proof->lane_of[send]].lane->published)
    return "a lane that only one of its ends calls published";
  return NULL;
}

static tutti_status join(tt_proof *proof, uint32_t recv, uint32_t send) {
  const char *wrong = unlike(proof, recv, send);
  if (wrong != NULL) {
    char place[128];
    tt_verify_place(proof, send, place);
    return tt_verify_fail(proof, recv, "what arrives has %s: %s", wrong, place);
  }
  assert(proof->send_of[recv] == TT_NONE); /* each receive gets one */
  proof->send_of[recv] = send;
  proof->next_recv[recv] = proof->first_recv[send];
  proof->first_recv[send] = recv;
  return TUTTI_OK;
}

/* Whether both ends name the same group: the reader's others without the source, and itself, are the source's. */
static bool same_readers(const tt_proof *proof, const stream *from, uint32_t recv_lane) {
  const tt_proof_lane *a = &proof->lane[from->send_lane], *b = &proof->lane[recv_lane];
  const int32_t *wanted = proof->plan[a->rank]->reader + a->lane->first_reader;
  const int32_t *named = proof->plan[b->rank]->reader + b->lane->first_reader;
  uint32_t at = 0, common = 1;
  for (uint32_t n = 0; n < b->lane->reader_count; n++) {
    if (named[n] == (int32_t)a->rank)
      continue;
    while (at < a->lane->reader_count && wanted[at] < named[n])
      at++;
    if (at == a->lane->reader_count || wanted[at] != named[n])
      return false;
    common++;
  }
  return common == a->lane->reader_count;
}

/* The first receive of a lane from this stream. */
static tutti_status open_reader(const matcher *match, stream *from, uint32_t lane, uint32_t step) {
  const tt_proof *proof = match->proof;
  if (from->recv_lane != TT_NONE)
    return tt_verify_fail(proof, step, "two lanes of the rank receive from rank %u with id %u", from->source, from->id);
  const tt_lane *at = proof->lane[lane].lane;
  if (at->published && proof->lane[from->send_lane].lane->published && !same_readers(proof, from, lane))
    return tt_verify_fail(proof, step, "its lane names other readers than that of rank %u", from->source);
  from->recv_lane = lane;
  return TUTTI_OK;
}

static tutti_status receive(const matcher *match, uint32_t lane, uint32_t step) {
  tt_proof *proof = match->proof;
  const tt_proof_lane *of = &proof->lane[lane];
  stream *from = slot_of(match, of->lane->id, (uint32_t)proof->step[step]->peer, of->rank);
  if (from->send_lane == TT_NONE || from->next == TT_NONE)
    return tt_verify_fail(proof, step, "rank %d sends nothing (more) in lane id %u", proof->step[step]->peer,
                          of->lane->id);
  tutti_status status = from->recv_lane != lane ? open_reader(match, from, lane, step) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  uint32_t send = from->next;
  from->next = match->next_send[send];
  return join(proof, step, send);
}

static tutti_status recv_lane(const matcher *match, uint32_t lane) {
  const tt_proof_lane *of = &match->proof->lane[lane];
  tutti_status status = TUTTI_OK;
  for (uint32_t n = 0; n < of->lane->step_count && status == TUTTI_OK; n++)
    if (match->proof->step[of->first_step + n]->kind != TT_STEP_COPY)
      status = receive(match, lane, of->first_step + n);
  return status;
}

static bool is_before(const stream *a, const stream *b) {
  return a->next != b->next ? a->next < b->next : a->reader < b->reader;
}

/* Of several, names the first, wherever hashes have put them. */
static tutti_status check_empty(const matcher *match) {
  const stream *first = NULL;
  for (uint32_t n = 0; n <= match->mask; n++) {
    const stream *left = &match->stream[n];
    if (left->send_lane != TT_NONE && left->next != TT_NONE && (first == NULL || is_before(left, first)))
      first = left;
  }
  return first == NULL ? TUTTI_OK
                       : tt_verify_fail(match->proof, first->next, "rank %u never receives it", first->reader);
}

static uint32_t stream_limit(const tt_proof *proof) {
  uint32_t limit = 0;
  for (uint32_t n = 0; n < proof->lane_count; n++)
    if (proof->lane[n].lane->role == TT_ROLE_SEND)
      limit += proof->lane[n].lane->published ? proof->lane[n].lane->reader_count : proof->lane[n].lane->step_count;
  return limit;
}

static bool allocate(matcher *match) {
  tt_proof *proof = match->proof;
  uint32_t size = 4;
  while (size < 2 * (uint64_t)stream_limit(proof))
    size *= 2;
  match->mask = size - 1;
  match->stream = tt_arena_alloc(&proof->arena, size, sizeof *match->stream);
  match->seed = (uint64_t)tt_clock_ns() ^ (uint64_t)(uintptr_t)match->stream;
  for (uint32_t n = 0; n < size && match->stream != NULL; n++)
    match->stream[n].send_lane = TT_NONE;
  uint32_t **const table[] = {&proof->send_of,     &proof->first_recv,     &proof->next_recv,
                              &proof->message_end, &proof->message_before, &match->next_send};
  for (size_t n = 0; n < TT_COUNT(table); n++)
    *table[n] = tt_arena_alloc(&proof->arena, proof->step_count, sizeof **table[n]);
  if (proof->arena.failed)
    return false;
  for (uint32_t step = 0; step < proof->step_count; step++)
    proof->send_of[step] = proof->first_recv[step] = proof->message_before[step] = TT_NONE;
  return true;
}

tutti_status tt_verify_match(tt_proof *proof) {
  matcher match = {.proof = proof};
  if (!allocate(&match))
    return tt_fail(TUTTI_ERR_MEMORY, "no memory to verify %u steps", proof->step_count);
  tutti_status status = TUTTI_OK;
  for (uint32_t n = 0; n < proof->lane_count; n++)
    end_messages(proof, &proof->lane[n]);
  for (uint32_t n = 0; n < proof->lane_count && status == TUTTI_OK; n++)
    if (proof->lane[n].lane->role == TT_ROLE_SEND)
      status = send_lane(&match, n);
  for (uint32_t n = 0; n < proof->lane_count && status == TUTTI_OK; n++)
    if (proof->lane[n].lane->role == TT_ROLE_RECV)
      status = recv_lane(&match, n);
  return status == TUTTI_OK ? check_empty(&match) : status;
}
