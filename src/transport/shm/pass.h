/* transport/shm/pass.h - a descriptor from one rank to others, over a socket without a place in the file system. */
#ifndef TT_TRANSPORT_SHM_PASS_H
#define TT_TRANSPORT_SHM_PASS_H

#include "base/base.h"

#define TT_SHM_PASS_NAME 48

/* Every rank's socket; that of the rank that serves listens under a random abstract name. */
tutti_status tt_shm_pass_open(bool serves, int64_t rank_count, char name[static TT_SHM_PASS_NAME], int *socket);
/* Gives `fd` to every rank whose `awaited` is set, each once, and clears it; other users get nothing. TUTTI_ERR_TIMEOUT
 * at `until_ns` names who did not come. */
tutti_status tt_shm_pass_serve(int socket, int fd, bool *awaited, int64_t rank_count, int64_t until_ns);
/* Another rank: fetches it, from a process of the same user only. */
tutti_status tt_shm_pass_fetch(int socket, const char *name, int64_t rank, int64_t until_ns, int *fd);

#endif
