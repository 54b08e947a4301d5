/* tools/export/export.c - see export.h. */
#include "export.h"
#include "write.h"

#include "job/wisdom.h"
#include "tools/shared/shared.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  const char *name, *title;
  tutti_status (*write)(const export_table *table, FILE *file);
} libraries[] = {{"openmpi", "Open MPI", export_write_openmpi},
                 {"mpich", "MPICH", export_write_mpich},
                 {"ucc", "UCC", export_write_ucc}};

static int find(const char *name) {
  for (int n = 0; n < (int)TT_COUNT(libraries); n++)
    if (strcmp(libraries[n].name, name) == 0)
      return n;
  return -1;
}

typedef struct job {
  int library;
  const export_table *table;
} job;

static tutti_status write_table(void *user, FILE *file) {
  const job *of = user;
  return libraries[of->library].write(of->table, file);
}

static tutti_status write_wisdom(const tt_wisdom *wisdom, int library, const char *path) {
  tt_arena arena;
  export_table table;
  tt_arena_init(&arena);
  tutti_status status = export_table_make(wisdom, libraries[library].title, &arena, &table);
  if (status == TUTTI_OK)
    status = tool_write_file(path, write_table, &(job){library, &table});
  tt_arena_finish(&arena);
  return status;
}

int export_run(const char *library, const char *path) {
  tt_wisdom_found found;
  if (find(library) < 0)
    return tool_fail("tune", TOOL_MISUSED, "--export %s: the libraries are openmpi, mpich, ucc", library);
  tutti_status status = tt_wisdom_load(&found);
  if (status == TUTTI_OK && !found.wisdom)
    status = tt_fail(TUTTI_ERR_ARGUMENT, "there is no wisdom to export: %s; run `tutti tune` first", found.why);
  if (status == TUTTI_OK)
    status = write_wisdom(found.wisdom, find(library), path);
  tt_wisdom_found_finish(&found);
  return status == TUTTI_OK ? EXIT_SUCCESS : tool_fail("tune", EXIT_FAILURE, "%s", tutti_last_error());
}
