/* tools/run/stream.c - output of a rank under --label: "[rank] " before each line, and lines never cut by another's.
 *
 * Where there is room for output, a pipe has it for PIPE_BUF bytes, and no more are written at once: lines wait in the
 * launcher, not the launcher for its reader. A longer line has its output for itself until it ends. */
#include "stream.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#define READ_BYTES 65536       /* what a pipe holds, as a rule */
#define LINE_MAXIMUM (1 << 20) /* longer ones are broken */

int run_stream_open(run_stream *stream, int64_t rank, run_output *to, int *write_end) {
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
  if (stream->to != NULL && stream->to->in_line == stream)
    stream->to->in_line = NULL;
  free(stream->text);
  *stream = (run_stream){.from = -1};
}

static bool has_room(int to, int timeout_ms) {
  struct pollfd room = {.fd = to, .events = POLLOUT};
  return poll(&room, 1, timeout_ms) != 0;
}

bool run_has_room(int to) { return has_room(to, 0); }

static bool may_write(const run_stream *stream) {
  const run_output *to = stream->to;
  return (to->in_line == NULL || to->in_line == stream) && run_has_room(to->fd);
}

/* Of the parts, what comes after `done` bytes, at most PIPE_BUF; returns their number. */
static int cut(struct iovec *part, int count, size_t done) {
  size_t room = PIPE_BUF;
  int kept = 0;
  for (int p = 0; p < count; p++) {
    size_t skipped = done < part[p].iov_len ? done : part[p].iov_len, left = part[p].iov_len - skipped;
    struct iovec rest = {(char *)part[p].iov_base + skipped, left < room ? left : room};
    done -= skipped;
    room -= rest.iov_len;
    if (rest.iov_len > 0)
      part[kept++] = rest;
  }
  return kept;
}

/* Some more of a line; false: it could not be written, errno says why. */
static bool write_some(run_stream *stream, char *line, size_t size, bool *ended) {
  char label[32], newline[] = "\n";
  size_t length = (size_t)snprintf(label, sizeof label, "[%" PRId64 "] ", stream->rank);
  struct iovec part[] = {{label, length}, {line, size}, {newline, 1}};
  ssize_t count = writev(stream->to->fd, part, cut(part, TT_COUNT(part), stream->done));
  if (count < 0)
    return errno == EINTR || errno == EAGAIN;
  stream->done += (size_t)count;
  *ended = stream->done == length + size + 1;
  stream->done = *ended ? 0 : stream->done;
  stream->to->in_line = *ended ? NULL : stream;
  return true;
}

/* The first line, as far as there is room: if it does not end, it waits. */
static bool write_line(run_stream *stream, char *line, size_t size) {
  for (bool ended = false; !ended;) {
    stream->waits = !may_write(stream);
    if (stream->waits)
      return true;
    if (!write_some(stream, line, size, &ended))
      return false;
  }
  return true;
}

/* The whole lines, as far as there is room. */
static bool write_lines(run_stream *stream) {
  char *begin = stream->text, *end = stream->text + stream->used, *newline;
  while (begin < end && (newline = memchr(begin, '\n', (size_t)(end - begin))) != NULL) {
    if (!write_line(stream, begin, (size_t)(newline - begin)))
      return false;
    if (stream->waits)
      break;
    begin = newline + 1;
  }
  stream->used = (size_t)(end - begin);
  if (begin > stream->text)
    memmove(stream->text, begin, stream->used);
  if (stream->waits || stream->used == 0 || (stream->used < LINE_MAXIMUM && !stream->ended))
    return true;
  if (!write_line(stream, stream->text, stream->used))
    return false;
  stream->used = stream->waits ? stream->used : 0;
  return true;
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

/* Whether there is a line to write before more is read. */
static bool has_line(const run_stream *stream) {
  return stream->ended || stream->done > 0 || (stream->used > 0 && memchr(stream->text, '\n', stream->used) != NULL);
}

int run_stream_pass(run_stream *stream) {
  if (stream->from < 0)
    return 0;
  stream->waits = !may_write(stream);
  if (stream->waits)
    return 0;
  if (!has_line(stream)) {
    ssize_t count = read_some(stream);
    if (count < 0)
      return errno == EAGAIN || errno == EINTR ? 0 : finish(stream, false);
    stream->ended = count == 0;
  }
  if (!write_lines(stream))
    return finish(stream, false);
  return stream->ended && stream->used == 0 ? finish(stream, true) : 0;
}

void run_await_room(int to) {
  sigset_t ending;
  sigemptyset(&ending);
  sigaddset(&ending, SIGINT);
  sigaddset(&ending, SIGTERM);
  sigaddset(&ending, SIGHUP);
  sigaddset(&ending, SIGQUIT);
  sigprocmask(SIG_UNBLOCK, &ending, NULL);
  has_room(to, -1);
}

/* Another's line ends first. No more than what is there: a process that is none of the job's may have got hold of the
 * pipe, and go on writing. */
int run_stream_drain(run_stream *stream) {
  if (stream->from < 0)
    return 0;
  int held = 0, error = 0;
  if (stream->to->in_line != NULL && stream->to->in_line != stream)
    error = run_stream_drain(stream->to->in_line);
  ioctl(stream->from, FIONREAD, &held);
  int64_t passes = held / READ_BYTES + 3; /* one for lines that wait, one for the end */
  while (stream->from >= 0 && passes > 0) {
    int failed = run_stream_pass(stream);
    error = error != 0 ? error : failed;
    if (stream->waits)
      run_await_room(stream->to->fd);
    else
      passes--;
  }
  return error;
}
