/* base/file.c - whether a descriptor still is what it was: programs close descriptors that they have not opened
 * (closefrom), and then the number may be that of a file of theirs. */
#include "base/base.h"

#include <sys/stat.h>

tt_file tt_file_of(int fd) {
  struct stat facts;
  if (fd < 0 || fstat(fd, &facts) != 0)
    return (tt_file){.fd = -1};
  return (tt_file){fd, facts.st_dev, facts.st_ino};
}

bool tt_file_is_open(const tt_file *file) {
  tt_file now = tt_file_of(file->fd);
  return now.fd >= 0 && now.device == file->device && now.number == file->number;
}
