/* tune/probes.c - which messages tell all rates (fit.c).
 *
 *     pieces      one of each length, by each medium, in the cache
 *     reuses      a length for each medium, where the rank has used other memory meanwhile
 *     flows       many pieces one behind the other: both ends of a stream are at work at a time
 *     past        a message so long that its end is stored past the cache */
#include "tune/tune.h"

#define SHORT_PIECE (64 << 10)
#define LONG_PIECE (256 << 10) /* what is read where it lies is long */
#define FLOW_PIECES 16

typedef struct list {
  tt_probe *probe;
  int count;
  int64_t memory_bytes;
} list;

int64_t tt_probe_trip(const tt_probe *probe) { return (probe->combines ? 3 : 2) * probe->piece_bytes * probe->pieces; }

static void add(list *to, tt_probe probe) {
  int64_t trip = tt_probe_trip(&probe);
  if (to->count == TT_PROBES_MOST || trip > to->memory_bytes || probe.reuse_bytes > to->memory_bytes)
    return;
  probe.reuse_bytes = probe.reuse_bytes > trip ? (probe.reuse_bytes + trip / 2) / trip * trip : trip;
  if (probe.reuse_bytes > to->memory_bytes)
    probe.reuse_bytes -= trip;
  to->probe[to->count++] = probe;
}

static tt_probe probe_of(tt_medium medium, tt_sim_act act, int64_t piece_bytes) {
  return (tt_probe){.medium = medium,
                    .combines = act == TT_SIM_COMBINE || act == TT_SIM_COMBINE_NEW,
                    .is_new = act == TT_SIM_STORE_NEW || act == TT_SIM_COMBINE_NEW,
                    .piece_bytes = piece_bytes,
                    .pieces = 1};
}

static void add_pieces(list *to, tt_medium medium, tt_sim_act act, int64_t least, int64_t most) {
  for (int n = 0; n < TT_SIM_PIECES; n++)
    if (tt_sim_piece[n] >= least && tt_sim_piece[n] <= most)
      add(to, probe_of(medium, act, tt_sim_piece[n]));
}

static void add_reuses(list *to, tt_probe probe) {
  for (int n = 1; n < TT_SIM_REUSES; n++) {
    probe.reuse_bytes = tt_sim_reuse[n];
    if (tt_sim_reuse[n] > 3 * tt_probe_trip(&probe) / 2) /* more than one turn */
      add(to, probe);
  }
}

/* Each message is of half a MiB where slots are of 32 KiB. */
static void add_flows(list *to, tt_medium medium, tt_sim_act act, int64_t slot) {
  tt_probe probe;
  for (int n = 0; n < TT_SIM_PIECES; n++)
    if (tt_sim_piece[n] >= slot / 8 && tt_sim_piece[n] <= slot) {
      probe = probe_of(medium, act, tt_sim_piece[n]);
      probe.pieces = FLOW_PIECES * slot / probe.piece_bytes;
      add(to, probe);
    }
  probe = probe_of(medium, act, slot);
  probe.pieces = FLOW_PIECES;
  add_reuses(to, probe);
}

static void add_reads(list *to, tt_sim_act act, int64_t read_bytes) {
  int64_t piece = read_bytes > LONG_PIECE ? read_bytes : LONG_PIECE;
  add_pieces(to, TT_MEDIUM_READ, act, read_bytes, INT64_MAX);
  add_reuses(to, probe_of(TT_MEDIUM_READ, act, piece));
}

/* Where every slot is stored past the cache, probes of pieces tell how long that takes. */
static void add_past(list *to, tt_medium medium, tt_sim_act act, int64_t slot, int64_t past_bytes) {
  tt_probe probe = probe_of(medium, act, medium == TT_MEDIUM_READ ? past_bytes : slot);
  if (past_bytes < 1 || past_bytes < probe.piece_bytes || past_bytes > to->memory_bytes)
    return;
  probe.pieces = past_bytes / probe.piece_bytes;
  probe.past = true;
  add(to, probe);
}

int tt_fit_probes(int64_t slot_bytes, int64_t cell_bytes, int64_t read_bytes, int64_t memory_bytes, int64_t past_bytes,
                  bool far, tt_probe probe[static TT_PROBES_MOST]) {
  list to = {.probe = probe, .memory_bytes = memory_bytes};
  int64_t slot = slot_bytes < SHORT_PIECE ? slot_bytes : SHORT_PIECE;
  tt_medium medium = far ? TT_MEDIUM_MESSAGE : TT_MEDIUM_SLOT;
  for (tt_sim_act act = TT_SIM_STORE; act <= TT_SIM_COMBINE; act++) {
    add_pieces(&to, medium, act, 0, slot);
    add_flows(&to, medium, act, slot);
    add_past(&to, medium, act, slot, past_bytes);
    if (!far && read_bytes > 0)
      add_past(&to, TT_MEDIUM_READ, act, slot, past_bytes);
  }
  for (tt_sim_act act = TT_SIM_STORE; act < TT_SIM_ACTS && !far && read_bytes > 0; act++)
    add_reads(&to, act, read_bytes);
  if (!far)
    add_pieces(&to, TT_MEDIUM_CELL, TT_SIM_STORE, 0, cell_bytes);
  return to.count;
}
