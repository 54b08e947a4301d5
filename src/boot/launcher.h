/* boot/launcher.h - the launchers that may have started this process: a row of the table in open.c each.
 *
 * A launcher's part begins its own struct with tt_boot, makes it in open and frees it in close. */
#ifndef TT_BOOT_LAUNCHER_H
#define TT_BOOT_LAUNCHER_H

#include "boot/boot.h"

struct tt_boot {
  tutti_boot boot;              /* boot.user is this tt_boot */
  void (*close)(tt_boot *boot); /* frees it too */
};

tutti_status tt_boot_open_run(int64_t timeout_ns, tt_boot **boot);   /* tutti run: client.c */
tutti_status tt_boot_open_pmix(int64_t timeout_ns, tt_boot **boot);  /* pmix.c */
tutti_status tt_boot_open_pmi(int64_t timeout_ns, tt_boot **boot);   /* PMI-1, PMI-2: pmi.c */
tutti_status tt_boot_open_alone(int64_t timeout_ns, tt_boot **boot); /* a job of one: client.c */

/* A launcher whose conversation with a process begins and ends once: contexts share it, one call at a time. */
typedef struct tt_boot_shared {
  tutti_status (*begin)(int64_t timeout_ns, int64_t *rank, int64_t *rank_count);
  tutti_status (*allgather)(const void *mine, void *all, size_t bytes, int64_t timeout_ns, char *missing,
                            size_t missing_size);
  void (*end)(void); /* when the process exits */
} tt_boot_shared;

tutti_status tt_boot_share(const tt_boot_shared *launcher, int64_t timeout_ns, tt_boot **boot); /* share.c */

#endif
