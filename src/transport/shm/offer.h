/* transport/shm/offer.h - what libtutti-heap.so offers to the library in its process, which finds it by its name at
 * run time: blocks of malloc that calls use move into a file that other processes map to read. */
#ifndef TT_SHM_OFFER_H
#define TT_SHM_OFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TT_HEAP_VERSION 1u               /* of tt_heap_offer */
#define TT_HEAP_OFFER "tutti_heap_offer" /* a tt_heap_offer_function */

typedef struct tt_heap_file {
  int descriptor;        /* in this process */
  uint64_t inode, bytes; /* it never shrinks */
} tt_heap_file;

/* Threads: any. */
typedef struct tt_heap_offer {
  uint32_t version; /* TT_HEAP_VERSION, else nothing else may be looked at */
  /* false: there is none, or the program has closed it. */
  bool (*file)(tt_heap_file *file);
  /* A call begins that lends memory, or has ended: nobody reads what it lent any more. */
  void (*lending)(bool begins);
  /* The call uses these bytes: until it ends nobody else writes to them. Blocks that calls have used as a whole twice
   * move into the file. */
  void (*use)(const void *data, size_t bytes);
  /* Where in the file they lie, one after the other. What is written to them is written there, until they are freed or
   * the process forks. false: not there. */
  bool (*locate)(const void *data, size_t bytes, uint64_t *offset);
} tt_heap_offer;

typedef const tt_heap_offer *tt_heap_offer_function(void);

/* What TUTTI_HEAP may be: empty or off, else some of these, with commas. */
enum { TT_HEAP_ON = 1, TT_HEAP_PARTS = 2, TT_HEAP_STATICS = 4 };
#define TT_HEAP_NEITHER "neither off nor on, parts, statics, or several of these with commas"

/* *modes: 0: off. false: it is something else. text: NULL: it is not set. */
static inline bool tt_heap_read_modes(const char *text, unsigned *modes) {
  static const char *const words[] = {"on", "parts", "statics"};
  *modes = 0;
  if (text == NULL || *text == '\0' || strcmp(text, "off") == 0)
    return true;
  for (;; text++) {
    size_t length = strcspn(text, ",");
    unsigned mode = 0;
    for (unsigned n = 0; n < sizeof words / sizeof words[0]; n++)
      if (strlen(words[n]) == length && strncmp(text, words[n], length) == 0)
        mode = 1u << n;
    *modes = mode != 0 ? *modes | mode : 0;
    text += length;
    if (mode == 0 || *text == '\0')
      return mode != 0;
  }
}

#endif
