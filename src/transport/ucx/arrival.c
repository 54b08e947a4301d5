/* transport/ucx/arrival.c - messages that come: UCX's handler makes a letter of that size and copies them, or, where
 * they are long, has them fetched straight into it.
 *
 * Nothing is done with a letter in a callback but to put it aside, since what follows from it may send and open
 * endpoints: mail.c. */
#include "transport/ucx/mail.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <sodium.h>
#include <string.h>

static void note_come(void *request, ucs_status_t status, size_t bytes, void *user) {
  tt_streams_letter *letter = user;
  tt_ucx_mail *mail = letter->post;
  assert(mail->requests > 0);
  mail->requests--;
  mail->ucp.request_free(request);
  if (status == UCS_OK && bytes == tt_streams_letter_wire_bytes(letter))
    tt_streams_queue_add(&mail->came, letter);
  else
    tt_streams_pool_give(&mail->pool, letter); /* the endpoint's handler says more */
}

/* Fetches a long one. */
static ucs_status_t fetch(tt_ucx_rail *rail, tt_streams_letter *letter, void *data) {
  tt_ucx_mail *mail = rail->mail;
  const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                     UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                     .cb.recv_am = note_come,
                                     .user_data = letter};
  ucs_status_ptr_t request =
      mail->ucp.receive(rail->worker, data, &letter->head, tt_streams_letter_wire_bytes(letter), &param);
  if (UCS_PTR_IS_PTR(request)) {
    mail->requests++;
    return UCS_INPROGRESS;
  }
  tt_log(TT_LOG_WARN, "ucx: a letter from rank %" PRId64 " cannot be fetched: %s", letter->peer,
         mail->ucp.text(UCS_PTR_STATUS(request)));
  tt_streams_pool_give(&mail->pool, letter);
  return UCS_PTR_STATUS(request);
}

/* *from: a rank of this job, or -1. */
static int64_t find_sender(const tt_ucx_mail *mail, const tt_ucx_front *front, size_t front_bytes) {
  if (front_bytes != sizeof *front || sodium_memcmp(front->key, mail->front.key, sizeof front->key) != 0)
    return -1;
  int64_t from = (int64_t)le64toh((uint64_t)front->from);
  return from >= 0 && from < mail->rank_count && from != mail->rank ? from : -1;
}

ucs_status_t tt_ucx_arrive(void *user, const void *header, size_t header_bytes, void *data, size_t bytes,
                           const ucp_am_recv_param_t *how) {
  tt_ucx_rail *rail = user;
  tt_ucx_mail *mail = rail->mail;
  tt_ucx_front front = {.from = -1};
  memcpy(&front, header, header_bytes < sizeof front ? header_bytes : sizeof front);
  int64_t from = find_sender(mail, &front, header_bytes);
  if (from < 0 || bytes < sizeof(tt_streams_head) || bytes - sizeof(tt_streams_head) > TT_STREAMS_LETTER_BYTES) {
    tt_log(TT_LOG_INFO, "ucx: a message of %zu bytes does not come from a rank of this job; it is dropped", bytes);
    return UCS_OK;
  }
  tt_streams_letter *letter = tt_streams_pool_take(&mail->pool, bytes - sizeof letter->head);
  if (!letter) {
    mail->status = tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu bytes from rank %" PRId64, bytes, from);
    return UCS_OK;
  }
  letter->peer = from;
  letter->post = mail;
  letter->bytes = (uint32_t)(bytes - sizeof letter->head);
  if (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
    return fetch(rail, letter, data);
  memcpy(&letter->head, data, bytes);
  tt_streams_queue_add(&mail->came, letter);
  return UCS_OK;
}
