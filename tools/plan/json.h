/* tools/plan/json.h - the plan and its modelled times, for programs. */
#ifndef TUTTI_TOOLS_PLAN_JSON_H
#define TUTTI_TOOLS_PLAN_JSON_H

#include "work.h"

tutti_status plan_json_print(const plan_work *work);

#endif
