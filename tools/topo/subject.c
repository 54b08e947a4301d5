/* tools/topo/subject.c - opens what is shown: this machine, a recorded one, or the network of a switch file; and
 * records this machine. */
#include "subject.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_folder(const char *path) {
  struct stat is;
  return stat(path, &is) == 0 && S_ISDIR(is.st_mode);
}

/* What hwloc records begins with an angle bracket, which no switch has in its name. */
static tutti_status find_out(const char *path, bool *is_xml) {
  FILE *in = fopen(path, "r");
  if (!in)
    return tt_fail(TUTTI_ERR_ARGUMENT, "cannot open '%s': %s", path, strerror(errno));
  int first = ' ';
  while (isspace(first))
    first = getc(in);
  fclose(in);
  *is_xml = first == '<';
  return TUTTI_OK;
}

static tutti_status open_machine(const char *xml, const char *folder, topo_subject *subject) {
  tutti_status status = tt_machine_read(xml, &subject->arena, &subject->machine);
  return status == TUTTI_OK && folder ? tt_nics_find(folder, subject->nic, TT_NICS_MOST, &subject->nic_count) : status;
}

tutti_status topo_subject_open(const char *path, topo_subject *subject) {
  bool is_xml = false;
  *subject = (topo_subject){.path = path};
  tt_arena_init(&subject->arena);
  if (!path[0])
    return open_machine("", "", subject);
  if (is_folder(path)) {
    const char *xml = tt_arena_format(&subject->arena, "%s/machine.xml", path);
    if (!xml)
      return tt_fail(TUTTI_ERR_MEMORY, "no memory for '%s'", path);
    tutti_status status = find_out(xml, &is_xml);
    return status == TUTTI_OK ? open_machine(xml, path, subject) : status;
  }
  tutti_status status = find_out(path, &is_xml);
  if (status != TUTTI_OK)
    return status;
  return is_xml ? open_machine(path, NULL, subject) : tt_switches_read(path, &subject->arena, &subject->network);
}

void topo_subject_close(topo_subject *subject) { tt_arena_finish(&subject->arena); }

static tutti_status record(const char *folder, tt_arena *arena) {
  tt_nic nic[TT_NICS_MOST];
  int64_t count;
  const char *xml = tt_arena_format(arena, "%s/machine.xml", folder);
  const char *text = tt_arena_format(arena, "%s/nics.txt", folder);
  if (!xml || !text)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for '%s'", folder);
  if (mkdir(folder, 0777) != 0 && errno != EEXIST)
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot make '%s': %s", folder, strerror(errno));
  tutti_status status = tt_machine_write(xml);
  if (status == TUTTI_OK)
    status = tt_nics_find("", nic, TT_NICS_MOST, &count);
  if (status != TUTTI_OK)
    return status;
  FILE *out = fopen(text, "w");
  if (out)
    tt_nics_write(nic, count, out);
  bool written = out && !ferror(out);
  if ((out && fclose(out) != 0) || !written)
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot write '%s': %s", text, strerror(errno));
  return TUTTI_OK;
}

tutti_status topo_subject_record(const char *folder) {
  tt_arena arena;
  tt_arena_init(&arena);
  tutti_status status = record(folder, &arena);
  tt_arena_finish(&arena);
  return status;
}
