/* boot/wire.c - abstract Unix sockets between processes of one user. */
#include "boot/wire.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>

socklen_t tt_boot_address(const char *name, struct sockaddr_un *address) {
  size_t length = strnlen(name, sizeof address->sun_path - 1);
  assert(length > 0 && name[length] == '\0');
  memset(address, 0, sizeof *address);
  address->sun_family = AF_UNIX;
  memcpy(address->sun_path + 1, name, length); /* the first byte stays 0: abstract */
  return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
}

bool tt_boot_same_user(int fd) {
  struct ucred peer;
  socklen_t size = sizeof peer;
  return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == geteuid();
}
