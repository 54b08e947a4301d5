/* draw/grid.c - plans -> messages and marks -> rows, columns and sizes of a picture. */
#include "draw/grid.h"

#include <assert.h>
#include <inttypes.h>
#include <string.h>

/* ---- what happens ---- */

static void add_message(tt_draw_grid *grid, const tt_draw_message *message, bool count_only) {
  if (!count_only)
    grid->message[grid->message_count] = *message;
  grid->message_count++;
}

static void add_arrows(tt_draw_grid *grid, const tt_plan *plan, const tt_lane *lane, tt_draw_message message,
                       bool count_only) {
  if (!lane->published)
    add_message(grid, &message, count_only);
  for (uint32_t n = 0; n < lane->reader_count; n++) {
    message.to = plan->reader[lane->first_reader + n];
    add_message(grid, &message, count_only);
  }
}

static tt_draw_mark_kind mark_kind(const tt_step *step, bool ordered) {
  if (step->kind == TT_STEP_RECV_REDUCE)
    return ordered && step->flags & TT_STEP_LEFT ? TT_DRAW_REDUCE_LEFT : TT_DRAW_REDUCE;
  return step->kind == TT_STEP_RECV ? TT_DRAW_RECV : TT_DRAW_COPY;
}

/* Blocks of one message leave one mark. Where only counting, they may count twice. */
static void add_mark(tt_draw_grid *grid, const tt_draw_mark *mark, bool count_only) {
  const tt_draw_mark *last = count_only || grid->mark_count == 0 ? NULL : &grid->mark[grid->mark_count - 1];
  if (last && last->time == mark->time && last->rank == mark->rank && last->level == mark->level &&
      last->kind == mark->kind)
    return;
  if (!count_only)
    grid->mark[grid->mark_count] = *mark;
  grid->mark_count++;
}

static void look_at_buffers(tt_draw_grid *grid, const tt_plan *plan, const tt_step *step) {
  bool has_src = step->kind != TT_STEP_RECV, has_dst = step->kind != TT_STEP_SEND;
  grid->has_in[plan->rank] |= has_src && step->src.space == TT_SPACE_IN;
  grid->has_out[plan->rank] |= has_dst && step->dst.space == TT_SPACE_OUT;
}

static void collect_lane(tt_draw_grid *grid, const tt_plan *plan, const tt_lane *lane, bool ordered, bool count_only) {
  uint32_t blocks = 0;
  for (uint32_t n = 0; n < lane->step_count; n++) {
    const tt_step *step = &plan->step[lane->first_step + n];
    blocks = step->flags & TT_STEP_FIRST ? 1 : blocks + 1;
    bool last = step->kind == TT_STEP_COPY || step->flags & TT_STEP_LAST;
    look_at_buffers(grid, plan, step);
    if (last && lane->role == TT_ROLE_SEND)
      add_arrows(grid, plan, lane,
                 (tt_draw_message){step->time, blocks, (int32_t)plan->rank, step->peer, lane->level, lane->channel},
                 count_only);
    else if (last)
      add_mark(grid, &(tt_draw_mark){step->time, (int32_t)plan->rank, lane->level, mark_kind(step, ordered)},
               count_only);
  }
}

static void collect(tt_draw_grid *grid, const tt_draw_picture *picture, bool count_only) {
  grid->message_count = grid->mark_count = 0;
  for (int64_t r = 0; r < grid->rank_count; r++)
    for (uint32_t n = 0; n < picture->plan[r]->lane_count; n++)
      collect_lane(grid, picture->plan[r], &picture->plan[r]->lane[n], picture->ordered, count_only);
}

/* ---- columns ---- */

