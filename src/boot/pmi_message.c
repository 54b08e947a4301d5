/* boot/pmi_message.c - one request and its reply: whole messages out of pieces, fields out of messages, all bounded in
 * time.
 *
 * A reply that is late, odd or not asked for leaves both ends out of step: nothing is said any more after it. */
#include "boot/pmi.h"

#include <assert.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define LENGTH_DIGITS 6 /* before a message of PMI-2 */

tutti_status tt_pmi_break(tt_pmi *pmi, tutti_status status, const char *format, ...) {
  assert(status != TUTTI_OK);
  char text[400];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  pmi->broken = status;
  return tt_fail(status, "the launcher's PMI server (PMI_FD is %d) %s", pmi->fd, text);
}

bool tt_pmi_has_socket(const tt_pmi *pmi) {
  struct stat facts;
  return fstat(pmi->fd, &facts) == 0 && S_ISSOCK(facts.st_mode) && (uint64_t)facts.st_ino == pmi->socket;
}

static tutti_status check_open(tt_pmi *pmi) {
  if (pmi->broken != TUTTI_OK)
    return tt_fail(pmi->broken, "an earlier request to the launcher's PMI server failed");
  if (!tt_pmi_has_socket(pmi))
    return tt_pmi_break(pmi, TUTTI_ERR_SYSTEM, "is no longer connected (did MPI_Finalize close it?)");
  if (pmi->in_bytes > 0)
    return tt_pmi_break(pmi, TUTTI_ERR_SYSTEM, "sent an answer without a request");
  return TUTTI_OK;
}

static tutti_status wait_for(tt_pmi *pmi, short events, int64_t until_ns) {
  for (;;) {
    int64_t left_ms = (until_ns - tt_clock_ns()) / 1000000;
    if (left_ms < 0)
      return tt_pmi_break(pmi, TUTTI_ERR_TIMEOUT, "does not answer");
    struct pollfd ready = {.fd = pmi->fd, .events = events};
    int count = poll(&ready, 1, left_ms < 1000000 ? (int)left_ms + 1 : 1000000);
    if (count > 0)
      return TUTTI_OK;
    if (count < 0 && errno != EINTR)
      return tt_pmi_break(pmi, TUTTI_ERR_SYSTEM, "cannot be polled: %s", strerror(errno));
  }
}

/* Whether a call has moved bytes, may move some later (neither), or never will (an error). */
static tutti_status check_moved(tt_pmi *pmi, ssize_t count, size_t *moved) {
  *moved = count > 0 ? (size_t)count : 0;
  if (count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR)))
    return TUTTI_OK;
  return tt_pmi_break(pmi, TUTTI_ERR_PEER, "closed the connection%s%s", count < 0 ? ": " : "",
                      count < 0 ? strerror(errno) : "");
}

static tutti_status send_all(tt_pmi *pmi, const char *bytes, size_t size, int64_t until_ns) {
  tutti_status status = TUTTI_OK;
  for (size_t done = 0, moved = 0; done < size && status == TUTTI_OK; done += moved) {
    moved = 0;
    status = wait_for(pmi, POLLOUT, until_ns);
    if (status == TUTTI_OK)
      status = check_moved(pmi, send(pmi->fd, bytes + done, size - done, MSG_NOSIGNAL | MSG_DONTWAIT), &moved);
  }
  return status;
}

/* ---- replies ---- */

/* What is shown of a reply in errors: its beginning, printable. */
static const char *shown(const char *text, size_t length, char line[static 80]) {
  size_t n = length < 76 ? length : 76;
  for (size_t c = 0; c < n; c++)
    line[c] = text[c] >= ' ' && text[c] <= '~' ? text[c] : '?';
  line[n] = '\0';
  return line;
}

/* Digits with spaces before or after them; -1: something else. */
static int64_t parse_length(const char *digits) {
  int64_t length = 0;
  int d = 0, end = LENGTH_DIGITS;
  while (d < end - 1 && digits[d] == ' ')
    d++;
  while (end - 1 > d && digits[end - 1] == ' ')
    end--;
  for (; d < end; d++) {
    if (digits[d] < '0' || digits[d] > '9')
      return -1;
    length = length * 10 + (digits[d] - '0');
  }
  return length;
}

/* Where the message begins and ends in pmi->in; false: it is not whole yet. *length < 0: it is none. */
static bool find_message(const tt_pmi *pmi, size_t *begin, int64_t *length) {
  if (!pmi->framed) {
    const char *end = memchr(pmi->in, '\n', pmi->in_bytes);
    *begin = 0;
    *length = end != NULL ? end + 1 - pmi->in : -1;
    return end != NULL || pmi->in_bytes >= TT_PMI_MESSAGE;
  }
  *begin = LENGTH_DIGITS;
  if (pmi->in_bytes < LENGTH_DIGITS)
    return false;
  *length = parse_length(pmi->in);
  if (*length >= TT_PMI_MESSAGE)
    *length = -1;
  return *length < 0 || pmi->in_bytes >= LENGTH_DIGITS + (size_t)*length;
}

