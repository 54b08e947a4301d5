/* tests/cluster/relay.c - a switch with a long cable: frames that come in at a port leave at another one later.
 *
 *     relay MICROSECONDS PORT...
 *
 * Ports are network devices of the namespace it runs in. The last byte of a frame's address is the number of the port
 * it goes to; broadcasts go to all. Rates are not kept here: the devices' queues do it. Frames are the kernel's large
 * ones (segments not cut yet, checksums not made yet), with a header that says so. Prints "ready". */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORTS = 64, FRAME_BYTES = 70000, QUEUE_BYTES = 64 << 20, HEADER = sizeof(struct virtio_net_hdr) };

typedef struct frame { /* waits until it is time; all wait equally long, so the first in is the first out */
  struct frame *next;
  int64_t at_ns;
  int port;
  size_t size;
  unsigned char bytes[];
} frame;

static int port_fd[PORTS], port_count;
static int64_t delay_ns;
static frame *first, **last = &first;

static void check(int failed, const char *what) {
  if (!failed)
    return;
  fprintf(stderr, "relay: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t now_ns(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static int open_port(const char *name) {
  const int yes = 1, bytes = QUEUE_BYTES;
  const struct sockaddr_ll address = {
      .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = (int)if_nametoindex(name)};
  int fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  check(fd < 0 || !address.sll_ifindex, name);
  check(setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &yes, sizeof yes), "headers");
  check(setsockopt(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, &yes, sizeof yes), "incoming frames only");
  check(setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof bytes), "queue");
  check(setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof bytes), "queue");
  check(bind(fd, (const struct sockaddr *)&address, sizeof address), name);
  return fd;
}

static void keep(int port, const unsigned char *bytes, size_t size) {
  frame *kept = malloc(sizeof *kept + size);
  check(!kept, "memory");
  *kept = (frame){.at_ns = now_ns() + delay_ns, .port = port, .size = size};
  memcpy(kept->bytes, bytes, size);
  *last = kept;
  last = &kept->next;
}

static void take_in(int from) {
  static unsigned char bytes[FRAME_BYTES];
  for (ssize_t size; (size = recv(port_fd[from], bytes, sizeof bytes, 0)) > HEADER;) {
    const unsigned char *to = bytes + HEADER;
    if (!(to[0] & 1) && to[5] < port_count)
      keep(to[5], bytes, (size_t)size);
    for (int port = 0; to[0] & 1 && port < port_count; port++)
      if (port != from)
        keep(port, bytes, (size_t)size);
  }
}

/* What a port does not take, its cable is cut or its queue full, is lost. */
static void let_out(void) {
  for (frame *sent; (sent = first) && sent->at_ns <= now_ns();) {
    first = sent->next;
    last = first ? last : &first;
    (void)!send(port_fd[sent->port], sent->bytes, sent->size, 0);
    free(sent);
  }
}

static void relay(int epoll) {
  struct epoll_event event[PORTS];
  for (;;) {
    let_out();
    int64_t left_ns = first ? first->at_ns - now_ns() : 0;
    struct timespec left = {.tv_sec = left_ns > 0 ? left_ns / 1000000000 : 0,
                            .tv_nsec = left_ns > 0 ? left_ns % 1000000000 : 0};
    int count = epoll_pwait2(epoll, event, PORTS, first ? &left : NULL, NULL);
    for (int n = 0; n < count; n++)
      take_in(event[n].data.fd);
  }
}

int main(int argc, char **argv) {
  const struct sched_param urgent = {.sched_priority = 10};
  if (argc < 3 || argc - 2 > PORTS)
    return 2;
  int epoll = epoll_create1(EPOLL_CLOEXEC);
  delay_ns = atoll(argv[1]) * 1000;
  port_count = argc - 2;
  for (int port = 0; port < port_count; port++) {
    struct epoll_event event = {.events = EPOLLIN, .data = {.fd = port}};
    port_fd[port] = open_port(argv[2 + port]);
    check(epoll_ctl(epoll, EPOLL_CTL_ADD, port_fd[port], &event), "epoll");
  }
  sched_setscheduler(0, SCHED_FIFO, &urgent); /* where it is permitted: late frames are the program's error */
  prctl(PR_SET_TIMERSLACK, 1000UL);
  puts("ready");
  fclose(stdout);
  relay(epoll);
}
