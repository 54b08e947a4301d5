/* transport/tcp/words.c - words to bytes and back, and a buffer of them. */
#include "transport/tcp/words.h"

#include <assert.h>
#include <endian.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(TT_TCP_WORD_BYTES == 2 * sizeof(uint32_t) + 2 * sizeof(uint64_t), "a word is two numbers of each size");
void tt_tcp_word_put(unsigned char wire[static TT_TCP_WORD_BYTES], tt_tcp_word word) {
  const uint32_t small[] = {htole32(word.kind), htole32(word.count)};
  const uint64_t large[] = {htole64(word.first), htole64(word.last)};
  memcpy(wire, small, sizeof small);
  memcpy(wire + sizeof small, large, sizeof large);
}

tt_tcp_word tt_tcp_word_get(const unsigned char wire[static TT_TCP_WORD_BYTES]) {
  uint32_t small[2];
  uint64_t large[2];
  memcpy(small, wire, sizeof small);
  memcpy(large, wire + sizeof small, sizeof large);
  return (tt_tcp_word){le32toh(small[0]), le32toh(small[1]), le64toh(large[0]), le64toh(large[1])};
}

/* What has been said makes room first. */
static tutti_status make_room(tt_tcp_words *words) {
  if (words->begin > 0)
    memmove(words->bytes, words->bytes + words->begin, words->end - words->begin);
  words->end -= words->begin;
  words->begin = 0;
  if (words->size - words->end >= TT_TCP_WORD_BYTES)
    return TUTTI_OK;
  size_t size = words->size ? 2 * words->size : 32 * TT_TCP_WORD_BYTES;
  unsigned char *bytes = realloc(words->bytes, size);
  if (!bytes)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu bytes of acknowledgements", size);
  words->bytes = bytes;
  words->size = size;
  return TUTTI_OK;
}

tutti_status tt_tcp_words_add(tt_tcp_words *words, tt_tcp_word word) {
  assert(words->begin <= words->end && words->end <= words->size);
  assert(word.kind >= TT_TCP_HAD && word.kind <= TT_TCP_LEAVES);
  if (words->begin == words->end)
    words->begin = words->end = 0;
  tutti_status status = words->size - words->end < TT_TCP_WORD_BYTES ? make_room(words) : TUTTI_OK;
  if (status == TUTTI_OK) {
    tt_tcp_word_put(words->bytes + words->end, word);
    words->end += TT_TCP_WORD_BYTES;
  }
  return status;
}

void tt_tcp_words_finish(tt_tcp_words *words) {
  free(words->bytes);
  *words = (tt_tcp_words){.bytes = NULL};
}
