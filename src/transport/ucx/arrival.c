/* transport/ucx/arrival.c - messages that come: UCX's handler makes a packet of that size and copies them, or, where
 * they are long, has them fetched straight into it.
 *
 * Nothing is done with a packet in a callback but to put it aside, since what follows from it may send and open
 * endpoints: pipes.c. */
#include "transport/ucx/pipes.h"

#include <assert.h>
#include <endian.h>
#include <inttypes.h>
#include <sodium.h>
#include <string.h>

static void on_come(void *request, ucs_status_t status, size_t bytes, void *user) {
  tt_streams_packet *packet = user;
  tt_ucx_pipes *pipes = packet->carrier;
  assert(pipes->requests > 0);
  pipes->requests--;
  pipes->ucp.request_free(request);
  if (status == UCS_OK && bytes == tt_streams_packet_wire_bytes(packet))
    tt_streams_queue_add(&pipes->came, packet);
  else
    tt_streams_pool_put(&pipes->pool, packet); /* the endpoint's handler says more */
}

/* Fetches a long one. */
static ucs_status_t fetch(tt_ucx_rail *rail, tt_streams_packet *packet, void *data) {
  tt_ucx_pipes *pipes = rail->pipes;
  const ucp_request_param_t param = {.op_attr_mask = UCP_OP_ATTR_FIELD_CALLBACK | UCP_OP_ATTR_FIELD_USER_DATA |
                                                     UCP_OP_ATTR_FLAG_NO_IMM_CMPL,
                                     .cb.recv_am = on_come,
                                     .user_data = packet};
  ucs_status_ptr_t request =
      pipes->ucp.receive(rail->worker, data, &packet->head, tt_streams_packet_wire_bytes(packet), &param);
  if (UCS_PTR_IS_PTR(request)) {
    pipes->requests++;
    return UCS_INPROGRESS;
  }
  pipes->status = tt_fail(TUTTI_ERR_SYSTEM, "ucx: a packet from rank %" PRId64 " cannot be fetched: %s", packet->peer,
                          pipes->ucp.text(UCS_PTR_STATUS(request)));
  tt_streams_pool_put(&pipes->pool, packet);
  return UCS_PTR_STATUS(request);
}

/* *from: a rank of this job, or -1. */
static int64_t find_sender(const tt_ucx_pipes *pipes, const tt_ucx_front *front, size_t front_bytes) {
  if (front_bytes != sizeof *front || sodium_memcmp(front->key, pipes->front.key, sizeof front->key) != 0)
    return -1;
  int64_t from = (int64_t)le64toh((uint64_t)front->from);
  return from >= 0 && from < pipes->rank_count && from != pipes->rank ? from : -1;
}

ucs_status_t tt_ucx_arrive(void *user, const void *header, size_t header_bytes, void *data, size_t bytes,
                           const ucp_am_recv_param_t *how) {
  tt_ucx_rail *rail = user;
  tt_ucx_pipes *pipes = rail->pipes;
  tt_ucx_front front = {.from = -1};
  memcpy(&front, header, header_bytes < sizeof front ? header_bytes : sizeof front);
  int64_t from = find_sender(pipes, &front, header_bytes);
  if (from < 0 || bytes < sizeof(tt_streams_head) || bytes - sizeof(tt_streams_head) > TT_STREAMS_PACKET_BYTES) {
    tt_log(TT_LOG_INFO, "ucx: a message of %zu bytes does not come from a rank of this job; it is dropped", bytes);
    return UCS_OK;
  }
  tt_streams_packet *packet = tt_streams_pool_get(&pipes->pool, bytes - sizeof packet->head);
  if (!packet) {
    pipes->status = tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu bytes from rank %" PRId64, bytes, from);
    return UCS_OK;
  }
  packet->peer = from;
  packet->carrier = pipes;
  packet->bytes = (uint32_t)(bytes - sizeof packet->head);
  if (how->recv_attr & UCP_AM_RECV_ATTR_FLAG_RNDV)
    return fetch(rail, packet, data);
  memcpy(&packet->head, data, bytes);
  tt_streams_queue_add(&pipes->came, packet);
  return UCS_OK;
}
