/* bindings/mpi/front/load.c - finds the library that serves and the functions in it.
 *
 * It lies in the folder tutti/ beside this one. The system's loader knows where this one lay when it was loaded, even
 * where that was a relative path and the program has changed its folder since. $ORIGIN in dlopen would be shorter, but
 * is another library's where tools stand in front of dlopen, as the address sanitizer does. */
#include "front.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

/* The loader's words name the file or the function. */
_Noreturn static void give_up(void) {
  const char *why = dlerror();
  fprintf(stderr, "tutti: %s\n", why ? why : "the folder of the preloaded library is unknown");
  _exit(127);
}

static void own_folder(char folder[PATH_MAX]) {
  Dl_info about;
  void *self;
  if (!dladdr1((void *)(uintptr_t)tt_front_find, &about, &self, RTLD_DL_LINKMAP) ||
      dlinfo(self, RTLD_DI_ORIGIN, folder) != 0)
    give_up();
}

/* Only for itself and what it needs (RTLD_LOCAL): its names are the same as this library's. Threads that come here
 * together load it once: the loader counts. */
static void *serving(void) {
  static void *_Atomic library;
  void *loaded = atomic_load_explicit(&library, memory_order_acquire); /* pairs with the store */
  char folder[PATH_MAX], path[PATH_MAX + sizeof TUTTI_FRONT_SERVES];
  if (loaded)
    return loaded;
  own_folder(folder);
  snprintf(path, sizeof path, "%s/%s", folder, TUTTI_FRONT_SERVES);
  loaded = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
  if (!loaded)
    give_up();
  atomic_store_explicit(&library, loaded, memory_order_release); /* pairs with the load */
  return loaded;
}

tt_front_function tt_front_find(const char *name) {
  void *found = dlsym(serving(), name);
  if (!found)
    give_up();
  return (tt_front_function)(uintptr_t)found;
}
