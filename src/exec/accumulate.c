/* exec/accumulate.c - float32 images of 16-bit floats: widened at start, combined and sent as float32 by an unchanged
 * plan, rounded once at the end.
 *
 *     in    |..a..b..|  ->  image |....a.....b....|      a block at user + n is at image + 2 n; in place, when in and
 *     out   |..c.....|  <-  image |....c..........|      out are one memory, there is one image of both
 *
 * Costs twice the bytes on the wire and memory for the images; a plan that kept its last blocks short, once they are
 * rounded, would need to know about types. */
#include "exec/accumulate.h"

#include <assert.h>
#include <stdlib.h>

enum { LINE = 64, TIMES = 2 /* an image is so much longer */ };

bool tt_accumulate_applies(const tt_run *run) {
  bool rounds = run->op == TUTTI_SUM || run->op == TUTTI_PRODUCT || run->op == TUTTI_AVERAGE;
  return run->wide && rounds && !run->user_op && !run->element_bytes && !run->moves_only &&
         tt_dtype_has_image(run->type);
}

/* ---- which blocks ---- */

static tt_image_block *list_of(const tt_plan *plan, tt_arena *arena, const tt_image_ref *image, uint32_t count) {
  tt_image_block *list = tt_arena_alloc(arena, count + 1u, sizeof *list);
  for (uint32_t n = 0; n < count && list; n++)
    list[n] = (tt_image_block){tt_blocks_place(plan, image[n].ref), tt_blocks_length(plan, image[n].block)};
  return list;
}

static tutti_status set_blocks(tt_accumulate *of, const tt_bound_plan *bound, tt_arena *arena) {
  of->read = list_of(bound->list, arena, bound->widen, bound->widen_count);
  tt_image_block *write = list_of(bound->list, arena, bound->narrow, bound->narrow_count);
  if (arena->failed)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a list of %u blocks", bound->widen_count + bound->narrow_count);
  of->read_count = bound->widen_count;
  of->write_count = bound->narrow_count;
  of->write = write;
  return TUTTI_OK;
}

/* ---- images ---- */

typedef struct span { /* of the user's memory; begin == end: nothing */
  uintptr_t begin, end;
} span;

static span both(span a, span b) {
  if (a.begin == a.end || b.begin == b.end)
    return a.begin == a.end ? b : a;
  return (span){a.begin < b.begin ? a.begin : b.begin, a.end > b.end ? a.end : b.end};
}

static span span_of(const tt_image_block *list, uint32_t count, const tt_run *run, const tt_blocks *blocks) {
  span all = {0, 0};
  for (uint32_t n = 0; n < count; n++) {
    assert(list[n].place.space == TT_SPACE_IN || list[n].place.space == TT_SPACE_OUT);
    uintptr_t base = list[n].place.space == TT_SPACE_IN ? (uintptr_t)run->in : (uintptr_t)run->out;
    uintptr_t begin = base + (uintptr_t)(tt_blocks_offset(blocks, list[n].place) / TIMES);
    all = both(all, (span){begin, begin + (uintptr_t)(tt_blocks_bytes(blocks, list[n].length) / TIMES)});
  }
  return all;
}

static tutti_status grow(tt_accumulate *of, size_t bytes) {
  if (bytes <= of->image_bytes)
    return TUTTI_OK;
  tt_accumulate_finish(of);
  of->image = aligned_alloc(LINE, bytes);
  if (!of->image)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for float32 images of %zu bytes", bytes);
  of->image_bytes = bytes;
  return TUTTI_OK;
}

static size_t image_bytes(span of) { return (TIMES * (of.end - of.begin) + LINE - 1) & -(size_t)LINE; }

/* Where the buffer at `user` would begin in the image of `of`. */
static unsigned char *base_of(unsigned char *image, span of, const void *user) {
  return (unsigned char *)((uintptr_t)image + TIMES * ((uintptr_t)user - of.begin));
}

static tutti_status make_images(tt_accumulate *of, const tt_plan *plan, const tt_run *run, const tt_blocks *blocks,
                                tt_memory *memory) {
  span in = span_of(of->read, of->read_count, run, blocks), out = span_of(of->write, of->write_count, run, blocks);
  if (plan->in_place)
    in = out = both(in, out);
  size_t before = plan->in_place ? 0 : image_bytes(in);
  tutti_status status = grow(of, before + image_bytes(out));
  if (status != TUTTI_OK)
    return status;
  memory->base[TT_SPACE_IN] = base_of(of->image, in, run->in);
  memory->base[TT_SPACE_OUT] = base_of(of->image + before, out, run->out);
  return TUTTI_OK;
}

tutti_status tt_accumulate_start(tt_accumulate *of, const tt_bound_plan *bound, tt_arena *arena, const tt_run *run,
                                 const tt_blocks *blocks, tt_memory *memory) {
  assert(tt_accumulate_applies(run));
  tutti_status status = of->write ? TUTTI_OK : set_blocks(of, bound, arena);
  if (status == TUTTI_OK)
    status = make_images(of, bound->list, run, blocks, memory);
  if (status != TUTTI_OK)
    return status;
  of->type = run->type;
  of->out = run->out;
  for (uint32_t n = 0; n < of->read_count; n++) {
    const tt_image_block *block = &of->read[n];
    const unsigned char *user = block->place.space == TT_SPACE_IN ? run->in : run->out;
    tt_dtype_widen(of->type, (float *)(void *)tt_memory_at(memory, block->place, blocks),
                   user + tt_blocks_offset(blocks, block->place) / TIMES,
                   (size_t)tt_blocks_bytes(blocks, block->length) / sizeof(float));
  }
  return TUTTI_OK;
}

void tt_accumulate_narrow(tt_accumulate *of, const tt_blocks *blocks, const tt_memory *memory) {
  assert(of->on);
  for (uint32_t n = 0; n < of->write_count; n++) {
    const tt_image_block *block = &of->write[n];
    tt_dtype_narrow(of->type, of->out + tt_blocks_offset(blocks, block->place) / TIMES,
                    (const float *)(const void *)tt_memory_at(memory, block->place, blocks),
                    (size_t)tt_blocks_bytes(blocks, block->length) / sizeof(float));
  }
  of->on = false;
}

void tt_accumulate_finish(tt_accumulate *of) {
  free(of->image);
  of->image = NULL;
  of->image_bytes = 0;
}
