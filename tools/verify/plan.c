/* tools/verify/plan.c - the plans of all ranks from a file, by whoever made them: proven, or refused with the step that
 * is wrong (docs/verifier.md). */
#include "plan.h"

#include "verify/verify.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_MOST ((size_t)256 << 20) /* bytes */

typedef struct text {
  char *data; /* a zero behind it */
  size_t size, room;
} text;

static tutti_status grow(text *in) {
  if (in->size + 1 < in->room)
    return TUTTI_OK;
  if (in->size >= TEXT_MOST)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "more than %zu MiB of text", TEXT_MOST >> 20);
  size_t room = 2 * in->room + 65536;
  char *data = realloc(in->data, room);
  if (!data)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for %zu bytes of text", room);
  in->data = data;
  in->room = room;
  return TUTTI_OK;
}

static tutti_status read_all(FILE *file, text *in) {
  tutti_status status = grow(in);
  while (status == TUTTI_OK && !feof(file) && !ferror(file)) {
    in->size += fread(in->data + in->size, 1, in->room - in->size - 1, file);
    status = grow(in);
  }
  if (status == TUTTI_OK && ferror(file))
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot read it: %s", strerror(errno));
  if (status == TUTTI_OK)
    in->data[in->size] = '\0';
  return status;
}

static tutti_status read_file(const char *path, text *in) {
  if (strcmp(path, "-") == 0)
    return read_all(stdin, in);
  FILE *file = fopen(path, "r");
  if (!file)
    return tt_fail(TUTTI_ERR_SYSTEM, "cannot read it: %s", strerror(errno));
  tutti_status status = read_all(file, in);
  fclose(file);
  return status;
}

static void print_claim(const tt_plan_claim *claim) {
  printf("%s on %" PRId64 " rank%s", claim->collective, claim->rank_count, claim->rank_count == 1 ? "" : "s");
  if (claim->root >= 0)
    printf(", root %" PRId64, claim->root);
  if (claim->edge_count > 0)
    printf(", %" PRId64 " edge%s", claim->edge_count, claim->edge_count == 1 ? "" : "s");
  printf("%s%s%s", claim->in_place ? ", in place" : "", claim->ordered ? ", ordered" : "",
         claim->reproducible ? ", reproducible" : "");
}

static void print_proven(const tt_plan_set *set) {
  int64_t steps = 0, messages = 0;
  for (int64_t r = 0; r < set->plan_count; r++) {
    steps += set->plan[r]->step_count;
    messages += tt_plan_sent(set->plan[r], -1).messages;
  }
  printf("proven: ");
  print_claim(&set->claim);
  printf(", %" PRId64 " step%s, %" PRId64 " message%s\n", steps, steps == 1 ? "" : "s", messages,
         messages == 1 ? "" : "s");
}

/* Anything but a proof or its failure leaves the question open. */
static int prove(const tt_plan_set *set, const char *name) {
  tutti_status status = tt_verify_claim(set);
  if (status == TUTTI_OK)
    print_proven(set);
  else if (status == TUTTI_ERR_PLAN)
    printf("refused: %s\n", tutti_last_error());
  else
    fprintf(stderr, "tutti verify: %s: %s\n", name, tutti_last_error());
  return status == TUTTI_OK ? 0 : status == TUTTI_ERR_PLAN ? 1 : 2;
}

int verify_plan_file(const char *path) {
  const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
  text in = {NULL, 0, 0};
  tt_plan_set *set = NULL;
  int code = 2;
  if (read_file(path, &in) == TUTTI_OK && tt_plan_set_parse(in.data, in.size, &set) == TUTTI_OK)
    code = prove(set, name);
  else
    fprintf(stderr, "tutti verify: %s: %s\n", name, tutti_last_error());
  tt_plan_set_destroy(set);
  free(in.data);
  return code;
}
