/* topo/nics/nics.h - the NICs of this machine, and which of them carry data between machines: the rails.
 *
 *     system.c   what the system says of each: getifaddrs, /sys/class/net
 *     file.c     the same of a recorded machine: nics.txt
 *     judge.c    which are fit for rails, and why the others are not; which of them TUTTI_NICS wants */
#ifndef TT_TOPO_NICS_NICS_H
#define TT_TOPO_NICS_NICS_H

#include "base/base.h"

#include <netinet/in.h>
#include <stdio.h>

#define TT_NIC_NAME 16
#define TT_NICS_MOST 64 /* of a machine that are looked at, by whoever looks */

typedef enum tt_nic_kind {
  TT_NIC_WIRE,     /* leads out, as far as one can see: hardware, or the end of a container's link */
  TT_NIC_LOOPBACK, /* back to this machine */
  TT_NIC_BRIDGE,   /* joins containers or virtual machines; a bridge that has a wire is a wire */
  TT_NIC_TUNNEL,   /* through another NIC: tun, tap, WireGuard, VXLAN, IP in IP */
  TT_NIC_NOWHERE   /* has an address and no other end */
} tt_nic_kind;

typedef struct tt_nic {
  char name[TT_NIC_NAME];          /* "eth0" */
  char lower[TT_NIC_NAME];         /* of a VLAN and its like: the NIC below all, whose wire it uses; else "" */
  struct sockaddr_storage address; /* its first IPv4 address, else its first IPv6 one that is not link-local; 127/8 and
                                      ::1 only where it has no other */
  int32_t prefix_bits;
  int32_t numa_node;       /* the system's number; -1: unknown, or none */
  int64_t bits_per_second; /* 0: the system does not say */
  tt_nic_kind kind;
  bool up;        /* has a link */
  char unfit[64]; /* why it is no rail unless TUTTI_NICS names it: "is a tunnel"; "": it is one */
} tt_nic;

/* All NICs that have an address, in the system's order; at most `room`. folder: "" for this machine; else of a recorded
 * one, whose nics.txt is read: none where there is no such file, an error with the line where one does not parse. */
tutti_status tt_nics_find(const char *folder, tt_nic *nic, int64_t room, int64_t *count);

/* Those that are rails, in place. wanted: TUTTI_NICS, "eth0,eth2" in that order, or "" for all that are fit: they are
 * up, lead somewhere by a wire of their own, and are not much slower than the fastest; a loopback where there is none;
 * no NIC at all is no error. An error names what is wanted and not there or not up, and what there is. */
tutti_status tt_nics_choose(const char *wanted, tt_nic *nic, int64_t *count);

/* A line of nics.txt for each: "eth0 10.0.0.1/24 up speed=100000 numa=0", speed in Mbit/s as the system has it; also
 * loopback, bridge, tunnel or nowhere, and on=eth0 (its lower NIC). */
void tt_nics_write(const tt_nic *nic, int64_t count, FILE *out);
/* "10.0.0.1/24" */
void tt_nics_format_address(const tt_nic *nic, char text[static INET6_ADDRSTRLEN + 4]);

/* ---- between the files of this folder ---- */

const char *tt_nics_kind_name(tt_nic_kind kind); /* in nics.txt; NULL behind the last kind */
tutti_status tt_nics_read_system(const char *sys, tt_nic *nic, int64_t room,
                                 int64_t *count); /* sys: "/sys/class/net" */
/* What files below sys/NAME say: speed, NUMA node, kind, lower. */
void tt_nics_read_facts(const char *sys, tt_nic *nic);
tutti_status tt_nics_read_file(const char *path, tt_nic *nic, int64_t room, int64_t *count);
void tt_nics_judge(tt_nic *nic, int64_t count); /* fills in `unfit` */

#endif
