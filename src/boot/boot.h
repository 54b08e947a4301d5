/* boot/boot.h - how ranks find each other: an allgather through whatever launcher has started them.
 *
 * `tutti run` opens a server on an abstract Unix socket and gives its address, the rank and the size to each process in
 * the environment; ranks connect to it. Both ends check that the other belongs to the same user. mpirun, prterun and
 * srun have a store that all ranks reach, by PMIx (pmix.c), PMI-2 or PMI-1 (pmi.c). */
#ifndef TT_BOOT_BOOT_H
#define TT_BOOT_BOOT_H

#include "base/base.h"

#include <tutti/boot.h>

/* ---- a rank's side ---- */

typedef struct tt_boot tt_boot;

/* From the environment, the first of these that there is: TUTTI_BOOT, TUTTI_RANK, TUTTI_SIZE of `tutti run`; PMIX_RANK;
 * PMI_FD. None: a job of one rank. */
tutti_status tt_boot_open(int64_t timeout_ns, tt_boot **boot);
/* The same from arguments. address: "unix:@name". */
tutti_status tt_boot_connect(const char *address, int64_t rank, int64_t rank_count, int64_t timeout_ns, tt_boot **boot);
const tutti_boot *tt_boot_get(const tt_boot *boot);
void tt_boot_close(tt_boot *boot); /* accepts NULL */

/* The first allgather of a job: whether all ranks have the same version of tutti, so that they understand what comes
 * next. TUTTI_ERR_MISMATCH on all of them where they have not, with two ranks and their versions in the text; or what
 * the allgather fails with, which fills `missing`. */
tutti_status tt_boot_compare(const tutti_boot *boot, int64_t timeout_ns, char *missing, size_t missing_size);

/* ---- the launcher's side: never blocks ---- */

typedef struct tt_boot_server tt_boot_server;

/* connections: how many connections it may have. With fewer than ranks, those that find no place come again for the
 * reply. */
tutti_status tt_boot_server_open(int64_t rank_count, int64_t connections, tt_boot_server **server);
const char *tt_boot_server_address(const tt_boot_server *server); /* for TUTTI_BOOT */
int tt_boot_server_fd(const tt_boot_server *server);              /* readable: call tt_boot_server_serve */
void tt_boot_server_serve(tt_boot_server *server);
/* That process has ended: ranks that wait for it, now or later, get TUTTI_ERR_PEER at once. how: "exited with code 1".
 */
void tt_boot_server_lose(tt_boot_server *server, int64_t rank, const char *how);
void tt_boot_server_close(tt_boot_server *server); /* accepts NULL */

#endif
