/* tests/support/sent.h - what was sent by a medium, beside what was foreseen. */
#ifndef TEST_SENT_H
#define TEST_SENT_H

#include "exec/exec.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

static inline bool sent_lies_between(const tt_sent *sent, const tt_sent_range *foreseen) {
  const tt_sent *least = &foreseen->least, *most = &foreseen->most;
  return least->messages <= sent->messages && sent->messages <= most->messages && least->bytes <= sent->bytes &&
         sent->bytes <= most->bytes && least->slots <= sent->slots && sent->slots <= most->slots;
}

static inline void sent_print(int medium, const tt_sent *sent, const tt_sent_range *foreseen) {
  const tt_sent *least = &foreseen->least, *most = &foreseen->most;
  fprintf(stderr,
          "%s: messages %" PRId64 " of %" PRId64 " .. %" PRId64 ", bytes %" PRId64 " of %" PRId64 " .. %" PRId64
          ", slots %" PRId64 " of %" PRId64 " .. %" PRId64 "\n",
          tt_medium_name[medium], sent->messages, least->messages, most->messages, sent->bytes, least->bytes,
          most->bytes, sent->slots, least->slots, most->slots);
}

#endif