static void count_columns(tt_draw_grid *grid, uint32_t time_count, int64_t *arrows) {
  for (int64_t n = 0; n < grid->message_count; n++) {
    const tt_draw_message *message = &grid->message[n];
    assert(message->time < time_count && message->blocks > 0);
    int64_t in_round = ++arrows[message->time];
    grid->busiest = in_round > grid->busiest ? in_round : grid->busiest;
    grid->fewest = n == 0 || message->blocks < grid->fewest ? message->blocks : grid->fewest;
    grid->most = message->blocks > grid->most ? message->blocks : grid->most;
  }
  for (int64_t n = 0; n < grid->mark_count; n++)
    arrows[grid->mark[n].time] += arrows[grid->mark[n].time] == 0;
  for (uint32_t t = 0; t < time_count; t++) {
    grid->column_of[t] = arrows[t] > 0 ? grid->column_count : -1;
    if (arrows[t] > 0)
      grid->time_of[grid->column_count++] = t;
  }
}

/* ---- rows ---- */

static void order_rows(tt_draw_grid *grid, const tt_topo *topo) {
  const int32_t *group_of = topo && topo->level_count > 1 ? topo->level[0].group_of : NULL;
  int64_t groups = group_of ? topo->level[0].group_count : 1, row = 0;
  for (int32_t g = 0; g < groups; g++)
    for (int32_t r = 0; r < grid->rank_count; r++)
      if (!group_of || group_of[r] == g) {
        grid->rank_at[row] = r;
        grid->group_at[row++] = g;
      }
  assert(row == grid->rank_count); /* each once */
}

static double between(double low, double value, double high) { return value < low ? low : value > high ? high : value; }

static void place(tt_draw_grid *grid, const tt_draw_picture *picture) {
  bool grouped = grid->group_at[grid->rank_count - 1] > 0;
  int columns = grid->column_count > 0 ? grid->column_count : 1;
  grid->left = grouped ? 148 : 84;
  grid->top = picture->stage_count > 1 ? 140 : 112;
  grid->row_height = between(18, 480 / (double)grid->rank_count, 44);
  grid->column_width = between(70, 760.0 / columns, columns == 1 ? 410 : 300);
  grid->width = grid->left + columns * grid->column_width + 32;
  double y = grid->top + grid->row_height / 2;
  for (int64_t row = 0; row < grid->rank_count; row++) {
    if (row > 0 && grid->group_at[row] != grid->group_at[row - 1])
      y += 12;
    grid->y[grid->rank_at[row]] = y;
    y += grid->row_height;
  }
  grid->bottom = y - grid->row_height / 2;
}

tutti_status tt_draw_grid_init(const tt_draw_picture *picture, tt_draw_grid *grid) {
  memset(grid, 0, sizeof *grid);
  tt_arena_init(&grid->arena);
  grid->rank_count = picture->plan[0]->rank_count;
  if (grid->rank_count > TT_DRAW_RANKS)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "a picture of %" PRId64 " ranks is too large to draw; the limit is %d",
                   grid->rank_count, TT_DRAW_RANKS);
  uint32_t time_count = picture->plan[0]->time_count + 1; /* copies may stand after the last message */
  collect(grid, picture, true);
  grid->message = tt_arena_alloc(&grid->arena, (size_t)grid->message_count + 1, sizeof *grid->message);
  grid->mark = tt_arena_alloc(&grid->arena, (size_t)grid->mark_count + 1, sizeof *grid->mark);
  grid->column_of = tt_arena_alloc(&grid->arena, time_count, sizeof *grid->column_of);
  grid->time_of = tt_arena_alloc(&grid->arena, time_count, sizeof *grid->time_of);
  int64_t *arrows = tt_arena_alloc(&grid->arena, time_count, sizeof *arrows);
  if (grid->arena.failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a picture of %" PRId64 " ranks", grid->rank_count);
  int64_t messages = grid->message_count, marks = grid->mark_count;
  collect(grid, picture, false);
  assert(grid->message_count == messages && grid->mark_count <= marks);
  (void)messages, (void)marks;
  count_columns(grid, time_count, arrows);
  order_rows(grid, picture->topo);
  place(grid, picture);
  return TUTTI_OK;
}

void tt_draw_grid_finish(tt_draw_grid *grid) { tt_arena_finish(&grid->arena); }

double tt_draw_column_x(const tt_draw_grid *grid, uint32_t time) {
  assert(grid->column_of[time] >= 0);
  return grid->left + grid->column_of[time] * grid->column_width;
}
