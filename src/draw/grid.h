/* draw/grid.h - what stands where in a picture: messages collected from plans, and the place of rows and columns. */
#ifndef TT_DRAW_GRID_H
#define TT_DRAW_GRID_H

#include "draw/draw.h"

/* One arrow. A published message is one for each reader. */
typedef struct tt_draw_message {
  uint32_t time, blocks;
  int32_t from, to;
  uint16_t level, channel;
} tt_draw_message;

/* What happens to a rank's own data at the end of a round. */
typedef enum tt_draw_mark_kind {
  TT_DRAW_RECV,
  TT_DRAW_REDUCE,
  TT_DRAW_REDUCE_LEFT, /* what has come is the left operand */
  TT_DRAW_COPY,
  TT_DRAW_MARK_COUNT
} tt_draw_mark_kind;

typedef struct tt_draw_mark {
  uint32_t time;
  int32_t rank;
  uint16_t level;
  tt_draw_mark_kind kind;
} tt_draw_mark;

/* Rounds in which nothing happens have no column. Lengths are in pixels. */
typedef struct tt_draw_grid {
  tt_arena arena;
  int64_t rank_count;
  tt_draw_message *message;
  int64_t message_count;
  tt_draw_mark *mark;
  int64_t mark_count;
  int32_t *column_of; /* [rounds]: -1 where nothing happens */
  uint32_t *time_of;  /* [columns] */
  int column_count;
  bool has_in[TT_DRAW_RANKS];     /* whose input is used */
  bool has_out[TT_DRAW_RANKS];    /* who gets a result */
  uint32_t fewest, most;          /* blocks of a message */
  int32_t rank_at[TT_DRAW_RANKS]; /* from the top */
  int32_t group_at[TT_DRAW_RANKS];
  double y[TT_DRAW_RANKS]; /* of each rank */
  double left, top, column_width, row_height, width, bottom;
  int64_t busiest; /* arrows of the fullest column */
} tt_draw_grid;

/* Finish is called after an error too. */
tutti_status tt_draw_grid_init(const tt_draw_picture *picture, tt_draw_grid *grid);
void tt_draw_grid_finish(tt_draw_grid *grid);
double tt_draw_column_x(const tt_draw_grid *grid, uint32_t time); /* left edge of a round that has a column */

#endif
