/* bindings/mpi/request_tag.c - tags of the messages that complete requests: each request has one of its own.
 *
 * The message of a completed request comes before that of the next with its tag, so tags may be used again at once. */
#include "request_tag.h"

#include "state.h"

#include <stdlib.h>

#define FIRST_COUNT 64

static int *given_back; /* room for all that were handed out */
static int given_back_count, room, next;

static int upper_bound(void) {
  int *bound, found = 0;
  PMPI_Comm_get_attr(tt_mpi.session ? tt_mpi.world : MPI_COMM_WORLD, MPI_TAG_UB, &bound, &found);
  return found ? *bound : 32767; /* MPI promises as many */
}

static bool grow(void) {
  int larger_room = room > 0 ? 2 * room : FIRST_COUNT;
  if (larger_room - 1 > upper_bound())
    return false;
  int *larger = realloc(given_back, (size_t)larger_room * sizeof *larger);
  if (!larger)
    return false;
  given_back = larger;
  room = larger_room;
  return true;
}

bool tt_mpi_tag_get(int *tag) {
  if (given_back_count > 0) {
    *tag = given_back[--given_back_count];
    return true;
  }
  if (next == room && !grow())
    return false;
  *tag = next++;
  return true;
}

void tt_mpi_tag_give(int tag) { given_back[given_back_count++] = tag; }

void tt_mpi_tag_clear(void) {
  free(given_back);
  given_back = NULL;
  given_back_count = room = next = 0;
}
