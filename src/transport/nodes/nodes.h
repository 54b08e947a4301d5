/* transport/nodes/nodes.h - one transport of two: shared memory between ranks of a node, another one between nodes.
 *
 * A stream whose ends are all on one node is shared memory's, every other one belongs to the other transport; so do
 * cells and wakes. Both know ranks by their numbers in the job. Who works inside one node only may use its shared
 * memory without the way through here: tt_nodes_inner. */
#ifndef TT_TRANSPORT_NODES_NODES_H
#define TT_TRANSPORT_NODES_NODES_H

#include "base/base.h"

#include <tutti/transport.h>

typedef struct tt_nodes_config {
  const int64_t *head_of; /* of each rank of the job: the lowest rank on its node. Borrowed until closed */
  const tutti_transport_ops *across;
  const void *across_config;
  int64_t timeout_ns; /* for opening */
  int crowded;        /* as in tt_shm_config */
  int64_t read_bytes; /* the same */
} tt_nodes_config;

const tutti_transport_ops *tt_nodes_ops(void); /* config: tt_nodes_config */

/* The transport of this node's ranks among themselves, of tt_shm_ops(). */
void *tt_nodes_inner(void *self);

#endif
