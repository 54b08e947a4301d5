/* bindings/mpi/work.c - a call that has been prepared: tutti's request, and its stage. */
#include "work.h"

#include "error.h"
#include "lock.h"
#include "stats.h"

#include <stdlib.h>
#include <string.h>

static void pack_work(tt_mpi_work *work) { tt_mpi_stage_pack(work->stage); }

static void unpack_work(tt_mpi_work *work) { tt_mpi_stage_unpack(work->stage); }

tt_mpi_work *tt_mpi_work_create(tt_mpi_comm *comm, tt_mpi_collective collective, const tt_mpi_stage *stage) {
  tt_mpi_work *work = calloc(1, sizeof *work);
  tt_mpi_stage *kept = malloc(sizeof *kept);
  if (!work || !kept)
    tt_mpi_out_of_memory();
  *kept = *stage;
  tt_mpi_stage_hold(kept);
  work->comm = tt_mpi_comm_keep(comm);
  work->collective = collective;
  work->stage = kept;
  work->pack = kept->pack.count > 0 ? pack_work : NULL;
  work->unpack = kept->unpack.count > 0 ? unpack_work : NULL;
  return work;
}

void tt_mpi_work_destroy(tt_mpi_work *work) {
  if (!work)
    return;
  tt_mpi_lock();
  tutti_request_destroy(work->request);
  tt_mpi_unlock();
  tt_mpi_stage_finish(work->stage);
  free(work->stage);
  tt_mpi_comm_release(work->comm);
  free(work->text);
  free(work);
}

void tt_mpi_work_set_text(tt_mpi_work *work, const char *text) {
  free(work->text);
  work->text = strdup(text);
  if (!work->text)
    tt_mpi_out_of_memory();
}

void tt_mpi_work_count(const tt_mpi_work *work) {
  tt_mpi_count_served(work->collective, work->bytes, tt_mpi_clock_ns() - work->began_ns, work->params, work->authority,
                      work->media);
}
