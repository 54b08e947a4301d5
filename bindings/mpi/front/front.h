/* bindings/mpi/front/front.h - what is preloaded: MPI's functions, each of which goes on to the function of that name
 * in the library that serves it.
 *
 * Everything that a rank starts inherits the preload, shells and commands too. So the library that is preloaded needs
 * the system's C library only and does nothing until MPI is called. The other half, which brings tutti and needs the
 * MPI, is loaded at the first call. */
#ifndef TT_FRONT_H
#define TT_FRONT_H

#include <stdatomic.h>
#include <stddef.h>

typedef void (*tt_front_function)(void);

/* The function of that name in the library that serves. Ends the process where there is none: ranks that went on
 * without it would wait for each other in different calls. For threads: any. */
tt_front_function tt_front_find(const char *name);

/* Declares `serve`, the function `name` with the type of `like`; looked up once. */
#define TT_FRONT_SERVE(like, name)                                                                                     \
  static __typeof__(like) *_Atomic found;                                                                              \
  __typeof__(like) *serve = atomic_load_explicit(&found, memory_order_acquire); /* pairs with the store */             \
  if (__builtin_expect(serve == NULL, 0)) {                                                                            \
    serve = (__typeof__(like) *)tt_front_find(name);                                                                   \
    atomic_store_explicit(&found, serve, memory_order_release); /* pairs with the load */                              \
  }

#endif
