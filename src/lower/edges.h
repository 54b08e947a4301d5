/* lower/edges.h - one primitive -> the edges of its trees that begin or end at one rank. */
#ifndef TT_LOWER_EDGES_H
#define TT_LOWER_EDGES_H

#include "lower/walk.h"

/* Fills in walk->edge with the edges of rank `me`, sorted by time, sends first. False where memory is exhausted. */
bool tt_walk_edges(tt_walk *walk, int64_t me);

#endif
