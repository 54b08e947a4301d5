/* bindings/heap/statics.c - the program's static arrays (globals of C, COMMON of Fortran), where TUTTI_HEAP says so.
 *
 * They lie in the file from the start: the writable segments of the program are copied there before anything else runs,
 * so that nobody writes meanwhile, and the file is mapped over them. After a fork they are private, as blocks are, and
 * stay so: now others may write to them at any time. */
#include "heap.h"

#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LEAST_BYTES ((size_t)1 << 20)
enum { SEGMENTS = 4, PAGES = 512 };

typedef struct segment {
  unsigned char *base;
  size_t bytes;  /* whole pages */
  size_t loaded; /* the first of them: of the program's file */
  uint32_t place;
  bool shared; /* mapped from there */
  bool known;  /* all of it still was, when the job asked: nobody has mapped anything over it */
} segment;

static struct {
  segment at[SEGMENTS];
  int count;
} statics;

static size_t up(size_t bytes, size_t page) { return (bytes + page - 1) / page * page; }

/* Behind what the loader has made read-only. */
static size_t begin_of(const struct dl_phdr_info *program, const ElfW(Phdr) * load, size_t page) {
  size_t first = load->p_vaddr / page * page;
  for (int n = 0; n < program->dlpi_phnum; n++) {
    const ElfW(Phdr) *each = &program->dlpi_phdr[n];
    size_t end = (each->p_vaddr + each->p_memsz) / page * page;
    bool inside = each->p_vaddr >= load->p_vaddr && each->p_vaddr < load->p_vaddr + load->p_memsz;
    if (each->p_type == PT_GNU_RELRO && inside && end > first)
      first = end;
  }
  return first;
}

/* Of the program, which is the first that the loader tells. The rest of the last page is nobody's. */
static int find_segments(struct dl_phdr_info *program, size_t size, void *unused) {
  (void)size, (void)unused;
  size_t page = (size_t)getpagesize();
  for (int n = 0; n < program->dlpi_phnum && statics.count < SEGMENTS; n++) {
    const ElfW(Phdr) *load = &program->dlpi_phdr[n];
    if (load->p_type != PT_LOAD || (load->p_flags & (PF_W | PF_X)) != PF_W)
      continue;
    size_t first = begin_of(program, load, page), end = up(load->p_vaddr + load->p_memsz, page);
    size_t of_file = up(load->p_vaddr + load->p_filesz, page);
    if (end >= first + LEAST_BYTES)
      statics.at[statics.count++] = (segment){.base = (unsigned char *)(program->dlpi_addr + first),
                                              .bytes = end - first,
                                              .loaded = of_file > first ? of_file - first : 0};
  }
  return 1;
}

/* Pages that were never touched are not read: that would take longer than to copy the others. pages: -1: none tells. */
static bool was_touched(int pages, const unsigned char *at, size_t page) {
  static uint64_t about[PAGES];
  static size_t known; /* the page of the first, which is never 0 */
  size_t number = (size_t)(uintptr_t)at / page;
  if (pages < 0)
    return true;
  if (known == 0 || number - known >= PAGES) {
    known = number;
    if (pread(pages, about, sizeof about, (off_t)(number * sizeof about[0])) != (ssize_t)sizeof about)
      memset(about, 0xff, sizeof about);
  }
  return about[number - known] >> 62 != 0; /* in memory, or swapped out */
}

static void copy(unsigned char *to, const segment *from) {
  size_t page = (size_t)getpagesize();
  int pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
  for (size_t at = 0; at < from->bytes; at += page)
    if (at < from->loaded || was_touched(pages, from->base + at, page))
      tt_heap_copy(to + at, from->base + at, page);
  if (pages >= 0)
    close(pages);
}

static bool share(segment *of) {
  uint32_t count = tt_heap_granules(of->bytes), place = tt_heap_place_take(count);
  unsigned char *made = place == HEAP_NONE ? NULL : tt_heap_place_map(NULL, place, of->bytes, true);
  if (!made)
    return false;
  copy(made, of);
  munmap(made, of->bytes);
  of->place = place;
  of->shared = tt_heap_place_map(of->base, place, of->bytes, true) != NULL;
  return of->shared;
}

const char *tt_heap_share_statics(void) {
  tt_heap_file file;
  dl_iterate_phdr(find_segments, NULL);
  if (statics.count > 0 && !tt_heap_is_alone())
    return "the program has threads before it begins";
  if (statics.count > 0 && !tt_heap_file_tell(&file))
    return "there is no file for them";
  for (int n = 0; n < statics.count; n++)
    if (!share(&statics.at[n]))
      return "there is no room for them in the file";
  return statics.count > 0 ? NULL : "the program has less than 1 MiB of them";
}

static segment *find(const void *data, size_t bytes) {
  for (int n = 0; n < statics.count; n++) {
    size_t at = (size_t)((const unsigned char *)data - statics.at[n].base);
    if (at < statics.at[n].bytes && bytes <= statics.at[n].bytes - at)
      return &statics.at[n];
  }
  return NULL;
}

static uint64_t offset_of(const segment *of, const unsigned char *at) {
  return (uint64_t)of->place * HEAP_GRANULE + (uint64_t)(at - of->base);
}

bool tt_heap_locate_static(const void *data, size_t bytes, uint64_t *offset) {
  const segment *of = find(data, bytes);
  if (!of || tt_heap.child)
    return false;
  tt_heap_lock();
  bool known = of->shared && of->known;
  *offset = offset_of(of, data);
  tt_heap_unlock();
  return known;
}

/* ---- what lies there now: others may map something over it, as libhugetlbfs does at its start ---- */

typedef struct pieces {
  const segment *of;
  size_t bytes; /* of them that are ours, to read and write */
} pieces;

static void count_piece(const heap_map *map, void *argument) {
  pieces *all = argument;
  bool ours = map->shared && tt_heap_file_is(map->device, map->inode) && map->offset == offset_of(all->of, map->from);
  if (ours && map->prot == (PROT_READ | PROT_WRITE))
    all->bytes += (size_t)(map->to - map->from);
}

void tt_heap_check_statics(void) {
  for (int n = 0; n < statics.count; n++) {
    segment *of = &statics.at[n];
    pieces all = {.of = of};
    of->known = of->shared && tt_heap_each_map(of->base, of->bytes, count_piece, &all) && all.bytes == of->bytes;
  }
}

void tt_heap_freeze_statics(void) {
  for (int n = 0; n < statics.count; n++) {
    segment *of = &statics.at[n];
    if (of->shared && !tt_heap_freeze_pieces(of->base, of->bytes))
      tt_heap_freeze(of->base, offset_of(of, of->base), of->bytes, PROT_READ | PROT_WRITE);
    of->shared = false;
  }
}

size_t tt_heap_statics_shared(void) {
  size_t bytes = 0;
  for (int n = 0; n < statics.count; n++)
    bytes += statics.at[n].shared ? statics.at[n].bytes : 0;
  return bytes;
}
