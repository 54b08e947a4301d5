/* api/composition.c - compositions of users: primitives taken down one by one, each checked as it comes.
 *
 * From here on they go the way of tutti's own (entry.c): lowering cannot tell them apart. */
#include "api/composition.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* What is made of a composition has room for each block of each rank. */
#define MOST_PLACES ((int64_t)1 << 26)

tutti_status tutti_composition_create(tutti_comm *comm, int64_t block_count, tutti_composition **composition) {
  if (!comm || !composition)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_composition_create: %s is NULL", comm ? "composition" : "comm");
  if (block_count < 1 || block_count > MOST_PLACES / comm->size)
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "tutti_composition_create: block_count is %" PRId64 "; it may be 1 to %" PRId64 " on %" PRId64
                   " ranks",
                   block_count, MOST_PLACES / comm->size, comm->size);
  if (tt_context_is_copy(comm->context))
    return tt_fork_refuse(comm->context, "tutti_composition_create");
  TT_HOLD(comm->context);
  if (tt_agree_prepare(comm) != TUTTI_OK)
    return tt_agree_verdict(comm);
  tutti_composition *made = calloc(1, sizeof *made);
  if (!made)
    return tt_fail(TUTTI_ERR_MEMORY, "tutti_composition_create: no memory");
  tt_arena_init(&made->arena);
  made->comm = comm;
  made->made = (tt_composition){
      .rank_count = comm->size, .block_count = block_count, .layout = {TT_LAYOUT_TOUCHED, TT_LAYOUT_TOUCHED}};
  *composition = made;
  return TUTTI_OK;
}

void tutti_composition_destroy(tutti_composition *composition) {
  if (!composition)
    return;
  TT_HOLD(composition->comm->context);
  for (size_t n = 0; n < TT_COUNT(composition->entry); n++)
    tt_entry_destroy(composition->entry[n]);
  for (size_t n = 0; n < TT_COUNT(composition->list); n++)
    free(composition->list[n].family);
  free(composition->params);
  tt_arena_finish(&composition->arena);
  free(composition);
}

/* ---- changes ---- */

/* It may still change; what was compiled for a look at it is forgotten. */
static tutti_status begin_change(tutti_composition *of, const char *function) {
  if (!of)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: composition is NULL", function);
  if (of->frozen)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: the composition has requests, so it cannot change", function);
  for (size_t n = 0; n < TT_COUNT(of->entry); n++) {
    tt_entry_destroy(of->entry[n]);
    of->entry[n] = NULL;
  }
  return TUTTI_OK;
}

static bool is_name(const char *name) {
  size_t length = strlen(name);
  for (size_t n = 0; n < length; n++)
    if (!(n ? isalnum((unsigned char)name[n]) || name[n] == '-' : isalpha((unsigned char)name[n])))
      return false;
  return length > 0 && length < TT_STAGE_NAME;
}

tutti_status tutti_composition_stage(tutti_composition *composition, const char *name) {
  tutti_status status = begin_change(composition, "tutti_composition_stage");
  if (status != TUTTI_OK)
    return status;
  tt_composition *made = &composition->made;
  if (!name || !is_name(name))
    return tt_fail(TUTTI_ERR_ARGUMENT,
                   "tutti_composition_stage: name is '%s'; it must be a letter, then letters, digits and '-', at most "
                   "%d characters",
                   name ? name : "NULL", TT_STAGE_NAME - 1);
  if (made->stage_count == TT_STAGES)
    return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_composition_stage: '%s' would be stage %d; the limit is %d", name,
                   TT_STAGES + 1, TT_STAGES);
  for (int n = 0; n < made->stage_count; n++)
    if (strcmp(made->stage[n].name, name) == 0)
      return tt_fail(TUTTI_ERR_ARGUMENT, "tutti_composition_stage: a stage '%s' already exists", name);
  strcpy(made->stage[made->stage_count++].name, name);
  return TUTTI_OK;
}

tutti_status tutti_composition_set_in_place(tutti_composition *composition, int in_place) {
  tutti_status status = begin_change(composition, "tutti_composition_set_in_place");
  if (status == TUTTI_OK)
    composition->made.in_place = in_place != 0;
  return status;
}

tutti_status tutti_composition_set_params(tutti_composition *composition, const char *text) {
  tutti_status status = begin_change(composition, "tutti_composition_set_params");
  tt_params params;
  if (status == TUTTI_OK && text)
    status = tt_params_parse(text, &params);
  if (status == TUTTI_OK && text && params.form[0])
    status = tt_fail(TUTTI_ERR_PLAN, "tutti_composition_set_params: form=%s, but your own compositions have no forms",
                     params.form);
  if (status != TUTTI_OK)
    return status;
  char *copy = text ? strdup(text) : NULL;
  if (text && !copy)
    return tt_fail(TUTTI_ERR_MEMORY, "tutti_composition_set_params: no memory");
  free(composition->params);
  composition->params = copy;
  return TUTTI_OK;
}

/* ---- primitives ---- */

static tt_family *push(tt_stage_list *list) {
  assert(list->count <= list->room);
  if (list->count == list->room) {
    int64_t room = list->room ? 2 * list->room : 8;
    tt_family *grown = realloc(list->family, (size_t)room * sizeof *grown);
    if (!grown)
      return NULL;
    list->family = grown;
    list->room = room;
  }
  return &list->family[list->count++];
}

