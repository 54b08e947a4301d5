/* boot/version.c - which tutti this is, and whether the ranks of a job have the same.
 *
 * Ranks compile their plans each for itself, so that those of another library need not fit, even where what goes
 * between them has the same form. The launcher's server only carries bytes: with it the form is enough. */
#include "boot/boot.h"
#include "boot/wire.h"

#include <tutti/tutti.h>

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef TT_BOOT_WIRE /* tests have others */
#define TT_BOOT_WIRE 2
#endif
#ifndef TT_BOOT_LIBRARY
#define TT_BOOT_LIBRARY TUTTI_VERSION
#endif

static_assert(sizeof(tt_boot_version) == 24 && sizeof TT_BOOT_LIBRARY <= 16, "it is the same in every version");

static const tt_boot_version own = {.magic = TT_BOOT_MAGIC, .wire = TT_BOOT_WIRE, .library = TT_BOOT_LIBRARY};

const char *tutti_version(void) { return TUTTI_VERSION; }

const tt_boot_version *tt_boot_version_own(void) { return &own; }

const char *tt_boot_version_text(const tt_boot_version *version, char text[static TT_BOOT_VERSION_TEXT]) {
  if (version->magic == TT_BOOT_MAGIC)
    snprintf(text, TT_BOOT_VERSION_TEXT, "%.16s (wire %u)", version->library, version->wire);
  else
    snprintf(text, TT_BOOT_VERSION_TEXT, "an unknown version");
  return text;
}

static tutti_status find_difference(const tt_boot_version *all, int64_t rank_count) {
  char first[TT_BOOT_VERSION_TEXT], other[TT_BOOT_VERSION_TEXT];
  for (int64_t r = 1; r < rank_count; r++)
    if (memcmp(&all[r], &all[0], sizeof all[r]) != 0)
      return tt_fail(TUTTI_ERR_MISMATCH, "ranks 0 and %" PRId64 " have different versions of tutti: %s and %s", r,
                     tt_boot_version_text(&all[0], first), tt_boot_version_text(&all[r], other));
  return TUTTI_OK;
}

tutti_status tt_boot_compare(const tutti_boot *boot, int64_t timeout_ns, char *missing, size_t missing_size) {
  tt_boot_version *all = calloc((size_t)boot->rank_count, sizeof *all);
  if (all == NULL)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a job of %" PRId64 " ranks", boot->rank_count);
  tutti_status status = boot->allgather(boot->user, &own, all, sizeof own, timeout_ns, missing, missing_size);
  if (status == TUTTI_OK)
    status = find_difference(all, boot->rank_count);
  free(all);
  return status;
}
