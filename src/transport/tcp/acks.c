/* transport/tcp/acks.c - acks to bytes and back, and a buffer of them. */
#include "transport/tcp/acks.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(TT_TCP_ACK_BYTES == 2 * sizeof(uint32_t) + 2 * sizeof(uint64_t), "an ack is two numbers of each size");
void tt_tcp_ack_put(unsigned char wire[static TT_TCP_ACK_BYTES], tt_tcp_ack ack) {
  const uint32_t small[] = {htole32(ack.kind), htole32(ack.count)};
  const uint64_t large[] = {htole64(ack.first), htole64(ack.last)};
  memcpy(wire, small, sizeof small);
  memcpy(wire + sizeof small, large, sizeof large);
}

tt_tcp_ack tt_tcp_ack_get(const unsigned char wire[static TT_TCP_ACK_BYTES]) {
  uint32_t small[2];
  uint64_t large[2];
  memcpy(small, wire, sizeof small);
  memcpy(large, wire + sizeof small, sizeof large);
  return (tt_tcp_ack){le32toh(small[0]), le32toh(small[1]), le64toh(large[0]), le64toh(large[1])};
}

/* What has been said makes room first. */
static tutti_status make_room(tt_tcp_acks *acks) {
  if (acks->begin > 0)
    memmove(acks->bytes, acks->bytes + acks->begin, acks->end - acks->begin);
  acks->end -= acks->begin;
  acks->begin = 0;
  if (acks->size - acks->end >= TT_TCP_ACK_BYTES)
    return TUTTI_OK;
  size_t size = acks->size ? 2 * acks->size : 32 * TT_TCP_ACK_BYTES;
  unsigned char *bytes = realloc(acks->bytes, size);
  if (!bytes)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu bytes of acknowledgements", size);
  acks->bytes = bytes;
  acks->size = size;
  return TUTTI_OK;
}

tutti_status tt_tcp_acks_add(tt_tcp_acks *acks, tt_tcp_ack ack) {
  assert(acks->begin <= acks->end && acks->end <= acks->size);
  assert(ack.kind >= TT_TCP_HAD && ack.kind <= TT_TCP_LEAVES);
  if (acks->begin == acks->end)
    acks->begin = acks->end = 0;
  tutti_status status = acks->size - acks->end < TT_TCP_ACK_BYTES ? make_room(acks) : TUTTI_OK;
  if (status == TUTTI_OK) {
    tt_tcp_ack_put(acks->bytes + acks->end, ack);
    acks->end += TT_TCP_ACK_BYTES;
  }
  return status;
}

void tt_tcp_acks_finish(tt_tcp_acks *acks) {
  free(acks->bytes);
  *acks = (tt_tcp_acks){.bytes = NULL};
}
