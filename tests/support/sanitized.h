/* tests/support/sanitized.h - whether the address sanitizer is there: it takes a test three to six times as long. */
#ifndef TEST_SUPPORT_SANITIZED_H
#define TEST_SUPPORT_SANITIZED_H

#include <stdlib.h>

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

/* So many random cases, or a third with the sanitizer, unless in a long run. */
static inline int fewer_sanitized(int cases) {
  return SANITIZED && !getenv("TUTTI_TEST_LONG") ? (cases + 2) / 3 : cases;
}

#endif
