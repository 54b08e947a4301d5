/* transport/table.h - the transports that are built in, as rows: transports.inc. */
#ifndef TT_TRANSPORT_TABLE_H
#define TT_TRANSPORT_TABLE_H

#include "base/base.h"

#include <tutti/transport.h>

/* Which ranks a transport connects; what its config is follows from that. */
typedef enum tt_reach {
  TT_REACH_PROCESS,  /* those of a process */
  TT_REACH_MACHINE,  /* those of a machine */
  TT_REACH_MACHINES, /* those of different machines: tt_between_config. TUTTI_FAR chooses one */
  TT_REACH_JOB       /* all */
} tt_reach;

/* A row of transports.inc. */
typedef struct tt_transport {
  const char *name; /* as in its ops */
  tt_reach reach;
  const char *needs, *help;
  bool beside; /* a thread may be in its `wait`, or in that of nodes over it, while another one calls it */
  const tutti_transport_ops *(*ops)(void); /* NULL from it: tutti was built without what it needs */
} tt_transport;

const tt_transport *tt_transport_table(size_t *count);
/* NULL: none of that reach has that name. */
const tt_transport *tt_transport_find(tt_reach reach, const char *name);
/* "tcp or ucx" */
void tt_transport_names(tt_reach reach, char *text, size_t size);

#endif
