/* job/job.h - what a process knows of its job: the machines, who the ranks are, their communicators' streams and cells.
 *
 *     team.h      ranks in an order: where they are, and the plans that all communicators of them share
 *     context.h   this process's part of the job
 *     comm.h      a communicator, and what of it is open
 *     medium.h    what TUTTI_MEDIUM admits
 *     wisdom.h    what was measured on this machine
 *
 * These are data and what opens and closes them. What ranks agree on stands in agree, how they wait in wait, what they
 * call in call, and who makes and ends all of this in api. */
#ifndef TT_JOB_JOB_H
#define TT_JOB_JOB_H

#include "job/comm.h"
#include "job/context.h"
#include "job/medium.h"
#include "job/team.h"
#include "job/wisdom.h"

#endif
