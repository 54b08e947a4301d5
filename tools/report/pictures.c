/* tools/report/pictures.c - pictures as they are in files of their own: each is an image inside the page, so that its
 * style is its own. */
#include "page.h"

#include "draw/draw.h"
#include "tools/plan/picture.h"
#include "tools/topo/svg.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWN = 16 }; /* ranks: more make a page too large to look through */

static void put_image(const char *svg, const char *about, FILE *out) {
  fprintf(out, "<img alt=\"%s\" src=\"data:image/svg+xml,", about);
  for (const char *c = svg; *c; c++)
    if (strchr("%#<>\"&\n", *c) || (unsigned char)*c < ' ')
      fprintf(out, "%%%02X", (unsigned char)*c);
    else
      fputc(*c, out);
  fputs("\"/>", out);
}

static tutti_status draw_image(tutti_status (*draw)(void *user, FILE *to), void *user, const char *about, FILE *out) {
  char *svg = NULL;
  size_t size = 0;
  FILE *memory = open_memstream(&svg, &size);
  if (!memory)
    return tt_fail(TUTTI_ERR_MEMORY, "no memory for a picture");
  tutti_status status = draw(user, memory);
  if (fclose(memory) != 0 && status == TUTTI_OK)
    status = tt_fail(TUTTI_ERR_MEMORY, "no memory for a picture");
  if (status == TUTTI_OK)
    put_image(svg, about, out);
  free(svg);
  return status;
}

/* ---- the machine ---- */

static tutti_status draw_machine(void *subject, FILE *to) { return topo_svg(subject, to); }

tutti_status report_machine(FILE *out) {
  topo_subject subject;
  tutti_status status = topo_subject_open("", &subject);
  fputs("<figure>", out);
  if (status == TUTTI_OK)
    status = draw_image(draw_machine, &subject, "cores, caches and NICs", out);
  fputs("</figure>\n", out);
  topo_subject_close(&subject);
  return status;
}

/* ---- plans ---- */

int64_t report_picture_of(const tt_wisdom *wisdom, int64_t number) {
  const tt_winner *winner = &wisdom->winner[number];
  for (int64_t n = 0; n < number; n++) {
    const tt_winner *other = &wisdom->winner[n];
    if (other->region.collective == winner->region.collective && strcmp(other->text, winner->text) == 0 &&
        report_same_shape(&other->region, &winner->region))
      return n;
  }
  return number;
}

static tutti_status draw_plan(void *work, FILE *to) { return plan_picture_svg(work, to); }

/* Before anything is made for so many ranks. */
static tutti_status check_shape(const tt_region *shape) {
  if (!report_is_even(shape))
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "wisdom does not say how many ranks each of the nodes has");
  if (shape->rank_count > DRAWN)
    return tt_fail(TUTTI_ERR_UNSUPPORTED, "%" PRId64 " ranks; a page draws up to %d, tutti plan --svg up to %d",
                   shape->rank_count, DRAWN, TT_DRAW_RANKS);
  return TUTTI_OK;
}

/* A plan that this version does not make is left out, with the reason. */
static tutti_status put_plan(const tt_winner *winner, FILE *out) {
  plan_options options;
  plan_work work = {.plan_count = 0};
  plan_subject_init("report", &options);
  options.as_job = true;
  options.problem.collective = winner->region.collective;
  options.problem.rank_count = winner->region.rank_count;
  options.node_count = winner->region.node_count;
  tutti_status status = check_shape(&winner->region);
  if (status == TUTTI_OK)
    status = plan_work_open(&options, winner->text, &work);
  if (status == TUTTI_OK)
    status = plan_work_lower(&work, DRAWN);
  if (status == TUTTI_OK)
    status = draw_image(draw_plan, &work, "plan of the winner", out);
  if (status == TUTTI_ERR_PLAN || status == TUTTI_ERR_UNSUPPORTED) {
    fputs("<p>No picture: ", out);
    tt_draw_svg_text(out, tutti_last_error());
    fputs("</p>", out);
    status = TUTTI_OK;
  }
  plan_work_close(&work);
  plan_options_finish(&options);
  return status;
}

tutti_status report_pictures(const tt_wisdom *wisdom, FILE *out) {
  tutti_status status = TUTTI_OK;
  for (int64_t n = 0; n < wisdom->count && status == TUTTI_OK; n++) {
    if (report_picture_of(wisdom, n) != n)
      continue;
    fprintf(out, "<figure id=\"p%" PRId64 "\">", n);
    status = put_plan(&wisdom->winner[n], out);
    fputs("</figure>\n", out);
  }
  return status;
}
