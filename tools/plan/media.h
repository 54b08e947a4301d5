/* tools/plan/media.h - how what ranks send goes. */
#ifndef TUTTI_TOOLS_PLAN_MEDIA_H
#define TUTTI_TOOLS_PLAN_MEDIA_H

#include "work.h"

/* In a call of n = `bytes`. */
tutti_status plan_media_print(const plan_work *work, int64_t bytes);

#endif
