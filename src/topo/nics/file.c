/* topo/nics/file.c - nics.txt: the NICs of a recorded machine, one a line; # begins a comment.
 *
 *   eth0 10.0.0.1/24 up speed=100000 numa=0
 *   docker0 172.17.0.1/16 up bridge */
#include "topo/nics/nics.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define SPACE " \t\r\n"

/* ---- reading ---- */

static bool read_number(const char *text, int64_t most, int64_t *number) {
  char *rest;
  errno = 0;
  long long value = strtoll(text, &rest, 10);
  if (rest == text || *rest || errno || value < 0 || value > most)
    return false;
  *number = value;
  return true;
}

/* "10.0.0.1/24" */
static bool read_address(char *text, tt_nic *nic) {
  int64_t bits;
  char *slash = strchr(text, '/');
  if (!slash)
    return false;
  *slash = '\0';
  struct sockaddr_in *four = (void *)&nic->address;
  struct sockaddr_in6 *six = (void *)&nic->address;
  if (inet_pton(AF_INET, text, &four->sin_addr) == 1)
    nic->address.ss_family = AF_INET;
  else if (inet_pton(AF_INET6, text, &six->sin6_addr) == 1)
    nic->address.ss_family = AF_INET6;
  *slash = '/';
  if (!nic->address.ss_family || !read_number(slash + 1, nic->address.ss_family == AF_INET ? 32 : 128, &bits))
    return false;
  nic->prefix_bits = (int32_t)bits;
  return true;
}

static bool read_kind(const char *word, tt_nic_kind *kind) {
  for (int n = 0; tt_nics_kind_name((tt_nic_kind)n); n++)
    if (strcmp(word, tt_nics_kind_name((tt_nic_kind)n)) == 0) {
      *kind = (tt_nic_kind)n;
      return true;
    }
  return false;
}

static bool read_word(const char *word, tt_nic *nic) {
  int64_t number;
  if (strcmp(word, "up") == 0)
    return nic->up = true;
  if (strncmp(word, "on=", 3) == 0 && word[3] && strlen(word + 3) < TT_NIC_NAME)
    return strcpy(nic->lower, word + 3) != NULL;
  if (strncmp(word, "speed=", 6) == 0 && read_number(word + 6, UINT32_MAX, &number)) {
    nic->bits_per_second = number * 1000000;
    return true;
  }
  if (strncmp(word, "numa=", 5) == 0 && read_number(word + 5, INT32_MAX, &number)) {
    nic->numa_node = (int32_t)number;
    return true;
  }
  return read_kind(word, &nic->kind);
}

static tutti_status read_line(char *line, const char *path, int64_t number, tt_nic *nic) {
  char *rest = NULL, *name = strtok_r(line, SPACE, &rest), *address = strtok_r(NULL, SPACE, &rest);
  *nic = (tt_nic){.numa_node = -1};
  if (strlen(name) >= TT_NIC_NAME)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s, line %" PRId64 ": the name '%s' is too long for a NIC", path, number, name);
  strcpy(nic->name, name);
  if (!address || !read_address(address, nic))
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s, line %" PRId64 ": '%s' must be followed by an address such as 10.0.0.1/24",
                   path, number, name);
  for (char *word = strtok_r(NULL, SPACE, &rest); word; word = strtok_r(NULL, SPACE, &rest))
    if (!read_word(word, nic))
      return tt_fail(TUTTI_ERR_ARGUMENT,
                     "%s, line %" PRId64
                     ": '%s' is not one of up, speed=MBIT, numa=N, on=NIC, loopback, bridge, tunnel, nowhere",
                     path, number, word);
  return TUTTI_OK;
}

static tutti_status read_lines(FILE *in, const char *path, tt_nic *nic, int64_t room, int64_t *count) {
  char *line = NULL;
  size_t size = 0;
  tutti_status status = TUTTI_OK;
  int64_t found = 0;
  for (int64_t number = 1; status == TUTTI_OK && found < room && getline(&line, &size, in) >= 0; number++) {
    line[strcspn(line, "#")] = '\0';
    if (line[strspn(line, SPACE)])
      status = read_line(line, path, number, &nic[found++]);
  }
  free(line);
  if (status == TUTTI_OK && ferror(in))
    status = tt_fail(TUTTI_ERR_SYSTEM, "cannot read '%s': %s", path, strerror(errno));
  if (status == TUTTI_OK)
    *count = found;
  return status;
}

tutti_status tt_nics_read_file(const char *path, tt_nic *nic, int64_t room, int64_t *count) {
  FILE *in = fopen(path, "r");
  if (!in && errno == ENOENT) {
    *count = 0;
    return TUTTI_OK;
  }
  if (!in)
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot open '%s': %s", path, strerror(errno));
  tutti_status status = read_lines(in, path, nic, room, count);
  fclose(in);
  return status;
}

/* ---- writing ---- */

void tt_nics_format_address(const tt_nic *nic, char text[static INET6_ADDRSTRLEN + 4]) {
  assert(nic->address.ss_family == AF_INET || nic->address.ss_family == AF_INET6);
  const struct sockaddr_in *four = (const void *)&nic->address;
  const struct sockaddr_in6 *six = (const void *)&nic->address;
  bool old = nic->address.ss_family == AF_INET;
  const void *bytes = old ? (const void *)&four->sin_addr : (const void *)&six->sin6_addr;
  inet_ntop(nic->address.ss_family, bytes, text, INET6_ADDRSTRLEN);
  sprintf(text + strlen(text), "/%d", (int)nic->prefix_bits);
}

void tt_nics_write(const tt_nic *nic, int64_t count, FILE *out) {
  char address[INET6_ADDRSTRLEN + 4];
  for (int64_t n = 0; n < count; n++) {
    tt_nics_format_address(&nic[n], address);
    fprintf(out, "%s %s%s", nic[n].name, address, nic[n].up ? " up" : "");
    if (nic[n].bits_per_second)
      fprintf(out, " speed=%" PRId64, nic[n].bits_per_second / 1000000);
    if (nic[n].numa_node >= 0)
      fprintf(out, " numa=%d", (int)nic[n].numa_node);
    if (nic[n].lower[0])
      fprintf(out, " on=%s", nic[n].lower);
    if (nic[n].kind != TT_NIC_WIRE)
      fprintf(out, " %s", tt_nics_kind_name(nic[n].kind));
    fputc('\n', out);
  }
}
