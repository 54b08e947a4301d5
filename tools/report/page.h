/* tools/report/page.h - the parts of the page. */
#ifndef TUTTI_TOOLS_REPORT_PAGE_H
#define TUTTI_TOOLS_REPORT_PAGE_H

#include "tune/tune.h"

#include <stdio.h>

tutti_status report_page(const tt_wisdom *wisdom, FILE *out);

/* ---- its parts ---- */

bool report_same_shape(const tt_region *a, const tt_region *b);
/* Whether no node has more ranks than it must. How other shapes share them, wisdom does not say. */
bool report_is_even(const tt_region *shape);
enum { REPORT_SHAPE = 128 };
/* "4 ranks", "16 ranks on 2 nodes of up to 12, 2 NICs" */
void report_shape_text(const tt_region *shape, char text[static REPORT_SHAPE]);
/* Of the collective; nothing where it has no winner. */
void report_map(const tt_wisdom *wisdom, tt_collective collective, FILE *out);
void report_chart(const tt_wisdom *wisdom, tt_collective collective, FILE *out);
/* The winner whose picture this one's is: the first with the same plan. */
int64_t report_picture_of(const tt_wisdom *wisdom, int64_t number);
tutti_status report_machine(FILE *out);
tutti_status report_pictures(const tt_wisdom *wisdom, FILE *out);

#endif
