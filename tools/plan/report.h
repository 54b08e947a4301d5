/* tools/plan/report.h - what is printed of one request. */
#ifndef TUTTI_TOOLS_PLAN_REPORT_H
#define TUTTI_TOOLS_PLAN_REPORT_H

#include "work.h"

tutti_status plan_report_print(const plan_work *work);

#endif
