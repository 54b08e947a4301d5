/* api/params.c - the parameters of a communicator's calls: what the user sets, and what ran. */
#include "api/api.h"

#include <stdlib.h>
#include <string.h>

struct tt_params_text {
  tt_params_text *next;
  char text[];
};

const char *tt_comm_keep_text(tutti_comm *comm, const char *text) {
  for (tt_params_text *n = comm->texts; n; n = n->next)
    if (strcmp(n->text, text) == 0)
      return n->text;
  tt_params_text *made = malloc(sizeof *made + strlen(text) + 1);
  if (!made)
    return NULL;
  strcpy(made->text, text);
  made->next = comm->texts;
  comm->texts = made;
  return made->text;
}

void tt_comm_free_texts(tutti_comm *comm) {
  for (tt_params_text *n = comm->texts, *next; n; n = next) {
    next = n->next;
    free(n);
  }
}

const char *tutti_comm_last_params(const tutti_comm *comm) {
  return comm && comm->last_params ? comm->last_params : "";
}

tutti_status tutti_comm_set_params(tutti_comm *comm, const char *collective, const char *text) {
  if (!comm || !collective)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_set_params: %s is NULL", comm ? "collective" : "comm");
  TT_HOLD(comm->context);
  tt_collective which = tt_compose_find(collective);
  if (which == TT_COLLECTIVE_COUNT)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_comm_set_params: collective '%s' is none of tutti's", collective);
  tt_params params;
  tutti_status status = text ? tt_params_parse(text, &params) : TUTTI_OK;
  if (status != TUTTI_OK)
    return status;
  char *copy = text ? strdup(text) : NULL;
  if (text && !copy)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for parameters");
  free(comm->params[which]);
  comm->params[which] = copy;
  tt_comm_forget(comm, which);
  return TUTTI_OK;
}
