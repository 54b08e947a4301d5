/* bindings/heap/names.c - malloc and its relatives: large blocks come from the heap, all others from the C library. */
#include "heap.h"

#include <dlfcn.h>
#include <errno.h>
#include <gnu/libc-version.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* The C library's own; some that stand in front of it have these names, too. */
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *memory);

/* Another malloc that is behind this one: a sanitizer's, which also allocates in what it stands in front of, such as
 * strdup, or that of a library, which has functions of other names for the same memory. The heap is off then. */
static struct {
  void *(*malloc)(size_t bytes);
  void *(*calloc)(size_t count, size_t bytes);
  void *(*realloc)(void *memory, size_t bytes);
  void (*free)(void *memory);
  int (*posix_memalign)(void **memory, size_t align, size_t bytes);
  void *(*memalign)(size_t align, size_t bytes);
  void *(*aligned_alloc)(size_t align, size_t bytes);
  void *(*valloc)(size_t bytes);
  void *(*pvalloc)(size_t bytes);
} other;

static enum { UNKNOWN, SEARCHED, LIBC, OTHER } behind;

EXPORTED void *malloc(size_t bytes);
EXPORTED void *calloc(size_t count, size_t bytes);
EXPORTED void *realloc(void *memory, size_t bytes);
EXPORTED void free(void *memory);
EXPORTED int posix_memalign(void **memory, size_t align, size_t bytes);
EXPORTED void *memalign(size_t align, size_t bytes);
EXPORTED void *aligned_alloc(size_t align, size_t bytes);
EXPORTED void *valloc(size_t bytes);
EXPORTED void *pvalloc(size_t bytes);
EXPORTED size_t malloc_usable_size(void *memory);
EXPORTED void *dlopen(const char *file, int mode);

/* The functions here, whatever is called by their names: also what they call of each other. */
#define OWN(name) extern __typeof(name) own_##name __attribute__((alias(#name), visibility("hidden")))
OWN(malloc);
OWN(calloc);
OWN(realloc);
OWN(free);
OWN(posix_memalign);
OWN(memalign);
OWN(aligned_alloc);
OWN(malloc_usable_size);

static size_t (*usable_size)(void *memory); /* the C library's; set before there are blocks */

/* ---- what is behind the heap ---- */

/* What would be called by that name without the heap; NULL where that is no function of the C library. */
static void *find_behind(const char *name) {
  Dl_info about, libc;
  void *found = dlsym(RTLD_NEXT, name);
  bool known = found && dladdr(found, &about) && dladdr((void *)(uintptr_t)gnu_get_libc_version, &libc);
  return known && about.dli_fbase == libc.dli_fbase ? found : NULL;
}

static bool find_other(void) {
  static const char *const name[] = {"malloc",   "calloc",        "realloc", "free",   "posix_memalign",
                                     "memalign", "aligned_alloc", "valloc",  "pvalloc"};
  void *found[sizeof name / sizeof *name];
  if (find_behind("malloc"))
    return false;
  for (size_t n = 0; n < sizeof name / sizeof *name; n++)
    if (!(found[n] = dlsym(RTLD_NEXT, name[n])))
      return false;
  memcpy(&other, found, sizeof other);
  return true;
}

/* From the first call on, before there are threads. */
static inline bool is_other(void) {
  if (__builtin_expect(behind == UNKNOWN, 0)) {
    behind = SEARCHED; /* what the search allocates is the C library's */
    behind = find_other() ? OTHER : LIBC;
  }
  return __builtin_expect(behind == OTHER, 0);
}

static void *behind_malloc(size_t bytes) { return is_other() ? other.malloc(bytes) : __libc_malloc(bytes); }

static void *behind_calloc(size_t count, size_t bytes) {
  return is_other() ? other.calloc(count, bytes) : __libc_calloc(count, bytes);
}

static void *behind_realloc(void *memory, size_t bytes) {
  return is_other() ? other.realloc(memory, bytes) : __libc_realloc(memory, bytes);
}

