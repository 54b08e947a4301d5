/* tests/heap/programs/check.h - for programs that run with libtutti-heap.so preloaded. */
#ifndef TESTS_HEAP_CHECK_H
#define TESTS_HEAP_CHECK_H

#include <transport/shm/offer.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      fprintf(stderr, "%s:%d: CHECK(%s) failed in process %d\n", __FILE__, __LINE__, #condition, (int)getpid());       \
      _exit(1);                                                                                                        \
    }                                                                                                                  \
  } while (0)

static inline const tt_heap_offer *find_heap(void) {
  void *found = dlsym(RTLD_DEFAULT, TT_HEAP_OFFER);
  tt_heap_offer_function *ask;
  memcpy(&ask, &found, sizeof ask);
  const tt_heap_offer *offer = ask ? ask() : NULL;
  tt_heap_file file;
  CHECK(offer && offer->version == TT_HEAP_VERSION && offer->file(&file)); /* a job's beginning asks for it */
  return offer;
}

/* As two calls do: then it is where peers can read it, if it can be. */
static inline bool share(const tt_heap_offer *heap, const void *data, size_t bytes) {
  uint64_t offset;
  heap->use(data, bytes);
  heap->use(data, bytes);
  return heap->locate(data, bytes, &offset);
}

/* From now on what is mapped is memory at once, and stays so. false: this process may not have so much. */
static inline bool lock_all(size_t bytes) {
  void *made = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_LOCKED, -1, 0);
  return made != MAP_FAILED && munmap(made, bytes) == 0 && mlockall(MCL_FUTURE) == 0;
}

#endif
