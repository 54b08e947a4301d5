/* topo/nics/judge.c - which NICs are rails.
 *
 * A wire counts once: a VLAN on a NIC that is fit adds no bandwidth to it, nor does a second VLAN on one that is not. A
 * NIC with less than a quarter of the fastest one's speed is for management; to wait for it would cost more than it
 * carries. */
#include "topo/nics/nics.h"

#include <arpa/inet.h>
#include <assert.h>
#include <inttypes.h>
#include <string.h>

enum { SLOWEST = 4 }; /* the fastest is at most so many times as fast */

static const struct {
  const char *word, *unfit;
} kinds[] = {
    [TT_NIC_WIRE] = {"wire", ""},
    [TT_NIC_LOOPBACK] = {"loopback", "leads back to this machine"},
    [TT_NIC_BRIDGE] = {"bridge", "is a bridge of containers or virtual machines"},
    [TT_NIC_TUNNEL] = {"tunnel", "is a tunnel"},
    [TT_NIC_NOWHERE] = {"nowhere", "leads nowhere"},
};

const char *tt_nics_kind_name(tt_nic_kind kind) { return (size_t)kind < TT_COUNT(kinds) ? kinds[kind].word : NULL; }

/* 169.254.0.0/16: what a NIC has that nobody gave an address, and what service processors have. */
static bool is_of_link_only(const tt_nic *nic) {
  const struct sockaddr_in *address = (const void *)&nic->address;
  return nic->address.ss_family == AF_INET && ntohl(address->sin_addr.s_addr) >> 16 == 0xa9fe;
}

static const char *look_at(const tt_nic *nic) {
  assert((size_t)nic->kind < TT_COUNT(kinds));
  if (nic->kind != TT_NIC_WIRE)
    return kinds[nic->kind].unfit;
  if (!nic->up)
    return "has no link";
  return is_of_link_only(nic) ? "has only a link-local address" : "";
}

static bool is_fit(const tt_nic *nic) { return !nic->unfit[0]; }

/* The fit NIC that has the wire of that one: it is the wire, or comes before and is on it, too. */
static const tt_nic *find_sharer(const tt_nic *nic, int64_t count, const tt_nic *of) {
  assert(of->lower[0]); /* it stands on another one */
  for (int64_t n = 0; n < count; n++)
    if (is_fit(&nic[n]) &&
        (strcmp(nic[n].name, of->lower) == 0 || (&nic[n] < of && strcmp(nic[n].lower, of->lower) == 0)))
      return &nic[n];
  return NULL;
}

static int64_t find_fastest(const tt_nic *nic, int64_t count) {
  int64_t fastest = 0;
  for (int64_t n = 0; n < count; n++)
    if (is_fit(&nic[n]) && nic[n].bits_per_second > fastest)
      fastest = nic[n].bits_per_second;
  return fastest;
}

void tt_nics_judge(tt_nic *nic, int64_t count) {
  for (int64_t n = 0; n < count; n++)
    strcpy(nic[n].unfit, look_at(&nic[n]));
  for (int64_t n = 0; n < count; n++) {
    const tt_nic *sharer = is_fit(&nic[n]) && nic[n].lower[0] ? find_sharer(nic, count, &nic[n]) : NULL;
    if (sharer)
      snprintf(nic[n].unfit, sizeof nic[n].unfit, "shares the wire of %s", sharer->name);
  }
  int64_t fastest = find_fastest(nic, count);
  for (int64_t n = 0; n < count; n++)
    if (is_fit(&nic[n]) && nic[n].bits_per_second && nic[n].bits_per_second < fastest / SLOWEST)
      strcpy(nic[n].unfit, "has less than a quarter of the fastest rail's speed");
}

/* ---- choosing ---- */

static void list_names(const tt_nic *nic, int64_t count, char *text, size_t size) {
  size_t used = 0;
  snprintf(text, size, "none");
  for (int64_t n = 0; n < count && used < size; n++)
    used += (size_t)snprintf(text + used, size - used, "%s%s", n ? ", " : "", nic[n].name);
}

/* Brings the NIC of that name to `place`; the ones before are chosen already. */
static tutti_status choose_one(const char *name, int length, tt_nic *nic, int64_t count, int64_t place) {
  char known[256];
  int64_t found = 0;
  while (found < count && (strncmp(nic[found].name, name, (size_t)length) != 0 || nic[found].name[length]))
    found++;
  list_names(nic, count, known, sizeof known);
  if (found == count)
    return tt_fail(TUTTI_ERR_ARGUMENT, "TUTTI_NICS: no NIC '%.*s' has an address; NICs with an address: %s", length,
                   name, known);
  if (found < place)
    return tt_fail(TUTTI_ERR_ARGUMENT, "TUTTI_NICS: NIC '%s' is named twice", nic[found].name);
  if (!nic[found].up)
    return tt_fail(TUTTI_ERR_ARGUMENT, "TUTTI_NICS: NIC '%s' has no link", nic[found].name);
  tt_nic chosen = nic[found];
  nic[found] = nic[place];
  nic[place] = chosen;
  return TUTTI_OK;
}

static tutti_status choose_wanted(const char *wanted, tt_nic *nic, int64_t *count) {
  int64_t chosen = 0;
  for (const char *name = wanted;; name++) {
    size_t length = strcspn(name, ",");
    tutti_status status = choose_one(name, (int)(length < INT32_MAX ? length : INT32_MAX), nic, *count, chosen);
    if (status != TUTTI_OK)
      return status;
    chosen++;
    assert(chosen <= *count);
    name += length;
    if (!*name)
      break;
  }
  *count = chosen;
  return TUTTI_OK;
}

static int64_t keep(tt_nic *nic, int64_t count, bool (*wants)(const tt_nic *nic)) {
  int64_t kept = 0;
  for (int64_t n = 0; n < count; n++)
    if (wants(&nic[n]))
      nic[kept++] = nic[n];
  return kept;
}

static bool is_loopback(const tt_nic *nic) { return nic->kind == TT_NIC_LOOPBACK && nic->up; }

tutti_status tt_nics_choose(const char *wanted, tt_nic *nic, int64_t *count) {
  if (wanted[0])
    return choose_wanted(wanted, nic, count);
  bool some = false;
  for (int64_t n = 0; n < *count; n++)
    some = some || is_fit(&nic[n]);
  *count = keep(nic, *count, some ? is_fit : is_loopback);
  return TUTTI_OK;
}
