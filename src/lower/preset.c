/* lower/preset.c - the textbook's names, as rows: each is nothing but parameters. */
#include "lower/lower.h"

const tt_preset *tt_preset_table(size_t *count) {
  static const tt_preset presets[] = {
      {"linear", "[core:star]", "everyone with everyone, or with the root, in one round"},
      {"chain", "[core:chain] slice=64K", "a line of ranks, pipelined"},
      {"ring", "form=split [core:chain]", "each block goes around the ring"},
      {"binomial", "[core:2-nomial,far]", "binomial tree, farthest first"},
      {"bruck", "[core:2-nomial,near]", "Bruck: distances 1, 2, 4, ..., for any number of ranks"},
      {"recursive-doubling", "[core:2-nomial,xor]", "partners at distance 1, 2, 4, ... exchange"},
      {"rabenseifner", "form=allgather.reduce-scatter [core:2-nomial,xor]",
       "recursive halving, then recursive doubling"},
      {"scatter-allgather", "form=allgather.scatter scatter[core:2-nomial,far] allgather[core:chain]",
       "binomial scatter, then ring allgather"},
      {"two-level-ring", "form=split [node:chain/core:star]", "ring over nodes by all ranks, star inside nodes"},
      {"two-level-halving", "form=split [node:2-nomial,xor/core:star]",
       "halving or doubling over nodes, star inside nodes"},
  };
  *count = TT_COUNT(presets);
  return presets;
}
