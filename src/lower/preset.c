/* lower/preset.c - the textbook's names, as rows: each is nothing but parameters. */
#include "lower/lower.h"

const tt_preset *tt_preset_table(size_t *count) {
  static const tt_preset presets[] = {
      {"linear", "[core:star]", "every rank with every rank, or with the root, in one round"},
      {"chain", "[core:chain] slice=64K", "a line of ranks, pipelined"},
      {"ring", "form=split [core:chain]", "each block goes around the ring"},
      {"neighbor-exchange", "[core:exchange]", "pairs, then neighbors in turn: p/2 rounds, for even numbers of ranks"},
      {"binomial", "[core:2-nomial,far]", "binomial tree, farthest first"},
      {"k-nomial", "[core:4-nomial,far]", "the same with three messages a round: half the rounds"},
      {"bruck", "[core:2-nomial,near]", "Bruck: distances 1, 2, 4, ..., for any number of ranks"},
      {"k-bruck", "[core:4-nomial,near]", "Bruck with three messages a round: distances 1, 2, 3, 4, 8, 12, ..."},
      {"recursive-doubling", "[core:2-nomial,xor]", "partners at distance 1, 2, 4, ... exchange"},
      {"ordered-doubling", "[core:2-nomial,xor,far]", "the same for operators that do not commute"},
      {"rabenseifner", "form=allgather.reduce-scatter [core:2-nomial,xor]",
       "recursive halving, then recursive doubling"},
      {"scatter-allgather", "form=allgather.scatter scatter[core:2-nomial,far] allgather[core:chain]",
       "binomial scatter, then ring allgather"},
      {"pipelined-binary", "[core:2-ary] slice=64K", "binary tree, pipelined"},
      {"two-tree", "[core:2-planted] channels=2 slice=64K",
       "half the data goes down one binary tree, half down its mirror image: inner ranks of one are leaves of the "
       "other"},
      {"postal", "[core:3-postal]", "postal tree: best where a message takes as long as three sends"},
      {"scan", "[core:2-nomial,reflect,far]", "scan: a value from distance 1, 2, 4, ... in rank order"},
      {"pipelined-scan", "[core:chain,reflect] slice=64K", "scan along a line of ranks, pipelined"},
      {"two-level-ring", "form=split [node:chain/core:star]", "ring over nodes by all ranks, star inside nodes"},
      {"two-level-halving", "form=split [node:2-nomial,xor/core:star]",
       "halving or doubling over nodes, star inside nodes"},
      {"two-level-binomial", "[node:2-nomial,far/core:star]", "binomial tree over nodes, star inside nodes"},
      {"two-level-scan", "[node:2-nomial,reflect,far/core:2-nomial,xor,far]",
       "halving or doubling inside nodes, then a scan of the sums over nodes"},
      {"node-aware", "[node:star/core:star] stripe=1",
       "one leader a node: collects what goes to a node, exchanges it, distributes"},
  };
  *count = TT_COUNT(presets);
  return presets;
}
