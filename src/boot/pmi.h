/* boot/pmi.h - a process's conversation with a PMI server: requests and replies of text over a socket that it inherits.
 *
 * There are two dialects, PMI-1 (lines) and PMI-2 (messages with their length before them), with the same few verbs:
 * put a value, meet at a fence, get anyone's value. The allgather above them is the same. */
#ifndef TT_BOOT_PMI_H
#define TT_BOOT_PMI_H

#include "boot/boot.h"

#define TT_PMI_MESSAGE 4096 /* the longest; servers have values of up to 1024 characters */
#define TT_PMI_KEY 64
#define TT_PMI_VALUE 1024

typedef struct tt_pmi_dialect tt_pmi_dialect;

typedef struct tt_pmi {
  int fd;
  uint64_t socket; /* its inode: the number may be closed, and used again, by others in the process */
  const tt_pmi_dialect *dialect;
  int64_t rank, rank_count;
  char store[256];             /* the name of the job's values */
  size_t value_length;         /* the longest value */
  uint64_t round_count;        /* allgathers so far: a part of keys, since what was put stays */
  bool framed;                 /* messages begin with their length */
  tutti_status broken;         /* TUTTI_OK, or: the ends are out of step, for good */
  char reply[TT_PMI_MESSAGE];  /* the last one, a string */
  char in[TT_PMI_MESSAGE + 8]; /* what has been received of the next */
  size_t in_bytes;
} tt_pmi;

struct tt_pmi_dialect {
  int version;
  tutti_status (*start)(tt_pmi *pmi, int64_t until_ns); /* after the server has accepted the version */
  tutti_status (*put)(tt_pmi *pmi, const char *key, const char *value, int64_t until_ns);
  tutti_status (*fence)(tt_pmi *pmi, int64_t until_ns);
  /* Leaves the value in pmi->reply, as field "value"; TUTTI_ERR_PEER: there is none. */
  tutti_status (*get)(tt_pmi *pmi, const char *key, int64_t until_ns);
  void (*finish)(tt_pmi *pmi, int64_t until_ns);
};

extern const tt_pmi_dialect tt_pmi_1, tt_pmi_2;

/* ---- the allgather: pmi.c ---- */

/* Begins on `fd` in that version, or in the other one where the server does not speak it. The rest only after success.
 */
tutti_status tt_pmi_start(tt_pmi *pmi, int fd, int version, int64_t rank, int64_t rank_count, int64_t timeout_ns);
tutti_status tt_pmi_allgather(tt_pmi *pmi, const void *mine, void *all, size_t bytes, int64_t timeout_ns);

/* ---- messages: pmi_message.c ---- */

/* Sends a request and receives its reply, whose cmd must be `name`. */
tutti_status tt_pmi_ask(tt_pmi *pmi, int64_t until_ns, const char *name, const char *format, ...) TT_PRINTF(4, 5);
/* The same, and its rc must be 0. */
tutti_status tt_pmi_order(tt_pmi *pmi, int64_t until_ns, const char *name, const char *format, ...) TT_PRINTF(4, 5);
/* A field of the last reply; false: it has none, or a longer one. */
bool tt_pmi_field(const tt_pmi *pmi, const char *key, char *value, size_t size);
/* Records the error and closes the conversation for good. */
tutti_status tt_pmi_break(tt_pmi *pmi, tutti_status status, const char *format, ...) TT_PRINTF(3, 4);
/* Whether its descriptor still is the launcher's socket. */
bool tt_pmi_has_socket(const tt_pmi *pmi);

#endif
