/* tune/choose.c - who decides with which parameters a call runs: the order of authority stands here and nowhere else.
 *
 *     the program    tutti_comm_set_params
 *     TUTTI_PARAMS
 *     wisdom         where something like the call was measured
 *     learned        what was found out from calls that were measured (lessons.c)
 *     model          the simulator's first, where that does better
 *     the profile    its first rule that fits
 *     nobody         then each rank sends what it has to who needs it, which fits every call
 *
 * Calls ask for the strongest (call/entry.c), `tutti explain` for each. */
#include "tune/tune.h"

#include <string.h>

static const char fallback[] = "linear";

const char *tt_authority_name(tt_authority by) {
  static const char *const names[TT_AUTHORITY_COUNT] = {
      "tutti_comm_set_params", "TUTTI_PARAMS", "wisdom", "learned", "model", "profile", "default"};
  return names[by];
}

bool tt_authority_insists(tt_authority by) { return by == TT_BY_PROGRAM || by == TT_BY_PARAMS; }

tt_choice tt_choose_fallback(void) { return (tt_choice){.by = TT_BY_NOBODY, .text = fallback, .source = ""}; }

/* ---- what a choice may depend on ---- */

static const tt_topo_level *nodes_of(const tt_topo *topo) {
  const tt_topo_level *level = topo->level;
  while (level->group_of && strcmp(level->name, "node") != 0)
    level++;
  return level;
}

tt_region tt_region_of(const tt_topo *topo, tt_collective collective, int64_t bytes, int64_t nic_count,
                       int64_t l2_bytes, int64_t core_count) {
  const tt_topo_level *nodes = nodes_of(topo);
  bool known = tt_compose_info(collective).lengths == TT_LENGTHS_ALL;
  return (tt_region){.collective = collective,
                     .bytes = known ? bytes : INT64_MAX,
                     .rank_count = topo->rank_count,
                     .node_count = nodes->group_count,
                     .ranks_per_node = nodes->most,
                     .nic_count = nic_count,
                     .l2_bytes = l2_bytes,
                     .core_count = core_count};
}

/* ---- each of them ---- */

static tt_choice silent(const char *why) { return (tt_choice){.why = why}; }

static tt_choice ask_program(const tt_authorities *of) {
  return of->set ? (tt_choice){.text = of->set, .source = ""} : silent("the program has set no parameters");
}

static tt_choice ask_params(const tt_authorities *of) {
  return *of->params ? (tt_choice){.text = of->params, .source = ""} : silent("it is not set");
}

static bool has_any(const tt_authorities *of, tt_collective collective) {
  for (int n = 0; n < TT_BUCKETS; n++)
    if (of->dispatch->winner[collective][n] >= 0 && of->dispatch->winner[collective][n] < of->wisdom->count)
      return true;
  return false;
}

/* What was measured was a sum, and of lengths that all ranks know. NULL: there is more to look for. */
static const char *why_unlike(const tt_region *region, bool ordered) {
  return ordered                      ? "it was measured with an operator that commutes"
         : region->bytes == INT64_MAX ? "not all ranks know the lengths of this collective"
                                      : NULL;
}

static tt_choice ask_wisdom(const tt_authorities *of, const tt_region *region, bool ordered) {
  if (!of->wisdom || !of->dispatch || of->wisdom->count == 0)
    return silent("there is none");
  if (why_unlike(region, ordered))
    return silent(why_unlike(region, ordered));
  const tt_winner *winner = tt_dispatch_find(of->dispatch, of->wisdom, region->collective, region->bytes);
  if (winner)
    return (tt_choice){.text = winner->text, .source = winner->source, .winner = winner};
  return silent(has_any(of, region->collective)
                    ? "no faster entry within a factor of four of this length"
                    : "no entry for this collective with these ranks, nodes, ranks of a node and NICs");
}

static tt_choice ask_inferred(const tt_authorities *of, tt_authority by, const tt_region *region, bool ordered) {
  if (!of->wisdom || !of->dispatch || of->wisdom->inferred_count == 0)
    return silent("there is none of such ranks");
  if (why_unlike(region, ordered))
    return silent(why_unlike(region, ordered));
  const tt_inferred *found = tt_dispatch_infer(of->dispatch, of->wisdom, region->collective, region->bytes);
  if (found && found->by == by)
    return (tt_choice){.text = found->text, .source = found->source};
  return silent("it leaves this call to others");
}

static tt_choice ask_profile(const tt_authorities *of, const tt_region *region) {
  const tt_rule *rule = of->profile ? tt_profile_find(of->profile, region) : NULL;
  return rule ? (tt_choice){.text = rule->text, .source = rule->source} : silent("no rule fits this call");
}

tt_choice tt_choose_by(const tt_authorities *of, tt_authority by, const tt_region *region, bool ordered) {
  tt_choice choice = by == TT_BY_PROGRAM   ? ask_program(of)
                     : by == TT_BY_PARAMS  ? ask_params(of)
                     : by == TT_BY_WISDOM  ? ask_wisdom(of, region, ordered)
                     : by == TT_BY_LEARNED ? ask_inferred(of, by, region, ordered)
                     : by == TT_BY_MODEL   ? ask_inferred(of, by, region, ordered)
                     : by == TT_BY_PROFILE ? ask_profile(of, region)
                                           : tt_choose_fallback();
  choice.by = by;
  return choice;
}

tt_choice tt_choose(const tt_authorities *of, const tt_region *region, bool ordered) {
  tt_choice choice = {.text = NULL};
  for (tt_authority by = TT_BY_PROGRAM; by < TT_AUTHORITY_COUNT && !choice.text; by++)
    choice = tt_choose_by(of, by, region, ordered);
  return choice;
}
