/* lower/params.c - the text form of parameters. Grammar (docs/plan.md):
 *
 *   params = word { word }                    words are separated by spaces
 *   word   = preset | "form=" name | stage | "stripe=" n | "ring=" n | "channels=" n | "slice=" bytes
 *          | "stripe=all" | "even" | "acc=" ( "own" | "f32" ) | "reproducible" | "single-copy"
 *   stage  = [ name ] "[" level { "/" level } "]"
 *   level  = ( name | n ) ":" shape { "," ( "rotate" | "xor" | "reflect" | "near" | "far" ) }
 *                                             n: groups of n neighbors inside the level before
 *   shape  = name | k "-" name                a row of the table of shapes; with k where it has one
 */
#include "lower/shape.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_LIMIT 512
#define NUMBER_LIMIT 4096
#define SLICE_LIMIT ((int64_t)1 << 40)

void tt_params_init(tt_params *params) { *params = (tt_params){.channels = 1}; }

static tutti_status bad(const char *word, const char *why) {
  return tt_fail(TUTTI_ERR_PLAN, "parameters: '%s' %s", word, why);
}

static bool copy_name(char *to, size_t size, const char *from, size_t length) {
  if (length == 0 || length >= size)
    return false;
  memcpy(to, from, length);
  to[length] = '\0';
  return true;
}

/* ---- levels ---- */

static bool parse_k(const char *text, const tt_shape_info *shape, int *k) {
  char *rest;
  long number = strtol(text, &rest, 10);
  if (rest == text || number < shape->k_least || number > shape->k_most || *rest != '-' ||
      strcmp(rest + 1, shape->name) != 0)
    return false;
  *k = (int)number;
  return true;
}

static tutti_status no_shape(const char *text) {
  char why[256] = "is not a shape; shapes are";
  size_t count, used = strlen(why);
  const tt_shape *const *shapes = tt_shape_table(&count);
  for (size_t n = 0; n < count && used < sizeof why; n++) {
    const tt_shape_info *info = tt_shape_about(shapes[n]);
    used +=
        (size_t)snprintf(why + used, sizeof why - used, "%s %s%s", n ? "," : "", info->k_most ? "K-" : "", info->name);
    if (info->k_most && used < sizeof why)
      used += (size_t)snprintf(why + used, sizeof why - used, " (K %d to %d)", info->k_least, info->k_most);
  }
  return bad(text, why);
}

/* A shape's name, behind its k and a dash where it has one. */
static tutti_status parse_shape(const char *text, tt_level_params *level) {
  size_t count;
  const tt_shape *const *shapes = tt_shape_table(&count);
  for (size_t n = 0; n < count; n++) {
    const tt_shape_info *info = tt_shape_about(shapes[n]);
    level->k = 2;
    level->shape = shapes[n];
    if (info->k_most ? parse_k(text, info, &level->k) : strcmp(text, info->name) == 0)
      return TUTTI_OK;
  }
  return no_shape(text);
}

static tutti_status parse_attribute(const char *text, tt_level_params *level) {
  for (int labelling = 0; labelling < TT_LABELLING_COUNT; labelling++)
    if (strcmp(text, tt_labelling_name((tt_labelling)labelling)) == 0) {
      level->labelling = (tt_labelling)labelling;
      return TUTTI_OK;
    }
  for (int order = 0; order < TT_ORDER_COUNT; order++)
    if (strcmp(text, tt_order_name((tt_order)order)) == 0) {
      level->order = (tt_order)order;
      return TUTTI_OK;
    }
  return bad(text, "is not an attribute of a level; attributes are rotate, xor, reflect, near, far");
}

static bool is_group_size(const char *text) {
  char *rest;
  long long size = strtoll(text, &rest, 10);
  return !*rest && *text != '0' && size >= 2 && size <= NUMBER_LIMIT;
}

