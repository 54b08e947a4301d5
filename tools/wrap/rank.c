/* tools/wrap/rank.c - which rank a process is, before it joins its job: launchers say it in the environment. */
#include "rank.h"

#include "tools/shared/shared.h"

#include <stdlib.h>
#include <string.h>

/* Launchers start each other: mpirun runs inside a job of Slurm, `tutti run` in both. The innermost comes first. */
static const struct {
  const char *rank, *rank_count; /* NULL: not said */
} launchers[] = {
    {"TUTTI_RANK", "TUTTI_SIZE"}, {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"}, {"PMIX_RANK", NULL},
    {"PMI_RANK", "PMI_SIZE"},     {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS"},
};

bool wrap_read_rank(const char *text, int64_t *rank) {
  return strspn(text, "0123456789") == strlen(text) && tool_read_number(text, 0, INT64_MAX, rank);
}

tutti_status wrap_find_rank(int64_t *rank, int64_t *rank_count) {
  size_t l = 0;
  while (l < TT_COUNT(launchers) && getenv(launchers[l].rank) == NULL)
    l++;
  if (l == TT_COUNT(launchers))
    return tt_fail(TUTTI_ERR_ARGUMENT, "no launcher says which rank this is: none of TUTTI_RANK, OMPI_COMM_WORLD_RANK, "
                                       "PMIX_RANK, PMI_RANK and SLURM_PROCID is set");
  const char *text = getenv(launchers[l].rank);
  if (!wrap_read_rank(text, rank))
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s is '%s', which is not a rank", launchers[l].rank, text);
  const char *count = launchers[l].rank_count != NULL ? getenv(launchers[l].rank_count) : NULL;
  if (count == NULL || !wrap_read_rank(count, rank_count))
    *rank_count = 0;
  return TUTTI_OK;
}
