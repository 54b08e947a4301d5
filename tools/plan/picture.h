/* tools/plan/picture.h - the files that `tutti plan` writes. */
#ifndef TUTTI_TOOLS_PLAN_PICTURE_H
#define TUTTI_TOOLS_PLAN_PICTURE_H

#include "work.h"

tutti_status plan_picture_write(plan_work *work);
/* Of all ranks' plans. */
tutti_status plan_picture_svg(const plan_work *work, FILE *out);

#endif