static tutti_status copy_list(tutti_composition *of, tt_ends *ends) {
  if (ends->kind != TT_ENDS_LIST)
    return TUTTI_OK;
  int64_t *list = tt_arena_alloc(&of->arena, (size_t)ends->list_count, sizeof *list);
  if (!list)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %" PRId64 " ends", ends->list_count);
  memcpy(list, ends->list, (size_t)ends->list_count * sizeof *list);
  ends->list = list;
  return TUTTI_OK;
}

static tutti_status add(tutti_composition *of, tt_family family) {
  if (of->made.stage_count == 0)
    return tt_fail(TUTTI_ERR_ARGUMENT, "call tutti_composition_stage first");
  tt_stage *stage = &of->made.stage[of->made.stage_count - 1];
  tt_stage_list *list = &of->list[of->made.stage_count - 1];
  assert(!of->frozen && stage->family_count == list->count);
  tt_family *added = stage->family_count < INT32_MAX ? push(list) : NULL;
  if (!added)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for family %d of a stage", stage->family_count);
  *added = family;
  stage->list = list->family;
  stage->family_count++;
  tutti_status status = tt_ir_check_family(&of->made, stage, stage->family_count - 1);
  if (status == TUTTI_OK)
    status = copy_list(of, &added->ends);
  if (status != TUTTI_OK) {
    stage->family_count--;
    list->count--;
    return status;
  }
  of->reduces |= family.primitive == TT_REDUCTION;
  return TUTTI_OK;
}

static tt_affine affine(tutti_affine form) { return (tt_affine){form.base, form.i, form.j}; }

static const tt_ends_kind ends_kind[] = {[TUTTI_ENDS_ALL] = TT_ENDS_ALL,
                                         [TUTTI_ENDS_ONE] = TT_ENDS_ONE,
                                         [TUTTI_ENDS_LIST] = TT_ENDS_LIST,
                                         [TUTTI_ENDS_RANGE] = TT_ENDS_RANGE};
_Static_assert(TUTTI_MID == (int)TT_MID && TUTTI_IN == (int)TT_IN && TUTTI_OUT == (int)TT_OUT, "buffers are cast");

static tutti_status check_arguments(const tutti_family *family, const char *function) {
  if (family->ends < 0 || (size_t)family->ends >= TT_COUNT(ends_kind))
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: ends have kind %d", function, (int)family->ends);
  if (family->ends == TUTTI_ENDS_LIST && (!family->list || family->list_count < 1))
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: %" PRId64 " ends at %p", function, family->list_count,
                   (const void *)family->list);
  if (family->from < 0 || family->from > TUTTI_MID || family->to < 0 || family->to > TUTTI_MID)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: cannot move from buffer %d to buffer %d", function, (int)family->from,
                   (int)family->to);
  return TUTTI_OK;
}

static tutti_status add_family(tutti_composition *of, const tutti_family *family, const char *function) {
  tutti_status status = begin_change(of, function);
  if (status == TUTTI_OK && !family)
    return tt_fail(TUTTI_ERR_ARGUMENT, "%s: family is NULL", function);
  if (status == TUTTI_OK)
    status = check_arguments(family, function);
  if (status != TUTTI_OK)
    return status;
  bool one = family->ends == TUTTI_ENDS_ONE || family->ends == TUTTI_ENDS_RANGE;
  return add(of, (tt_family){.primitive = family->reduces ? TT_REDUCTION : TT_MULTICAST,
                             .count_i = family->count_i,
                             .count_j = family->count_j,
                             .root = affine(family->root),
                             .block = affine(family->block),
                             .ends = {.kind = ends_kind[family->ends],
                                      .one = one ? affine(family->one) : (tt_affine){0, 0, 0},
                                      .list = family->list,
                                      .list_count = family->list_count},
                             .from = (tt_buffer)family->from,
                             .to = (tt_buffer)family->to,
                             .ordered = family->reduces && family->ordered});
}

tutti_status tutti_composition_add(tutti_composition *composition, const tutti_family *family) {
  return add_family(composition, family, "tutti_composition_add");
}

static tutti_family one_primitive(int reduces, int64_t root, const int64_t *ends, int64_t end_count, int64_t block,
                                  tutti_buffer from, tutti_buffer to) {
  return (tutti_family){.reduces = reduces,
                        .count_i = 1,
                        .count_j = 1,
                        .root = {.base = root},
                        .block = {.base = block},
                        .ends = ends ? TUTTI_ENDS_LIST : TUTTI_ENDS_ALL,
                        .list = ends,
                        .list_count = end_count,
                        .from = from,
                        .to = to};
}

tutti_status tutti_composition_multicast(tutti_composition *composition, int64_t root, const int64_t *ends,
                                         int64_t end_count, int64_t block, tutti_buffer from, tutti_buffer to) {
  tutti_family family = one_primitive(0, root, ends, end_count, block, from, to);
  return add_family(composition, &family, "tutti_composition_multicast");
}

tutti_status tutti_composition_reduce(tutti_composition *composition, const int64_t *ends, int64_t end_count,
                                      int64_t root, int64_t block, tutti_buffer from, tutti_buffer to) {
  tutti_family family = one_primitive(1, root, ends, end_count, block, from, to);
  return add_family(composition, &family, "tutti_composition_reduce");
}
