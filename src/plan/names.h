/* plan/names.h - words of the text form that printer and parser share. */
#ifndef TT_PLAN_NAMES_H
#define TT_PLAN_NAMES_H

#include "plan/plan.h"

extern const char *const tt_plan_space_name[TT_SPACE_COUNT];
extern const char *const tt_plan_kind_name[TT_STEP_KIND_COUNT];
extern const char *const tt_plan_role_name[3];

#endif
