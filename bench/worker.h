/* bench/worker.h - a rank of `tutti bench`: connects to the driver, obeys its commands (protocol.h) with the loop of
 * loop.h, and ends with it. In a job of a launcher's own it knows its tasks from its arguments (report.h). */
#ifndef BENCH_WORKER_H
#define BENCH_WORKER_H

#include "copy.h"
#include "cores.h"
#include "report.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* `address`: name of the driver's socket in the abstract namespace. Returns the socket, or -1. */
static int bench_connect(const char *address) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  int connection = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
  size_t length = strnlen(address, sizeof name.sun_path - 1);
  memcpy(name.sun_path + 1, address, length);
  socklen_t bytes = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + length);
  if (connection >= 0 && connect(connection, (const struct sockaddr *)&name, bytes) == 0)
    return connection;
  perror("tutti bench worker: the driver's socket");
  return -1;
}

/* The next packet; 0 when the driver is gone. */
static int bench_receive(int connection, void *packet, size_t bytes) {
  ssize_t got;
  do
    got = recv(connection, packet, bytes, 0);
  while (got < 0 && errno == EINTR);
  return got == (ssize_t)bytes;
}

static int bench_send(int connection, const void *packet, size_t bytes) {
  return send(connection, packet, bytes, MSG_NOSIGNAL) == (ssize_t)bytes;
}

static void bench_obey(const bench_library *library, bench_point *point, bench_command *current,
                       const bench_command *command, bench_reply *reply) {
  if (command->verb == BENCH_PREPARE) {
    bench_release_all(library, point);
    *current = *command;
    reply->result = bench_prepare(library, point, reply->text);
  } else if (command->verb == BENCH_COPY) {
    reply->result = bench_copy(library, point, command, reply);
  } else {
    reply->result = bench_run(library, point, command, reply);
  }
}

/* Reads commands until the driver says stop (returns 1) or is gone (returns 0). */
static int bench_serve(const bench_library *library, int connection, bench_point *point) {
  static bench_command current, command;
  static bench_reply reply;
  point->command = &current;
  while (bench_receive(connection, &command, sizeof command)) {
    if (command.verb == BENCH_STOP)
      return bench_release_all(library, point), 1;
    memset(&reply, 0, sizeof reply);
    bench_obey(library, point, &current, &command, &reply);
    if (!bench_send(connection, &reply, sizeof reply))
      return 0;
  }
  return 0;
}

/* argv: program, address, group, and the environment variable in which the launcher put the rank. */
static int bench_driven_main(const bench_library *library, int argc, char **argv) {
  const char *rank = argc == 4 ? getenv(argv[3]) : NULL;
  bench_point point = {0};
  bench_reply ready = {0};
  bench_welcome welcome;
  if (!rank)
    return fprintf(stderr, "tutti bench worker: started by `tutti bench` only\n"), 2;
  bench_hello hello = {BENCH_MAGIC, atoi(argv[2]), atoi(rank)};
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  int connection = bench_connect(argv[1]);
  if (connection < 0 || !bench_send(connection, &hello, sizeof hello) ||
      !bench_receive(connection, &welcome, sizeof welcome))
    return 1;
  bench_bind(welcome.cpu);
  ready.result = library->open(&point.rank, &point.size, ready.text);
  if (!bench_send(connection, &ready, sizeof ready) || !bench_serve(library, connection, &point))
    _exit(1); /* a library whose peers may be gone does not leave politely */
  library->close();
  return 0;
}

static int bench_worker_main(const bench_library *library, int argc, char **argv) {
  bool alone = argc > 1 && strcmp(argv[1], "ranks") == 0;
  return (alone ? bench_report_main : bench_driven_main)(library, argc, argv);
}

#endif
