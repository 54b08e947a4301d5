/* base/copy.c - memcpy, but where that is up to forty times slower.
 *
 * From some length on glibc before 2.39 copies by `rep movsb`. AMD's Zen 4 then takes two bytes a nanosecond where the
 * target lies 1 to 31 bytes behind the source, the rest of a page aside: its loads wait for stores that have nothing to
 * do with them (glibc's bug 30994). What malloc gives begins 16 bytes behind a page, and slots begin with one. */
#include "base/base.h"

#include <string.h>

#define PAGE 4096
#define BEHIND 64  /* with a margin */
#define PIECE 1024 /* as long as memcpy goes by vectors everywhere */

void tt_copy(void *to, const void *from, size_t bytes) {
  uintptr_t behind = ((uintptr_t)to - (uintptr_t)from) % PAGE;
  if (behind == 0 || behind >= BEHIND) {
    memcpy(to, from, bytes);
    return;
  }
  for (size_t done = 0; done < bytes; done += PIECE)
    memcpy((char *)to + done, (const char *)from + done, bytes - done < PIECE ? bytes - done : PIECE);
}