static void behind_free(void *memory) {
  if (is_other())
    other.free(memory);
  else
    __libc_free(memory);
}

/* ---- whose the names are ---- */

/* A program that is loaded at a fixed address, and takes that of a function of a library, has a jump to it instead,
 * which is its address for all. */
static bool is_jump_of_program(void *called) {
  Dl_info about;
  const ElfW(Sym) *symbol = NULL;
  return dladdr1(called, &about, (void **)&symbol, RTLD_DL_SYMENT) != 0 && symbol && symbol->st_shndx == SHN_UNDEF;
}

/* What the dynamic section of a library says; NULL: nothing. */
static const void *find_in(const struct link_map *map, ElfW(Sxword) tag) {
  for (const ElfW(Dyn) *each = map->l_ld; each->d_tag != DT_NULL; each++)
    if (each->d_tag == tag) /* most systems have made an address of it */
      return (const void *)(each->d_un.d_ptr >= map->l_addr ? each->d_un.d_ptr : map->l_addr + each->d_un.d_ptr);
  return NULL;
}

static uint32_t hash_of(const char *name) {
  uint32_t hash = 5381;
  for (; *name; name++)
    hash = hash * 33 + (unsigned char)*name;
  return hash;
}

/* Whether others find a function of that name there. dlsym cannot tell before the library's constructors have run. */
static bool has_name(const struct link_map *map, const char *name) {
  const uint32_t *table = find_in(map, DT_GNU_HASH), hash = hash_of(name);
  const ElfW(Sym) *symbol = find_in(map, DT_SYMTAB);
  const char *text = find_in(map, DT_STRTAB);
  if (!table || table[0] == 0 || !symbol || !text)
    return true; /* who knows */
  const uint32_t *bucket = table + 4 + table[2] * (sizeof(ElfW(Addr)) / sizeof *table), *chain = bucket + table[0];
  uint32_t n = bucket[hash % table[0]];
  for (bool last = n < table[1]; !last; n++) {
    uint32_t at = chain[n - table[1]];
    if ((at | 1) == (hash | 1) && strcmp(text + symbol[n].st_name, name) == 0 && symbol[n].st_shndx != SHN_UNDEF)
      return true;
    last = at & 1;
  }
  return false;
}

/* Such a jump leads here: no library has the name that is searched before this one. (The system's own has no path.) */
static bool is_first(const char *name) {
  Dl_info about;
  struct link_map *map = NULL;
  if (dladdr1((void *)(uintptr_t)own_malloc, &about, (void **)&map, RTLD_DL_LINKMAP) == 0 || !map)
    return false;
  for (map = map->l_prev; map && map->l_prev; map = map->l_prev) /* the first is the program */
    if (strchr(map->l_name, '/') && has_name(map, name))
      return false;
  return true;
}

#define IS_OWN(name) (name == own_##name || (is_jump_of_program((void *)(uintptr_t)name) && is_first(#name)))

bool tt_heap_is_malloc(void) {
  bool first = IS_OWN(malloc) && IS_OWN(calloc) && IS_OWN(realloc) && IS_OWN(free) && IS_OWN(posix_memalign) &&
               IS_OWN(memalign) && IS_OWN(aligned_alloc) && IS_OWN(malloc_usable_size);
  void *found = find_behind("malloc_usable_size");
  memcpy(&usable_size, &found, sizeof usable_size);
  return first && found && find_behind("malloc") && find_behind("free");
}

/* ---- the names ---- */

static size_t room_of(void *memory) {
  if (tt_heap_has(memory))
    return tt_heap_room(memory);
  if (!usable_size) { /* there is no heap */
    void *found = dlsym(RTLD_NEXT, "malloc_usable_size");
    memcpy(&usable_size, &found, sizeof usable_size);
  }
  return usable_size(memory);
}

