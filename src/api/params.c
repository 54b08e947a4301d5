/* api/params.c - the parameters of a communicator's calls: what the user sets, what would run, and what ran; and by
 * which media the last one went. */
#include "call/call.h"

#include <assert.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *tutti_comm_last_params(const tutti_comm *comm) {
  return comm && comm->calls.last_params ? comm->calls.last_params : "";
}

/* "wisdom PATH:12" */
static const char *keep_authority(tutti_comm *comm, const tt_decision *of) {
  char text[4500];
  bool made = of->by == TT_AUTHORITY_COUNT; /* by the program, step by step */
  snprintf(text, sizeof text, "%s%s%s%s%s", of->passed_over ? tt_authority_name(TT_BY_NOBODY) : "",
           of->passed_over ? "; no plan from " : "", made ? "tutti_composition" : tt_authority_name(of->by),
           *of->source ? " " : "", of->source);
  const char *kept = tt_comm_keep_text(comm, text);
  return kept ? kept : "";
}

const char *tutti_comm_last_authority(tutti_comm *comm) {
  if (!comm || !comm->calls.last_decision.source)
    return "";
  TT_HOLD(comm->context);
  return keep_authority(comm, &comm->calls.last_decision);
}

tutti_status tutti_comm_set_params(tutti_comm *comm, const char *collective, const char *text) {
  if (!comm || !collective)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_set_params: %s is NULL", comm ? "collective" : "comm");
  TT_HOLD(comm->context);
  tt_collective which = tt_compose_find(collective);
  if (which == TT_COLLECTIVE_COUNT)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_set_params: unknown collective '%s'", collective);
  tt_params params;
  tutti_status status = text ? tt_params_parse(text, &params) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  char *copy = text ? strdup(text) : NULL;
  if (text && !copy)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for parameters");
  free(comm->calls.params[which]);
  comm->calls.params[which] = copy;
  tt_recall_forget(comm, which);
  return TUTTI_OK;
}

/* ---- before a call ---- */

/* What the call would be, as far as choices and plans depend on it. */
static tutti_status read_question(const tutti_comm *comm, const char *collective, int64_t root, int commutes,
                                  tt_entry_key *key) {
  if (!comm || !collective)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_explain: %s is NULL", comm ? "collective" : "comm");
  *key = (tt_entry_key){.collective = tt_compose_find(collective)};
  if (key->collective == TT_COLLECTIVE_COUNT)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_explain: unknown collective '%s'", collective);
  tt_collective_info info = tt_compose_info(key->collective);
  if (info.has_graph)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "tutti_comm_explain: what %s runs with depends on its graph", info.name);
  if (info.has_root && (root < 0 || root >= comm->size))
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_explain: root is %" PRId64 "; there are %" PRId64 " ranks", root,
                   comm->size);
  key->root = info.has_root ? root : 0;
  key->ordered = !commutes && info.reduces;
  return TUTTI_OK;
}

tutti_status tutti_comm_explain(tutti_comm *comm, const char *collective, int64_t bytes, int64_t root, int commutes,
                                const char **params, const char **authority) {
  tt_entry_key key;
  tt_entry *entry;
  tt_decision decision;
  if (!params || !authority)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_explain: %s is NULL", params ? "authority" : "params");
  tutti_status status = read_question(comm, collective, root, commutes, &key);
  if (status == TUTTI_OK && bytes < 0)
    status = tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_explain: %" PRId64 " bytes; it must be 0 or more", bytes);
  if (status == TUTTI_OK && tt_context_is_copy(comm->context))
    status = tt_fork_refuse(comm->context, "tutti_comm_explain");
  if (status != TUTTI_OK)
    return status;
  TT_HOLD(comm->context);
  if (tt_agree_prepare(comm) != TUTTI_OK)
    return tt_agree_verdict(comm);
  if (key.collective == TT_BARRIER)
    bytes = (int64_t)sizeof(int32_t); /* its token */
  status = tt_entry_find(comm, &key, bytes, &entry, &decision);
  if (status != TUTTI_OK)
    return status;
  *params = entry->runs;
  *authority = keep_authority(comm, &decision);
  return TUTTI_OK;
}

/* ---- media ---- */

#define MEDIA (1 << TT_MEDIUM_COUNT)

static char text[MEDIA][64];

static void make_texts(void) {
  for (int media = 1; media < MEDIA; media++)
    for (int n = 0; n < TT_MEDIUM_COUNT; n++)
      if (media >> n & 1) {
        strcat(text[media], *text[media] ? "+" : "");
        strcat(text[media], tt_medium_name[n]);
      }
}

const char *tutti_comm_last_media(const tutti_comm *comm) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, make_texts);
  assert(!comm || atomic_load_explicit(&comm->calls.last_media, memory_order_relaxed) < MEDIA);
  return comm ? text[atomic_load_explicit(&comm->calls.last_media, memory_order_relaxed) % MEDIA] : "";
}
