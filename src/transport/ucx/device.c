/* transport/ucx/device.c - UCX names RDMA devices by the system's names of them and a port, other NICs as the system
 * does. Which belong together is in /sys: eth0/device/infiniband/mlx5_0, and the port from 0 in eth0/dev_port. */
#include "transport/ucx/device.h"

#include <dirent.h>
#include <stdio.h>

static int read_port(const char *sys, const char *nic) {
  char path[512];
  int port = 0;
  snprintf(path, sizeof path, "%s/%s/dev_port", sys, nic);
  FILE *file = fopen(path, "r");
  if (file && fscanf(file, "%d", &port) != 1)
    port = 0;
  if (file)
    fclose(file);
  return port + 1;
}

void tt_ucx_device_names(const char *sys, const char *nic, char text[static TT_UCX_DEVICES_BYTES]) {
  char path[512];
  size_t used = (size_t)snprintf(text, TT_UCX_DEVICES_BYTES, "%s", nic);
  snprintf(path, sizeof path, "%s/%s/device/infiniband", sys, nic);
  DIR *folder = opendir(path);
  for (struct dirent *entry; folder && (entry = readdir(folder));)
    if (entry->d_name[0] != '.' && used < TT_UCX_DEVICES_BYTES)
      used += (size_t)snprintf(text + used, TT_UCX_DEVICES_BYTES - used, ",%s:%d", entry->d_name, read_port(sys, nic));
  if (folder)
    closedir(folder);
}
