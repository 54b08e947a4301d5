/* bindings/heap/hold.c - while a block moves, threads that write to it wait: userfaultfd, by write protection.
 *
 * Where the system lets this process see only faults of programs, not of system calls (vm.unprivileged_userfaultfd = 0
 * and no capability), a read() into the block would fail meanwhile: then nothing is held. */
#include "heap.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* What headers may be too old for: pages that were never touched, and files in memory, can be protected. */
#define FILES_TOO ((uint64_t)1 << 12)
#define UNTOUCHED_TOO ((uint64_t)1 << 13)
#ifndef MADV_POPULATE_READ
#define MADV_POPULATE_READ 22
#endif

/* -1: the system does not do that. */
static int open_with(uint64_t features) {
  int fd = (int)syscall(SYS_userfaultfd, O_CLOEXEC);
  struct uffdio_api api = {.api = UFFD_API, .features = features};
  if (fd >= 0 && ioctl(fd, UFFDIO_API, &api) == 0)
    return fd;
  if (fd >= 0)
    close(fd);
  return -1;
}

static bool protect(int fd, void *at, size_t bytes) {
  struct uffdio_range range = {(uint64_t)(uintptr_t)at, bytes};
  struct uffdio_register all = {.range = range, .mode = UFFDIO_REGISTER_MODE_WP};
  struct uffdio_writeprotect wait = {.range = range, .mode = UFFDIO_WRITEPROTECT_MODE_WP};
  return ioctl(fd, UFFDIO_REGISTER, &all) == 0 && ioctl(fd, UFFDIO_WRITEPROTECT, &wait) == 0;
}

/* As of a coroutine: this thread would wait for itself. */
static bool is_own_stack(const void *at, size_t bytes) {
  return (size_t)((const char *)__builtin_frame_address(0) - (const char *)at) < bytes;
}

bool tt_heap_hold(heap_hold *held, void *at, size_t bytes) {
  uint64_t base = UFFD_FEATURE_PAGEFAULT_FLAG_WP | FILES_TOO;
  sigset_t all;
  held->fd = -1;
  if (is_own_stack(at, bytes))
    return false;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &held->cancel);
  held->fd = open_with(base | UNTOUCHED_TOO);
  if (held->fd < 0 && (held->fd = open_with(base)) >= 0 && madvise(at, bytes, MADV_POPULATE_READ) != 0) {
    close(held->fd);
    held->fd = -1;
  }
  if (held->fd < 0) {
    pthread_setcancelstate(held->cancel, NULL);
    return false;
  }
  sigfillset(&all); /* a handler of this thread would wait for itself */
  pthread_sigmask(SIG_SETMASK, &all, &held->signals);
  if (protect(held->fd, at, bytes))
    return true;
  tt_heap_let_go(held);
  return false;
}

/* Closing it wakes all who wait. */
void tt_heap_let_go(heap_hold *held) {
  if (held->fd < 0)
    return;
  close(held->fd);
  pthread_sigmask(SIG_SETMASK, &held->signals, NULL);
  pthread_setcancelstate(held->cancel, NULL);
  held->fd = -1;
}
