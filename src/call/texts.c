/* call/texts.c - texts of parameters that live as long as their communicator. */
#include "call/call.h"

#include <stdlib.h>
#include <string.h>

struct tt_params_text {
  tt_params_text *next;
  char text[];
};

const char *tt_comm_keep_text(tutti_comm *comm, const char *text) {
  for (tt_params_text *n = comm->calls.texts; n; n = n->next)
    if (strcmp(n->text, text) == 0)
      return n->text;
  tt_params_text *made = malloc(sizeof *made + strlen(text) + 1);
  if (!made)
    return NULL;
  strcpy(made->text, text);
  made->next = comm->calls.texts;
  comm->calls.texts = made;
  return made->text;
}

void tt_comm_free_texts(tutti_comm *comm) {
  for (tt_params_text *n = comm->calls.texts, *next; n; n = next) {
    next = n->next;
    free(n);
  }
}
