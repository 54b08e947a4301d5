/* transport/transport.h - the transports that are built in: what the layers above include.
 *
 * A transport is a tutti_transport_ops (include/tutti/transport.h): it knows peers and bytes, never collectives. */
#ifndef TT_TRANSPORT_TRANSPORT_H
#define TT_TRANSPORT_TRANSPORT_H

#include "transport/between.h"
#include "transport/nodes/nodes.h"
#include "transport/shm/shm.h"
#include "transport/table.h"

#endif
