/* tools/export/write.h - the files of the libraries. */
#ifndef TUTTI_TOOLS_EXPORT_WRITE_H
#define TUTTI_TOOLS_EXPORT_WRITE_H

#include "table.h"

tutti_status export_write_openmpi(const export_table *table, FILE *file);
tutti_status export_write_mpich(const export_table *table, FILE *file);
tutti_status export_write_ucc(const export_table *table, FILE *file);

#endif
