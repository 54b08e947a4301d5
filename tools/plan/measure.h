/* tools/plan/measure.h - rates of this machine. */
#ifndef TUTTI_TOOLS_PLAN_MEASURE_H
#define TUTTI_TOOLS_PLAN_MEASURE_H

#include "options.h"

/* Between two ranks, as text of a model. */
tutti_status plan_measure(char text[static PLAN_MODEL]);

#endif
