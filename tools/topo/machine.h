/* tools/topo/machine.h - `tutti topo` of a machine. */
#ifndef TUTTI_TOOLS_TOPO_MACHINE_H
#define TUTTI_TOOLS_TOPO_MACHINE_H

#include "subject.h"

/* An error: TUTTI_NICS names what is not there. */
tutti_status topo_print_machine(topo_subject *subject);

#endif
