/* api/params.c - the parameters of a communicator's calls: what the user sets, and what ran; and by which media the
 * last one went. */
#include "call/call.h"

#include <assert.h>
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
