/* call/prove.c - all ranks' plans, and the bound ones that run, proven before their first use (TUTTI_VERIFY). */
#include "call/call.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct proof {
  const tutti_comm *comm;
  const tt_meaning *meaning;
  tt_plan **plan; /* of each rank */
  tt_bound_plan **bound;
  bool wide;
} proof;

static tutti_status bind_all(const proof *of, tt_class class) {
  tt_bind_facts facts = tt_bound_facts(of->comm, class, of->wide);
  tutti_status status = TUTTI_OK;
  for (int64_t r = 0; r < of->comm->size && status == TUTTI_OK; r++)
    status = tt_bind(of->plan[r], &facts, &of->bound[r]);
  return status;
}

static tutti_status prove_class(const proof *of, tt_class class) {
  tutti_status status = bind_all(of, class);
  if (status == TUTTI_OK)
    status = tt_verify_bound(of->meaning, (const tt_plan *const *)of->plan, (const tt_bound_plan *const *)of->bound);
  for (int64_t r = 0; r < of->comm->size; r++) {
    tt_bound_plan_destroy(of->bound[r]);
    of->bound[r] = NULL;
  }
  return status;
}

static tutti_status prove_all(const proof *of, const tt_lowering *lowering) {
  tutti_status status = TUTTI_OK;
  for (int64_t r = 0; r < of->comm->size && status == TUTTI_OK; r++)
    status = tt_lower_rank(lowering, r, &of->plan[r]);
  if (status == TUTTI_OK)
    status = tt_verify(of->meaning, (const tt_plan *const *)of->plan);
  for (int n = 0; n < TT_CLASS_COUNT && status == TUTTI_OK; n++)
    if (n == TT_CLASS_STREAMS || of->plan[0]->direct)
      status = prove_class(of, (tt_class)n);
  return status;
}

tutti_status tt_prove(const tutti_comm *comm, const tt_meaning *meaning, const tt_lowering *lowering, bool wide) {
  proof of = {.comm = comm,
              .meaning = meaning,
              .plan = calloc((size_t)comm->size, sizeof(tt_plan *)),
              .bound = calloc((size_t)comm->size, sizeof(tt_bound_plan *)),
              .wide = wide};
  tutti_status status = of.plan && of.bound
                            ? prove_all(&of, lowering)
                            : tt_fail(TUTTI_ERR_MEMORY, "no memory to prove %" PRId64 " plans", comm->size);
  for (int64_t r = 0; r < comm->size && of.plan; r++)
    tt_plan_destroy(of.plan[r]);
  free(of.plan);
  free(of.bound);
  return status;
}
