/* sim/cores.c - ranks that share a core: one works at a time.
 *
 * A rank keeps its core as long as it has something to do; then the one goes on that has waited longest. To change
 * takes time. */
#include "sim/machine.h"

#include <assert.h>
#include <math.h>
#include <string.h>

typedef struct core {
  double free_ps;
  uint32_t rank;  /* that had it last; TT_NONE: none */
  uint32_t first; /* lane with work to do; TT_NONE: none */
} core;

struct tt_sim_cores {
  const tt_sim_bound *bound;
  core *core; /* those that have ranks */
  int64_t count;
  uint32_t *of_rank; /* the number of its core */
};

int64_t tt_sim_core_of(const tt_sim_bound *bound, int64_t rank) {
  int64_t cores = bound->rates->cores, first = bound->machine ? bound->machine[rank] : 0;
  return first * cores + (bound->core ? bound->core[rank] : rank % cores);
}

/* In the order of their first ranks. */
static void number_cores(tt_sim_cores *cores, uint32_t *number, int64_t rank_count) {
  for (int64_t rank = 0; rank < rank_count; rank++) {
    uint32_t *at = &number[tt_sim_core_of(cores->bound, rank)];
    if (*at == TT_NONE) {
      cores->core[cores->count] = (core){.rank = TT_NONE, .first = TT_NONE};
      *at = (uint32_t)cores->count++;
    }
    cores->of_rank[rank] = *at;
  }
}

void tt_sim_cores_make(tt_sim_machine *machine, const tt_sim_bound *bound) {
  size_t ranks = (size_t)machine->rank_count, all = (size_t)bound->rates->cores * ranks;
  tt_sim_cores *made = all > 0 ? tt_arena_alloc(&machine->arena, 1, sizeof *made) : NULL;
  uint32_t *number = made ? tt_arena_alloc(&machine->arena, all, sizeof *number) : NULL;
  if (!number)
    return;
  *made = (tt_sim_cores){.bound = bound,
                         .core = tt_arena_alloc(&machine->arena, ranks, sizeof *made->core),
                         .of_rank = tt_arena_alloc(&machine->arena, ranks, sizeof *made->of_rank)};
  memset(number, 0xff, all * sizeof *number); /* TT_NONE */
  if (made->core && made->of_rank)
    number_cores(made, number, machine->rank_count);
  machine->work.cores = made;
}

void tt_sim_cores_queue(tt_sim_machine *machine, uint32_t number) {
  tt_sim_lane *lane = &machine->lane[number];
  tt_sim_cores *cores = machine->work.cores;
  uint32_t *at = &cores->core[cores->of_rank[lane->plan->rank]].first;
  while (*at != TT_NONE)
    at = &machine->lane[*at].next_at_core;
  *at = number;
  lane->next_at_core = TT_NONE;
  tt_sim_works(lane);
}

/* Where in the core's list the lane is that goes on: of the same rank, or else the first. */
static uint32_t *choose(tt_sim_machine *machine, core *of) {
  for (uint32_t *at = &of->first; *at != TT_NONE; at = &machine->lane[*at].next_at_core)
    if (machine->lane[*at].plan->rank == of->rank)
      return at;
  return &of->first;
}

static void serve(tt_sim_machine *machine, core *of) {
  uint32_t *at = choose(machine, of), number = *at;
  tt_sim_lane *lane = &machine->lane[number];
  uint32_t rank = (uint32_t)lane->plan->rank;
  double switch_ps = of->rank == TT_NONE || of->rank == rank ? 0 : 1000 * machine->work.cores->bound->rates->switch_ns;
  double begin_ps = fmax(machine->clock.now_ps + rint(switch_ps), machine->work.done_ps[rank]);
  *at = lane->next_at_core;
  of->rank = rank;
  of->free_ps = tt_sim_begin_work(machine, number, begin_ps);
}

void tt_sim_cores_serve(tt_sim_machine *machine) {
  for (int64_t n = 0; machine->work.cores && n < machine->work.cores->count; n++) {
    core *of = &machine->work.cores->core[n];
    if (of->first != TT_NONE && of->free_ps <= machine->clock.now_ps)
      serve(machine, of);
  }
}
