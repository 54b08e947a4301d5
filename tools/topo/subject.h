/* tools/topo/subject.h - what `tutti topo` shows: a machine with its NICs, or a network. */
#ifndef TUTTI_TOOLS_TOPO_SUBJECT_H
#define TUTTI_TOOLS_TOPO_SUBJECT_H

#include "base/base.h"
#include "topo/machine/machine.h"
#include "topo/nics/nics.h"
#include "topo/switches/switches.h"
#include "topo/topo.h"

/* One of `machine` and `network` is there. */
typedef struct topo_subject {
  tt_arena arena;
  const char *path; /* "": this machine */
  tt_machine *machine;
  tt_switches *network;
  tt_nic nic[TT_NICS_MOST];
  int64_t nic_count;
} topo_subject;

/* path: "" for this machine; a folder with machine.xml and perhaps nics.txt; such an XML file alone; a switch file.
 * topo_subject_close is always called afterwards. */
tutti_status topo_subject_open(const char *path, topo_subject *subject);
void topo_subject_close(topo_subject *subject);
/* Writes machine.xml and nics.txt of this machine into a folder, which is made where it is not there. */
tutti_status topo_subject_record(const char *folder);

#endif
