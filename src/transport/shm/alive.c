/* transport/shm/alive.c - whether the process of a rank still is the one that joined, told by its memory.
 *
 * For ranks whose life lock is not there any more (peer.c), so it may cost. A process has a word that nobody else has
 * at that place: neither another program that it runs, nor a process that is given its number later, nor a fork of it.
 * Where the system does not let this rank read that, it lists what the process has mapped, which asks for less; the
 * segment is among it, in the ranks' forks too. A process whose first thread has ended is asked through the others. All
 * ranks of a segment are in one namespace of process numbers. */
#include "transport/shm/self.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <unistd.h>

static tt_shm_sign read_word(const tt_shm_rank *rank, pid_t thread) {
  uint64_t word = 0;
  const struct iovec local = {&word, sizeof word}, remote = {(void *)(uintptr_t)rank->probe_address, sizeof word};
  if (process_vm_readv(thread, &local, 1, &remote, 1, 0) >= 0)
    return word == rank->probe ? TT_SHM_THERE : TT_SHM_GONE;
  return errno == EFAULT || errno == ESRCH ? TT_SHM_GONE : TT_SHM_HIDDEN;
}

/* Without /proc all names are missing. */
static tt_shm_sign sign_of_error(int error) {
  bool missing = error == ENOENT || error == ESRCH;
  return missing && access("/proc/self", F_OK) == 0 ? TT_SHM_GONE : TT_SHM_HIDDEN;
}

static bool is_segment(const tt_shm_segment *segment, const char *line) {
  unsigned int major, minor;
  uint64_t number;
  return sscanf(line, "%*s %*s %*s %x:%x %" SCNu64, &major, &minor, &number) == 3 &&
         makedev(major, minor) == segment->file.device && number == segment->file.number;
}

static tt_shm_sign list_maps(const tt_shm_segment *segment, const tt_shm_rank *rank, pid_t thread) {
  char path[64], *line = NULL;
  size_t size = 0;
  tt_shm_sign sign = TT_SHM_GONE;
  snprintf(path, sizeof path, "/proc/%d/task/%d/maps", (int)rank->pid, (int)thread);
  FILE *maps = fopen(path, "re");
  if (maps == NULL)
    return sign_of_error(errno);
  while (sign != TT_SHM_THERE && getline(&line, &size, maps) > 0)
    if (is_segment(segment, line))
      sign = TT_SHM_THERE;
  free(line);
  fclose(maps);
  return sign;
}

static tt_shm_sign ask_thread(const tt_shm_segment *segment, const tt_shm_rank *rank, pid_t thread) {
  tt_shm_sign sign = read_word(rank, thread);
  return sign == TT_SHM_HIDDEN ? list_maps(segment, rank, thread) : sign;
}

static DIR *list_threads(const tt_shm_rank *rank) {
  char path[64];
  snprintf(path, sizeof path, "/proc/%d/task", (int)rank->pid);
  return opendir(path);
}

/* 0: there are no more. */
static pid_t next_thread(DIR *threads) {
  pid_t thread = 0;
  for (const struct dirent *entry; thread <= 0 && (entry = readdir(threads)) != NULL;)
    thread = (pid_t)strtol(entry->d_name, NULL, 10);
  return thread;
}

static tt_shm_sign ask_threads(const tt_shm_segment *segment, const tt_shm_rank *rank) {
  tt_shm_sign best = TT_SHM_GONE;
  DIR *threads = list_threads(rank);
  if (threads == NULL)
    return sign_of_error(errno);
  for (pid_t thread; best != TT_SHM_THERE && (thread = next_thread(threads)) > 0;) {
    tt_shm_sign sign = ask_thread(segment, rank, thread);
    best = sign > best ? sign : best;
  }
  closedir(threads);
  return best;
}

pid_t tt_shm_find_thread(const tt_shm_rank *rank) {
  DIR *threads = list_threads(rank);
  pid_t found = 0;
  for (pid_t thread; threads != NULL && found == 0 && (thread = next_thread(threads)) > 0;)
    found = read_word(rank, thread) == TT_SHM_THERE ? thread : 0;
  if (threads != NULL)
    closedir(threads);
  return found;
}

tt_shm_sign tt_shm_look_at(const tt_shm_segment *segment, const tt_shm_rank *rank) {
  return read_word(rank, rank->pid) == TT_SHM_THERE ? TT_SHM_THERE : ask_threads(segment, rank);
}
