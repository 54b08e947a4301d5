/* bindings/mpi/transport.h - tutti over point-to-point messages of a private communicator of MPI. */
#ifndef TT_MPI_TRANSPORT_H
#define TT_MPI_TRANSPORT_H

#include <tutti/transport.h>

/* config: MPI_Comm *. */
const tutti_transport_ops *tt_mpi_transport(void);

#endif