/* level = ( name | size ) ":" shape { "," attribute }; text is cut up. */
static tutti_status parse_level(char *text, tt_level_params *level) {
  char *colon = strchr(text, ':'), *save = NULL;
  memset(level, 0, sizeof *level);
  if (!colon || !copy_name(level->name, sizeof level->name, text, (size_t)(colon - text)))
    return bad(text, "is not a level; write name:shape, for example core:chain");
  if (*level->name >= '0' && *level->name <= '9' && !is_group_size(level->name))
    return bad(level->name, "is not a size of groups; write a number from 2 to 4096, for example 4:chain/core:star");
  char *piece = strtok_r(colon + 1, ",", &save);
  tutti_status status = parse_shape(piece ? piece : "", level);
  while (status == TUTTI_OK && (piece = strtok_r(NULL, ",", &save)))
    status = parse_attribute(piece, level);
  return status;
}

/* ---- words ---- */

static tt_stage_params *stage_of(tt_params *params, const char *name) {
  for (int n = 0; n < params->stage_count; n++)
    if (strcmp(params->stage[n].stage, name) == 0)
      return &params->stage[n];
  if (params->stage_count == (int)TT_COUNT(params->stage))
    return NULL;
  tt_stage_params *stage = &params->stage[params->stage_count++];
  strcpy(stage->stage, name);
  return stage;
}

static tutti_status parse_stage(char *word, tt_params *params) {
  char *open = strchr(word, '['), *close = strchr(word, ']'), *save = NULL;
  char name[TT_STAGE_NAME] = "";
  if (!close || close[1] || close < open || (open > word && !copy_name(name, sizeof name, word, (size_t)(open - word))))
    return bad(word, "is not a stage; write name[level/level] or [level/level]");
  tt_stage_params *stage = stage_of(params, name);
  if (!stage)
    return bad(word, "is one stage too many");
  *close = '\0';
  stage->level_count = 0;
  for (char *piece = strtok_r(open + 1, "/", &save); piece; piece = strtok_r(NULL, "/", &save)) {
    if (stage->level_count == TT_TOPO_LEVELS)
      return bad(piece, "is one level too many");
    tutti_status status = parse_level(piece, &stage->level[stage->level_count++]);
    if (status != TUTTI_OK)
      return status;
  }
  return stage->level_count > 0 ? TUTTI_OK : bad(word, "has no level");
}

static tutti_status parse_number(const char *word, const char *text, int64_t least, int64_t *number) {
  char *rest;
  long long value = strtoll(text, &rest, 10);
  if (rest == text || *rest || value < least || value > NUMBER_LIMIT)
    return tt_fail(TUTTI_ERR_PLAN, "parameters: '%s' needs a number from %" PRId64 " to %d", word, least, NUMBER_LIMIT);
  *number = value;
  return TUTTI_OK;
}

static tutti_status parse_slice(const char *word, const char *text, int64_t *bytes) {
  int64_t parsed;
  if (tt_parse_bytes(text, &parsed) != TUTTI_OK || parsed > SLICE_LIMIT)
    return bad(word, "needs bytes up to 1024G, for example 64K");
  *bytes = parsed;
  return TUTTI_OK;
}

static tutti_status parse_acc(const char *word, const char *text, bool *float32) {
  if (strcmp(text, "own") != 0 && strcmp(text, "f32") != 0)
    return bad(word, "needs own or f32");
  *float32 = *text == 'f';
  return TUTTI_OK;
}

static tutti_status parse_text(const char *text, tt_params *params, int depth);

static tutti_status parse_preset(const char *word, tt_params *params, int depth) {
  size_t count;
  const tt_preset *presets = tt_preset_table(&count);
  for (size_t n = 0; n < count && depth == 0; n++)
    if (strcmp(presets[n].name, word) == 0)
      return parse_text(presets[n].text, params, depth + 1);
  return bad(word, "is neither a preset nor a parameter; see `tutti plan --help`");
}

static bool *flag_of(const char *word, tt_params *params) {
  if (strcmp(word, "even") == 0)
    return &params->even;
  if (strcmp(word, "reproducible") == 0)
    return &params->reproducible;
  return strcmp(word, "single-copy") == 0 ? &params->single_copy : NULL;
}