/* Moves the message from pmi->in to pmi->reply. */
static tutti_status take_message(tt_pmi *pmi, size_t begin, int64_t length) {
  char line[80];
  if (length < 0 || length >= TT_PMI_MESSAGE || memchr(pmi->in + begin, '\0', (size_t)length) != NULL)
    return tt_pmi_break(pmi, TUTTI_ERR_SYSTEM, "sends no PMI: '%s'", shown(pmi->in, pmi->in_bytes, line));
  size_t end = begin + (size_t)length;
  assert(end <= pmi->in_bytes);
  memcpy(pmi->reply, pmi->in + begin, (size_t)length);
  pmi->reply[length] = '\0';
  if (length > 0 && pmi->reply[length - 1] == '\n')
    pmi->reply[length - 1] = '\0';
  memmove(pmi->in, pmi->in + end, pmi->in_bytes - end);
  pmi->in_bytes -= end;
  return TUTTI_OK;
}

static tutti_status receive(tt_pmi *pmi, int64_t until_ns) {
  size_t begin = 0, moved = 0;
  int64_t length = 0;
  while (!find_message(pmi, &begin, &length)) {
    assert(pmi->in_bytes < sizeof pmi->in);
    tutti_status status = wait_for(pmi, POLLIN, until_ns);
    if (status == TUTTI_OK)
      status = check_moved(pmi, recv(pmi->fd, pmi->in + pmi->in_bytes, sizeof pmi->in - pmi->in_bytes, MSG_DONTWAIT),
                           &moved);
    if (status != TUTTI_OK)
      return status;
    pmi->in_bytes += moved;
  }
  return take_message(pmi, begin, length);
}

/* Fields are separated by blanks, or by semicolons where messages have a length. */
bool tt_pmi_field(const tt_pmi *pmi, const char *key, char *value, size_t size) {
  const char *between = pmi->framed ? ";" : " ", *at = pmi->reply;
  size_t key_length = strlen(key);
  for (at += strspn(at, between); *at != '\0'; at += strspn(at, between)) {
    size_t length = strcspn(at, between);
    if (length > key_length && at[key_length] == '=' && strncmp(at, key, key_length) == 0) {
      size_t value_length = length - key_length - 1;
      if (value_length >= size)
        return false;
      memcpy(value, at + key_length + 1, value_length);
      value[value_length] = '\0';
      return true;
    }
    at += length;
  }
  return false;
}

/* ---- requests ---- */

static tutti_status ask(tt_pmi *pmi, int64_t until_ns, const char *name, const char *format, va_list arguments) {
  char message[TT_PMI_MESSAGE], cmd[64], line[80];
  size_t begin = pmi->framed ? LENGTH_DIGITS : 0;
  tutti_status status = check_open(pmi);
  if (status != TUTTI_OK)
    return status;
  int length = vsnprintf(message + LENGTH_DIGITS, sizeof message - LENGTH_DIGITS, format, arguments);
  if (length < 0 || (size_t)length >= sizeof message - LENGTH_DIGITS)
    return tt_fail(TUTTI_ERR_SYSTEM, "a PMI request of %d characters is too long", length);
  char digits[16];
  snprintf(digits, sizeof digits, "%06d", length);
  memcpy(message, digits, LENGTH_DIGITS);
  status = send_all(pmi, message + LENGTH_DIGITS - begin, (size_t)length + begin, until_ns);
  if (status == TUTTI_OK)
    status = receive(pmi, until_ns);
  if (status != TUTTI_OK)
    return status;
  if (!tt_pmi_field(pmi, "cmd", cmd, sizeof cmd) || strcmp(cmd, name) != 0)
    return tt_pmi_break(pmi, TUTTI_ERR_SYSTEM, "sent '%s' instead of %s", shown(pmi->reply, strlen(pmi->reply), line),
                        name);
  return TUTTI_OK;
}

tutti_status tt_pmi_ask(tt_pmi *pmi, int64_t until_ns, const char *name, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  tutti_status status = ask(pmi, until_ns, name, format, arguments);
  va_end(arguments);
  return status;
}

tutti_status tt_pmi_order(tt_pmi *pmi, int64_t until_ns, const char *name, const char *format, ...) {
  char code[16] = "", line[80];
  va_list arguments;
  va_start(arguments, format);
  tutti_status status = ask(pmi, until_ns, name, format, arguments);
  va_end(arguments);
  if (status != TUTTI_OK)
    return status;
  if (tt_pmi_field(pmi, "rc", code, sizeof code) && strcmp(code, "0") == 0)
    return TUTTI_OK;
  return tt_fail(TUTTI_ERR_SYSTEM, "the launcher's PMI server refused a request: '%s'",
                 shown(pmi->reply, strlen(pmi->reply), line));
}
