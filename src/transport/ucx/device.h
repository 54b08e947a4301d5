/* transport/ucx/device.h - what UCX calls a NIC. */
#ifndef TT_TRANSPORT_UCX_DEVICE_H
#define TT_TRANSPORT_UCX_DEVICE_H

#include "base/base.h"

#define TT_UCX_DEVICES_BYTES 256

/* "eth0" becomes "eth0", or "eth0,mlx5_0:1" where the NIC is an RDMA device's port too: for UCX_NET_DEVICES.
 * sys: "/sys/class/net". */
void tt_ucx_device_names(const char *sys, const char *nic, char text[static TT_UCX_DEVICES_BYTES]);

#endif
