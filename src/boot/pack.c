/* boot/pack.c - all ranks' contributions as the launcher sends them to each rank: only what is other than in the rank
 * before it.
 *
 * Ranks mostly say the same, such as versions, sizes and errors that did not occur; unpacked, everyone's bytes to
 * everyone would grow with the square of the ranks. Each contribution is a list of pieces: so many bytes as in the one
 * before, then so many others, which follow. Before the first one is one of zeros. */
#include "boot/wire.h"

#include <assert.h>
#include <string.h>

#define WORTH_A_PIECE 16 /* equal bytes: fewer go with the others */

typedef struct piece {
  uint32_t same, other;
} piece;

/* From `at` on, how many bytes are as in `before`; NULL: as zeros. */
static size_t same_bytes(const char *mine, const char *before, size_t at, size_t bytes) {
  size_t n = at;
  while (n < bytes && mine[n] == (before != NULL ? before[n] : 0))
    n++;
  return n - at;
}

static piece next_piece(const char *mine, const char *before, size_t at, size_t bytes) {
  assert(at < bytes && bytes <= UINT32_MAX);
  piece next = {.same = (uint32_t)same_bytes(mine, before, at, bytes)};
  size_t end = at + next.same, same = 0;
  while (end < bytes && (same = same_bytes(mine, before, end, bytes)) < WORTH_A_PIECE && end + same < bytes)
    end += same + 1;
  next.other = (uint32_t)(end - at - next.same);
  return next;
}

size_t tt_boot_pack(const char *mine, const char *before, size_t bytes, char *packed) {
  size_t used = 0;
  for (size_t at = 0; at < bytes;) {
    piece next = next_piece(mine, before, at, bytes);
    assert(next.same + next.other > 0 && next.other <= bytes - at - next.same);
    if (packed != NULL) {
      memcpy(packed + used, &next, sizeof next);
      memcpy(packed + used + sizeof next, mine + at + next.same, next.other);
    }
    used += sizeof next + next.other;
    at += (size_t)next.same + next.other;
  }
  return used;
}

/* One contribution; 0: the bytes make none. */
static size_t unpack(const char *packed, size_t packed_bytes, const char *before, char *mine, size_t bytes) {
  size_t used = 0;
  for (size_t at = 0; at < bytes;) {
    piece next;
    if (packed_bytes - used < sizeof next)
      return 0;
    memcpy(&next, packed + used, sizeof next);
    used += sizeof next;
    if (next.same > bytes - at || next.other > bytes - at - next.same || next.other > packed_bytes - used ||
        next.same + next.other == 0)
      return 0;
    if (before != NULL)
      memcpy(mine + at, before + at, next.same);
    else
      memset(mine + at, 0, next.same);
    memcpy(mine + at + next.same, packed + used, next.other);
    used += next.other;
    at += (size_t)next.same + next.other;
  }
  return used;
}

bool tt_boot_unpack(const char *packed, size_t packed_bytes, char *all, size_t bytes, int64_t rank_count) {
  size_t used = 0;
  for (int64_t r = 0; r < rank_count && bytes > 0; r++) {
    char *mine = all + (size_t)r * bytes;
    size_t taken = unpack(packed + used, packed_bytes - used, r > 0 ? mine - bytes : NULL, mine, bytes);
    if (taken == 0)
      return false;
    used += taken;
  }
  return used == packed_bytes;
}
