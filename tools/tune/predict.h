/* tools/tune/predict.h - how long calls would take by the rates of a fit: what would run is simulated. */
#ifndef TUTTI_TOOLS_TUNE_PREDICT_H
#define TUTTI_TOOLS_TUNE_PREDICT_H

#include "tune/tune.h"

#include <tutti/tutti.h>

/* Of a call of a batch, as ranks.h makes them: one behind the other, roots rotate. TUTTI_ERR_PLAN: the parameters make
 * no plan here. */
tutti_status tune_predict(const tutti_comm *comm, const tt_sim_rates *rates, const tt_task *task, const char *params,
                          double *call_ns);

#endif
