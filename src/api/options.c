/* api/options.c - what a context is made of: whether it is all there. */
#include "api/api.h"

#include <inttypes.h>
#include <stddef.h>

#define TRANSPORT_BYTES offsetof(tutti_transport_ops, sent) /* of the first version */

void tutti_context_options_init(tutti_context_options *options) {
  *options = (tutti_context_options){.size = sizeof *options, .node = -1};
}

tutti_status tt_context_check_boot(const tutti_boot *boot) {
  if (boot->size < sizeof *boot || !boot->allgather)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_create: boot has size %zu and %s allgather", boot->size,
                   boot->allgather ? "an" : "no");
  if (boot->rank_count < 1 || boot->rank < 0 || boot->rank >= boot->rank_count || boot->rank_count > INT32_MAX)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_create: boot has rank %" PRId64 " of %" PRId64, boot->rank,
                   boot->rank_count);
  return TUTTI_OK;
}

/* What a user's transport lacks; NULL: nothing. */
static const char *lacking(const tutti_transport_ops *ops) {
  const struct {
    const char *name;
    bool there;
  } needed[] = {{"open", ops->open},
                {"close", ops->close},
                {"stream_open", ops->stream_open},
                {"stream_close", ops->stream_close},
                {"reserve", ops->reserve},
                {"commit", ops->commit},
                {"peek", ops->peek},
                {"release", ops->release},
                {"progress", ops->progress},
                {"cells_close", ops->cells_close || !ops->cells_open},
                {"free", ops->free || !ops->alloc}};
  for (size_t n = 0; n < TT_COUNT(needed); n++)
    if (!needed[n].there)
      return needed[n].name;
  return NULL;
}

static tutti_status check_transport(const tutti_transport_ops *ops) {
  if (ops->size < TRANSPORT_BYTES)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_create: options->transport->size is %zu; it must be at least %zu",
                   ops->size, TRANSPORT_BYTES);
  const char *lacks = lacking(ops);
  return lacks ? tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_create: options->transport->%s is NULL", lacks) : TUTTI_OK;
}

tutti_status tt_context_check_options(const tutti_context_options *options) {
  if (options->size < sizeof *options)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_create: options->size is %zu; call tutti_context_options_init",
                   options->size);
  if (options->timeout_ns < 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_create: options->timeout_ns is %" PRId64, options->timeout_ns);
  if (options->node < -1)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_context_create: options->node is %" PRId64, options->node);
  return options->transport ? check_transport(options->transport) : TUTTI_OK;
}
