/* boot/pmi2.c - PMI-2, messages of key=value; with their length in six digits before them: srun --mpi=pmi2. */
#include "boot/pmi.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static tutti_status start(tt_pmi *pmi, int64_t until_ns) {
  const char *job = getenv("PMI_JOBID");
  pmi->framed = true;
  pmi->value_length = TT_PMI_VALUE - 1; /* what PMI-2 says */
  tutti_status status =
      tt_pmi_order(pmi, until_ns, "fullinit-response", "cmd=fullinit;pmijobid=%s;pmirank=%" PRId64 ";threaded=FALSE;",
                   job != NULL ? job : "", pmi->rank);
  if (status != TUTTI_OK)
    return status;
  status = tt_pmi_order(pmi, until_ns, "job-getid-response", "cmd=job-getid;");
  if (status == TUTTI_OK && !tt_pmi_field(pmi, "jobid", pmi->store, sizeof pmi->store))
    return tt_pmi_break(pmi, TUTTI_ERR_SYSTEM, "sent no jobid shorter than %zu characters", sizeof pmi->store);
  return status;
}

static tutti_status put(tt_pmi *pmi, const char *key, const char *value, int64_t until_ns) {
  return tt_pmi_order(pmi, until_ns, "kvs-put-response", "cmd=kvs-put;key=%s;value=%s;", key, value);
}

static tutti_status fence(tt_pmi *pmi, int64_t until_ns) {
  return tt_pmi_order(pmi, until_ns, "kvs-fence-response", "cmd=kvs-fence;");
}

static tutti_status get(tt_pmi *pmi, const char *key, int64_t until_ns) {
  char found[16] = "";
  tutti_status status =
      tt_pmi_ask(pmi, until_ns, "kvs-get-response", "cmd=kvs-get;jobid=%s;srcid=-1;key=%s;", pmi->store, key);
  if (status == TUTTI_OK && (!tt_pmi_field(pmi, "found", found, sizeof found) || strcmp(found, "TRUE") != 0))
    return tt_fail(TUTTI_ERR_PEER, "'%s' is missing", key);
  return status;
}

static void finish(tt_pmi *pmi, int64_t until_ns) { tt_pmi_ask(pmi, until_ns, "finalize-response", "cmd=finalize;"); }

const tt_pmi_dialect tt_pmi_2 = {2, start, put, fence, get, finish};
