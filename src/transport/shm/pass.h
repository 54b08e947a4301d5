/* transport/shm/pass.h - a descriptor from one rank to all others, over a socket without a place in the file system. */
#ifndef TT_TRANSPORT_SHM_PASS_H
#define TT_TRANSPORT_SHM_PASS_H

#include "base/base.h"

#define TT_SHM_PASS_NAME 48

/* Every rank's socket; rank 0's listens under a random abstract name. */
tutti_status tt_shm_pass_open(int64_t rank, int64_t rank_count, char name[static TT_SHM_PASS_NAME], int *socket);
/* Rank 0: gives `fd` to every other rank, each once; other users get nothing. TUTTI_ERR_TIMEOUT at `until_ns` names who
 * did not come. */
tutti_status tt_shm_pass_serve(int socket, int fd, int64_t rank_count, int64_t until_ns);
/* Another rank: fetches it, from a process of the same user only. */
tutti_status tt_shm_pass_fetch(int socket, const char *name, int64_t rank, int64_t until_ns, int *fd);

#endif