static inline bool is_large(size_t bytes) { return bytes >= tt_heap.threshold && tt_heap.bytes > 0; }

static void *aligned(size_t align, size_t bytes) {
  void *memory = is_large(bytes) ? tt_heap_take(bytes, align, false) : NULL;
  return memory ? memory : __libc_memalign(align, bytes);
}

void *malloc(size_t bytes) {
  void *memory = is_large(bytes) ? tt_heap_take(bytes, 1, false) : NULL;
  return memory ? memory : behind_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
  size_t all;
  bool large = !__builtin_mul_overflow(count, bytes, &all) && is_large(all);
  void *memory = large ? tt_heap_take(all, 1, true) : NULL;
  return memory ? memory : behind_calloc(count, bytes);
}

void free(void *memory) {
  if (tt_heap_has(memory))
    tt_heap_give(memory);
  else
    behind_free(memory);
}

static void *move(void *memory, size_t had, size_t bytes) {
  void *made = own_malloc(bytes);
  if (!made)
    return NULL;
  memcpy(made, memory, had < bytes ? had : bytes);
  own_free(memory);
  return made;
}

void *realloc(void *memory, size_t bytes) {
  if (!memory && is_large(bytes))
    return own_malloc(bytes);
  if (!tt_heap_has(memory)) {
    bool grows = is_large(bytes) && room_of(memory) < tt_heap.threshold;
    return grows ? move(memory, room_of(memory), bytes) : behind_realloc(memory, bytes);
  }
  if (bytes == 0) {
    own_free(memory);
    return NULL;
  }
  void *resized = is_large(bytes) ? tt_heap_resize(memory, bytes) : NULL;
  return resized ? resized : move(memory, tt_heap_room(memory), bytes);
}

static bool is_power(size_t align) { return align > 0 && (align & (align - 1)) == 0; }

int posix_memalign(void **memory, size_t align, size_t bytes) {
  if (is_other())
    return other.posix_memalign(memory, align, bytes);
  if (align < sizeof(void *) || !is_power(align))
    return EINVAL;
  int error = errno;
  void *made = aligned(align, bytes);
  errno = error;
  if (!made)
    return ENOMEM;
  *memory = made;
  return 0;
}

/* The C library says what an alignment may be. */
static void *aligned_by_power(size_t align, size_t bytes) {
  return is_power(align) ? aligned(align, bytes) : __libc_memalign(align, bytes);
}

void *memalign(size_t align, size_t bytes) {
  return is_other() ? other.memalign(align, bytes) : aligned_by_power(align, bytes);
}

void *aligned_alloc(size_t align, size_t bytes) {
  return is_other() ? other.aligned_alloc(align, bytes) : aligned_by_power(align, bytes);
}

void *valloc(size_t bytes) { return is_other() ? other.valloc(bytes) : aligned((size_t)getpagesize(), bytes); }

void *pvalloc(size_t bytes) {
  size_t page = (size_t)getpagesize();
  if (is_other())
    return other.pvalloc(bytes);
  return bytes > SIZE_MAX - page ? __libc_memalign(page, bytes) : aligned(page, (bytes + page - 1) / page * page);
}

size_t malloc_usable_size(void *memory) { return memory ? room_of(memory) : 0; }

/* A library that is bound to names deep in its own has the C library's free for what others have allocated. So nobody
 * is. A jump to the C library's, which looks for files as its caller would. */
void *dlopen(const char *file, int mode) {
  static void *(*_Atomic of_libc)(const char *file, int mode);
  void *(*open_library)(const char *, int) = atomic_load_explicit(&of_libc, memory_order_relaxed);
  if (!open_library) {
    void *found = dlsym(RTLD_NEXT, "dlopen");
    memcpy(&open_library, &found, sizeof open_library);
    atomic_store_explicit(&of_libc, open_library, memory_order_relaxed);
  }
  return open_library(file, tt_heap.bytes > 0 ? mode & ~RTLD_DEEPBIND : mode);
}