static tutti_status parse_word(char *word, tt_params *params, int depth) {
  if (strncmp(word, "form=", 5) == 0)
    return copy_name(params->form, sizeof params->form, word + 5, strlen(word + 5)) ? TUTTI_OK
                                                                                    : bad(word, "does not name a form");
  if (strcmp(word, "stripe=all") == 0) {
    params->stripe = TT_STRIPE_ALL;
    return TUTTI_OK;
  }
  if (strncmp(word, "stripe=", 7) == 0)
    return parse_number(word, word + 7, 0, &params->stripe);
  if (strncmp(word, "ring=", 5) == 0)
    return parse_number(word, word + 5, 0, &params->ring);
  if (strncmp(word, "channels=", 9) == 0)
    return parse_number(word, word + 9, 1, &params->channels);
  if (strncmp(word, "slice=", 6) == 0)
    return parse_slice(word, word + 6, &params->slice_bytes);
  if (strncmp(word, "acc=", 4) == 0)
    return parse_acc(word, word + 4, &params->acc_float32);
  bool *flag = flag_of(word, params);
  if (flag) {
    *flag = true;
    return TUTTI_OK;
  }
  return strchr(word, '[') ? parse_stage(word, params) : parse_preset(word, params, depth);
}

static tutti_status parse_text(const char *text, tt_params *params, int depth) {
  char copy[TEXT_LIMIT], *save = NULL;
  if (strlen(text) >= sizeof copy)
    return tt_fail(TUTTI_ERR_PLAN, "parameters: the text has %zu characters; the limit is %d", strlen(text),
                   TEXT_LIMIT - 1);
  strcpy(copy, text);
  for (char *word = strtok_r(copy, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save)) {
    tutti_status status = parse_word(word, params, depth);
    if (status != TUTTI_OK)
      return status;
  }
  return TUTTI_OK;
}

tutti_status tt_params_parse(const char *text, tt_params *params) {
  tt_params parsed;
  tt_params_init(&parsed);
  tutti_status status = parse_text(text, &parsed, 0);
  if (status == TUTTI_OK)
    *params = parsed;
  return status;
}

/* ---- print ---- */

typedef struct printer {
  char *text;
  size_t size, used;
} printer;

static void put(printer *to, const char *format, ...) TT_PRINTF(2, 3);

static void put(printer *to, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  if (to->used < to->size) {
    int length = vsnprintf(to->text + to->used, to->size - to->used, format, arguments);
    to->used += length > 0 ? (size_t)length : 0;
  }
  va_end(arguments);
}

static void put_level(printer *to, const tt_level_params *level) {
  char shape[TT_SHAPE_TEXT];
  tt_shape_print(level, shape);
  put(to, "%s:%s", level->name, shape);
  if (level->labelling != TT_ROTATE)
    put(to, ",%s", tt_labelling_name(level->labelling));
  if (level->order != TT_NEAR)
    put(to, ",%s", tt_order_name(level->order));
}

static void put_stage(printer *to, const tt_stage_params *stage) {
  put(to, "%s%s[", to->used ? " " : "", stage->stage);
  for (int n = 0; n < stage->level_count; n++) {
    put(to, "%s", n ? "/" : "");
    put_level(to, &stage->level[n]);
  }
  put(to, "]");
}

void tt_params_print(const tt_params *params, char *text, size_t size) {
  printer to = {text, size, 0};
  char slice[16];
  if (size)
    *text = '\0';
  if (params->form[0])
    put(&to, "form=%s", params->form);
  for (int n = 0; n < params->stage_count; n++)
    put_stage(&to, &params->stage[n]);
  if (params->stage_count == 0)
    put(&to, "%s[core:star]", to.used ? " " : "");
  if (params->stripe == TT_STRIPE_ALL)
    put(&to, " stripe=all");
  else if (params->stripe)
    put(&to, " stripe=%" PRId64, params->stripe);
  if (params->even)
    put(&to, " even");
  if (params->ring)
    put(&to, " ring=%" PRId64, params->ring);
  if (params->channels != 1)
    put(&to, " channels=%" PRId64, params->channels);
  tt_format_bytes(params->slice_bytes, slice);
  if (params->slice_bytes)
    put(&to, " slice=%s", slice);
  if (params->reproducible)
    put(&to, " reproducible");
  if (params->acc_float32)
    put(&to, " acc=f32");
  if (params->single_copy)
    put(&to, " single-copy");
}
