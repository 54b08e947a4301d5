/* boot/pmi1.c - PMI-1, lines of text: mpiexec of MPICH and of what descends from it. */
#include "boot/pmi.h"

#include <stdlib.h>
#include <string.h>

#define LINE 1024     /* some servers read no longer line */
#define LINE_REST 128 /* of a put, beside the value and the store's name */

_Static_assert(LINE - LINE_REST - sizeof((tt_pmi *)0)->store < TT_PMI_VALUE, "a value fits into what is read");

static size_t fit_value(const tt_pmi *pmi) {
  char text[16] = "";
  long longest = tt_pmi_field(pmi, "vallen_max", text, sizeof text) ? strtol(text, NULL, 10) : 0;
  size_t room = LINE - LINE_REST - sizeof pmi->store;
  return longest > 1 && (size_t)longest - 1 < room ? (size_t)longest - 1 : longest > 1 ? room : 0;
}

static tutti_status start(tt_pmi *pmi, int64_t until_ns) {
  tutti_status status = tt_pmi_ask(pmi, until_ns, "maxes", "cmd=get_maxes\n");
  if (status != TUTTI_OK)
    return status;
  pmi->value_length = fit_value(pmi);
  status = tt_pmi_ask(pmi, until_ns, "my_kvsname", "cmd=get_my_kvsname\n");
  if (status == TUTTI_OK && !tt_pmi_field(pmi, "kvsname", pmi->store, sizeof pmi->store))
    return tt_pmi_break(pmi, TUTTI_ERR_SYSTEM, "sent no kvsname shorter than %zu characters", sizeof pmi->store);
  return status;
}

static tutti_status put(tt_pmi *pmi, const char *key, const char *value, int64_t until_ns) {
  return tt_pmi_order(pmi, until_ns, "put_result", "cmd=put kvsname=%s key=%s value=%s\n", pmi->store, key, value);
}

static tutti_status fence(tt_pmi *pmi, int64_t until_ns) {
  return tt_pmi_ask(pmi, until_ns, "barrier_out", "cmd=barrier_in\n");
}

static tutti_status get(tt_pmi *pmi, const char *key, int64_t until_ns) {
  char code[16] = "";
  tutti_status status = tt_pmi_ask(pmi, until_ns, "get_result", "cmd=get kvsname=%s key=%s\n", pmi->store, key);
  if (status == TUTTI_OK && (!tt_pmi_field(pmi, "rc", code, sizeof code) || strcmp(code, "0") != 0))
    return tt_fail(TUTTI_ERR_PEER, "'%s' is missing", key);
  return status;
}

static void finish(tt_pmi *pmi, int64_t until_ns) { tt_pmi_ask(pmi, until_ns, "finalize_ack", "cmd=finalize\n"); }

const tt_pmi_dialect tt_pmi_1 = {1, start, put, fence, get, finish};
