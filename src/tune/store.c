/* tune/store.c - what was measured to a file: several jobs may add to it at once, and a reader never finds half of one.
 *
 *     lock      <path>.lock, for as long as this takes; where locks do not work, as on some file systems, without
 *     merge     what stands in the file now, and over it what is new, in order
 *     replace   a new file beside it takes its name; a signal that ends the process waits for that */
#include "tune/store.h"
#include "tune/wisdom.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH 4096

static tutti_status cannot(const char *what, const char *path) {
  return tt_fail(TUTTI_ERR_ARGUMENT, "%s: cannot %s: %s", path, what, strerror(errno));
}

/* Folders above the file. */
static void make_folders(const char *path) {
  char folder[PATH];
  snprintf(folder, sizeof folder, "%s", path);
  for (char *at = strchr(folder + 1, '/'); at; at = strchr(at + 1, '/')) {
    *at = '\0';
    mkdir(folder, 0777);
    *at = '/';
  }
}

/* The file itself, where the path is that of a link: the link stays, and all of its names have one lock. */
static const char *follow(const char *path, char file[static PATH]) { return realpath(path, file) ? file : path; }

tutti_status tt_store_lock(const char *path, int *lock) {
  char name[PATH + 8], file[PATH];
  if (strlen(path) >= PATH)
    return tt_fail(TUTTI_ERR_ARGUMENT, "a path of %zu letters is too long", strlen(path));
  make_folders(path);
  snprintf(name, sizeof name, "%s.lock", follow(path, file));
  *lock = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  if (*lock < 0 && errno == EACCES) /* another user's, which may be locked all the same */
    *lock = open(name, O_RDONLY | O_CLOEXEC);
  while (*lock >= 0 && flock(*lock, LOCK_EX) != 0 && errno == EINTR)
    ;
  return TUTTI_OK;
}

void tt_store_unlock(int lock) {
  if (lock >= 0)
    close(lock);
}

static json_t *json_of_region(const tt_region *region) {
  return json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "collective", tt_compose_info(region->collective).name, "ranks",
                   (json_int_t)region->rank_count, "nodes", (json_int_t)region->node_count, "ranks_per_node",
                   (json_int_t)region->ranks_per_node, "nics", (json_int_t)region->nic_count, "bytes",
                   (json_int_t)region->bytes);
}

/* A row a line, so that people and diff can read it. Takes both; NULL: no memory. */
static bool put_row(FILE *file, bool first, json_t *json, json_t *more) {
  bool good = json && more && json_object_update(json, more) == 0;
  char *text = good ? json_dumps(json, JSON_PRESERVE_ORDER) : NULL;
  good = text && fprintf(file, "%s\n  %s", first ? "" : ",", text) > 0;
  free(text);
  json_decref(json);
  json_decref(more);
  return good;
}

static bool put_winners(FILE *file, const tt_wisdom *wisdom) {
  bool good = true;
  for (int64_t n = 0; n < wisdom->count && good; n++) {
    const tt_winner *at = &wisdom->winner[n];
    good = put_row(file, n == 0, json_of_region(&at->region),
                   json_pack("{s:s, s:I, s:I}", "params", at->text, "ns", (json_int_t)at->time_ns, "rules_ns",
                             (json_int_t)at->rules_ns));
  }
  return good;
}

static bool put_outside(FILE *file, const tt_wisdom *wisdom) {
  bool good = wisdom->outside_count == 0 || fputs("\n],\n\"outside\": [", file) >= 0;
  for (int64_t n = 0; n < wisdom->outside_count && good; n++) {
    const tt_outside *at = &wisdom->outside[n];
    good = put_row(file, n == 0, json_of_region(&at->region),
                   json_pack("{s:s, s:b, s:I, s:I}", "library", at->library, "wins", (int)at->wins, "ns",
                             (json_int_t)at->time_ns, "tutti_ns", (json_int_t)at->tutti_ns));
  }
  return good;
}

static bool put_all(FILE *file, const void *user) {
  const tt_wisdom *wisdom = user;
  json_t *about = json_string(wisdom->about);
  char *text = about ? json_dumps(about, JSON_ENCODE_ANY) : NULL;
  bool good = text && fprintf(file, "{\"tutti-wisdom\": 1, \"machine\": \"%s\", \"about\": %s, \"winners\": [",
                              wisdom->machine, text) > 0;
  good = good && put_winners(file, wisdom) && put_outside(file, wisdom) && fputs("\n]}\n", file) >= 0;
  free(text);
  json_decref(about);
  return good;
}

static tutti_status replace(const char *path, tt_store_put put, const void *user) {
  char name[PATH + 16], real[PATH];
  const char *target = follow(path, real);
  snprintf(name, sizeof name, "%s.XXXXXX", target);
  int fd = mkostemp(name, O_CLOEXEC);
  FILE *file = fd >= 0 ? fdopen(fd, "w") : NULL;
  if (!file) {
    if (fd >= 0)
      close(fd);
    return cannot("write a file beside it", path);
  }
  struct stat before;
  mode_t mode = stat(target, &before) == 0 ? before.st_mode & 0777 : 0644;
  bool good = put(file, user) && fflush(file) == 0 && fchmod(fd, mode) == 0 && fsync(fd) == 0;
  good = fclose(file) == 0 && good && rename(name, target) == 0;
  if (good)
    return TUTTI_OK;
  tutti_status status = cannot("write it", path);
  unlink(name);
  return status;
}

tutti_status tt_store_replace(const char *path, tt_store_put put, const void *user) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); /* else Ctrl-C would leave the new file there, which nobody removes */
  tutti_status status = replace(path, put, user);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return status;
}

bool tt_store_is_missing(const char *path) { return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR); }

tutti_status tt_wisdom_open(const char *path, const char *machine, const char *about, tt_wisdom **wisdom) {
  if (tt_store_is_missing(path))
    return tt_wisdom_create(machine, about, wisdom);
  tutti_status status = tt_wisdom_read(path, wisdom);
  if (status == TUTTI_OK && strcmp((*wisdom)->machine, machine) != 0)
    status = tt_fail(TUTTI_ERR_UNSUPPORTED, "%s: it is of machine %s, and this is %s; it is left alone", path,
                     (*wisdom)->machine, machine);
  return status;
}

/* What the file has, and the new winners over it. */
static tutti_status merge(const char *path, const tt_wisdom *from, tt_wisdom **merged) {
  tutti_status status = tt_wisdom_open(path, from->machine, from->about, merged);
  for (int64_t n = 0; n < from->count && status == TUTTI_OK; n++)
    status = tt_wisdom_put(*merged, &from->winner[n]);
  for (int64_t n = 0; n < from->outside_count && status == TUTTI_OK; n++)
    status = tt_wisdom_put_outside(*merged, &from->outside[n]);
  return status;
}

tutti_status tt_wisdom_write(const char *path, const tt_wisdom *wisdom) {
  tt_wisdom *merged = NULL;
  int lock;
  tutti_status status = tt_store_lock(path, &lock);
  if (status != TUTTI_OK)
    return status;
  status = merge(path, wisdom, &merged);
  if (status == TUTTI_OK) {
    tt_wisdom_sort(merged);
    status = tt_store_replace(path, put_all, merged);
  }
  tt_wisdom_destroy(merged);
  tt_store_unlock(lock);
  return status;
}
