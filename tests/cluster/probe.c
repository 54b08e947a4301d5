/* tests/cluster/probe.c - what the bed's links are worth: plain sockets, nothing of tutti.
 *
 *     probe serve                    on port 7777 of all NICs, until killed; prints "ready"
 *     probe ping ADDRESS             prints the median time there and back, in microseconds; fails after 2 s of silence
 *     probe send ADDRESS MEGABYTES   prints Mbit/s of payload, until the other end has it all
 *
 * ADDRESS is that of a NIC; the system takes this node's NIC of the same rail. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PORT = 7777, PINGS = 101, PIECE = 1 << 17 };

static char piece[PIECE];

static void check(int failed, const char *what) {
  if (!failed)
    return;
  fprintf(stderr, "probe: %s: %s\n", what, strerror(errno));
  exit(1);
}

static double now_us(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static void answer_pings(int fd) {
  for (char byte; read(fd, &byte, 1) == 1;)
    check(write(fd, &byte, 1) != 1, "answer");
}

static void swallow(int fd) {
  ssize_t size;
  while ((size = read(fd, piece, PIECE)) > 0)
    ;
  check(size < 0 || write(fd, "", 1) != 1, "data");
}

/* A connection's first byte says what it is for. */
static void serve(void) {
  const struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(PORT)};
  const int yes = 1;
  int door = socket(AF_INET, SOCK_STREAM, 0);
  setsockopt(door, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  check(bind(door, (const struct sockaddr *)&any, sizeof any) || listen(door, 64), "listen");
  signal(SIGCHLD, SIG_IGN);
  puts("ready");
  fclose(stdout);
  for (int fd; (fd = accept(door, NULL, NULL)) >= 0; close(fd)) {
    char kind;
    if (fork() != 0)
      continue;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (read(fd, &kind, 1) == 1)
      (kind == 'p' ? answer_pings : swallow)(fd);
    _exit(0);
  }
}

static int reach(const char *to, char kind) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
  const struct timeval patience = {.tv_sec = kind == 'p' ? 2 : 60};
  const int yes = 1;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  check(inet_pton(AF_INET, to, &address.sin_addr) != 1, to);
  setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  check(connect(fd, (const struct sockaddr *)&address, sizeof address) || write(fd, &kind, 1) != 1, to);
  return fd;
}

static int compare(const void *a, const void *b) {
  double left = *(const double *)a, right = *(const double *)b;
  return (left > right) - (left < right);
}

static void ping(const char *to) {
  double took_us[PINGS];
  int fd = reach(to, 'p');
  for (int n = 0; n < PINGS; n++) {
    char byte = 0;
    double from_us = now_us();
    check(write(fd, &byte, 1) != 1 || read(fd, &byte, 1) != 1, to);
    took_us[n] = now_us() - from_us;
  }
  qsort(took_us, PINGS, sizeof *took_us, compare);
  printf("%.0f\n", took_us[PINGS / 2]);
}

static void send_all(const char *to, int64_t bytes) {
  int fd = reach(to, 's');
  double from_us = now_us();
  char byte;
  for (int64_t left = bytes; left > 0; left -= PIECE)
    check(write(fd, piece, PIECE) != PIECE, to);
  check(shutdown(fd, SHUT_WR) || read(fd, &byte, 1) != 1, to);
  printf("%.1f\n", (double)bytes * 8 / (now_us() - from_us));
}

int main(int argc, char **argv) {
  if (argc == 2 && strcmp(argv[1], "serve") == 0)
    serve();
  else if (argc == 3 && strcmp(argv[1], "ping") == 0)
    ping(argv[2]);
  else if (argc == 4 && strcmp(argv[1], "send") == 0)
    send_all(argv[2], atoll(argv[3]) << 20);
  else
    return 2;
  return 0;
}
