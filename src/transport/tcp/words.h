/* transport/tcp/words.h - what is said on the way back of a connection: 24 bytes each, little-endian. All of it stays
 * true for ever, so that it can be said twice, in any order, on any connection. */
#ifndef TT_TRANSPORT_TCP_WORDS_H
#define TT_TRANSPORT_TCP_WORDS_H

#include "base/base.h"

#define TT_TCP_WORD_BYTES 24

typedef enum tt_tcp_word_kind {
  TT_TCP_HAD = 1,  /* letters first .. last have come */
  TT_TCP_RELEASED, /* of stream `first`, `count` slots have been released, ever */
  TT_TCP_LEAVES    /* who says it closes, and has sent letters 1 .. last */
} tt_tcp_word_kind;

typedef struct tt_tcp_word {
  uint32_t kind, count;
  uint64_t first, last;
} tt_tcp_word;

void tt_tcp_word_put(unsigned char wire[static TT_TCP_WORD_BYTES], tt_tcp_word word);
tt_tcp_word tt_tcp_word_get(const unsigned char wire[static TT_TCP_WORD_BYTES]);

/* What is to be said on one connection. */
typedef struct tt_tcp_words {
  unsigned char *bytes; /* from `begin` on to `end`; the first of them may be the rest of a word */
  size_t begin, end, size;
} tt_tcp_words;

tutti_status tt_tcp_words_add(tt_tcp_words *words, tt_tcp_word word);
void tt_tcp_words_finish(tt_tcp_words *words);

#endif
