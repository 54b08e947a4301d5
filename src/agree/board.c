/* agree/board.c - a rank's board, where it shows the others of its machine what they need to know of it. */
#include "agree/parts.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

static tutti_status open_board(tutti_comm *comm) {
  assert(!comm->agree.board);
  if (!comm->ops->cells_open)
    return TUTTI_OK;
  tt_board **board = calloc((size_t)comm->size, sizeof(tt_board *));
  if (!board)
    return tt_comm_no_memory(comm);
  tutti_status status = tt_comm_open_cells(comm, 0, sizeof(tt_board), (void **)board);
  if (status == TUTTI_OK)
    comm->agree.board = board;
  else
    free(board);
  return status == TUTTI_ERR_UNSUPPORTED ? TUTTI_OK : status;
}

tutti_status tt_agree_prepare(tutti_comm *comm) {
  if (comm->streams)
    return TUTTI_OK;
  if (comm->agree.broken != TUTTI_OK)
    return tt_agree_verdict(comm);
  tutti_status status = tt_comm_place(comm);
  if (status == TUTTI_OK)
    status = open_board(comm);
  if (status == TUTTI_OK)
    status = tt_comm_open_streams(comm);
  if (status == TUTTI_OK)
    return TUTTI_OK;
  tt_agree_lack(comm->context, comm->id, status); /* others may come to the first call and wait for this rank */
  return tt_agree_break_here(comm, status);
}

void tt_agree_close(tutti_comm *comm) {
  tt_notes_close(comm);
  if (!comm->agree.board)
    return;
  tt_record_close(comm);
  tt_stops_close(comm);
  tt_comm_close_cells(comm, 0, (void **)comm->agree.board);
  free(comm->agree.board);
}
