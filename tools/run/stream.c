/* tools/run/stream.c - output of a rank under --label: "[rank] " before each line, and lines never cut by another's.
 *
 * A line is begun only where there is room for output, which for a pipe means PIPE_BUF bytes: lines wait in the
 * launcher, not the launcher for its reader. Only a longer line may hold it up. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define READ_BYTES 65536       /* what a pipe holds, as a rule */
#define LINE_MAXIMUM (1 << 20) /* longer ones are broken */

int run_stream_open(run_stream *stream, int64_t rank, int to, int *write_end) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0)
    return -1;
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  *stream = (run_stream){.from = ends[0], .to = to, .rank = rank};
  *write_end = ends[1];
  return 0;
}

void run_stream_close(run_stream *stream) {
  if (stream->from >= 0)
    close(stream->from);
  free(stream->text);
  *stream = (run_stream){.from = -1};
}

static bool has_room(int to, int timeout_ms) {
  struct pollfd room = {.fd = to, .events = POLLOUT};
  return poll(&room, 1, timeout_ms) != 0;
}

/* false: it could not be written, errno says why. */
static bool write_all(int fd, const char *text, size_t size) {
  while (size > 0) {
    ssize_t count = write(fd, text, size);
    if (count < 0 && errno != EINTR && errno != EAGAIN)
      return false;
    if (count < 0)
      has_room(fd, -1);
    text += count > 0 ? count : 0;
    size -= count > 0 ? (size_t)count : 0;
  }
  return true;
}

static bool write_line(const run_stream *stream, const char *line, size_t size) {
  char label[32];
  int length = snprintf(label, sizeof label, "[%" PRId64 "] ", stream->rank);
  return write_all(stream->to, label, (size_t)length) && write_all(stream->to, line, size) &&
         write_all(stream->to, "\n", 1);
}

/* The whole lines, as far as there is room. */
static bool write_lines(run_stream *stream) {
  char *begin = stream->text, *end = stream->text + stream->used, *newline;
  while (begin < end && (newline = memchr(begin, '\n', (size_t)(end - begin))) != NULL) {
    stream->waits = !has_room(stream->to, 0);
    if (stream->waits)
      break;
    if (!write_line(stream, begin, (size_t)(newline - begin)))
      return false;
    begin = newline + 1;
  }
  stream->used = (size_t)(end - begin);
  memmove(stream->text, begin, stream->used);
  if (stream->waits || stream->used < LINE_MAXIMUM)
    return true;
  size_t used = stream->used;
  stream->used = 0;
  return write_line(stream, stream->text, used);
}

static bool make_room(run_stream *stream) {
  if (stream->room - stream->used >= READ_BYTES)
    return true;
  char *text = realloc(stream->text, stream->used + 2 * READ_BYTES);
  if (text == NULL)
    return false;
  stream->text = text;
  stream->room = stream->used + 2 * READ_BYTES;
  return true;
}

/* Closes it and returns errno of what went wrong before, if that did. */
static int finish(run_stream *stream, bool well) {
  int error = well ? 0 : errno;
  run_stream_close(stream);
  return error;
}

/* Reads one pipeful; returns what read does. */
static ssize_t read_some(run_stream *stream) {
  ssize_t count = make_room(stream) ? read(stream->from, stream->text + stream->used, READ_BYTES) : -1;
  stream->used += count > 0 ? (size_t)count : 0;
  return count;
}

int run_stream_pass(run_stream *stream) {
  if (stream->from < 0)
    return 0;
  stream->waits = !has_room(stream->to, 0);
  if (stream->waits)
    return 0;
  if (stream->used == 0 || memchr(stream->text, '\n', stream->used) == NULL) {
    ssize_t count = read_some(stream);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
      return 0;
    if (count == 0)
      return finish(stream, stream->used == 0 || write_line(stream, stream->text, stream->used));
    if (count < 0)
      return finish(stream, false);
  }
  return write_lines(stream) ? 0 : finish(stream, false);
}

/* The ranks have gone, nothing is left to do but this: a signal may end the launcher. */
static void await_room(int to) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGHUP);
  sigaddset(&ending, SIGQUIT);
  sigprocmask(SIG_UNBLOCK, &ending, NULL);
  has_room(to, -1);
}

/* No more than what is there: a process that is none of the job's may have got hold of the pipe, and go on writing. */
int run_stream_drain(run_stream *stream) {
  int held = 0, error = 0;
  if (stream->from >= 0)
    ioctl(stream->from, FIONREAD, &held);
  int64_t passes = held / READ_BYTES + 3; /* one for lines that wait, one for the end */
  while (stream->from >= 0 && passes > 0) {
    error = run_stream_pass(stream);
    if (stream->waits)
      await_room(stream->to);
    else
      passes--;
  }
  return error;
}
