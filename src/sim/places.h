/* sim/places.h - the part of a model's text that is about single links and ranks (places.c). */
#ifndef TT_SIM_PLACES_H
#define TT_SIM_PLACES_H

#include "sim/sim.h"

/* Whether what stands before an entry's colon is links or ranks, rather than a level. */
bool tt_sim_place_is(const char *text);
/* Adds a place of which nothing is said so far. */
tutti_status tt_sim_place_add(const char *text, tt_sim_model *model, tt_sim_place **place);
/* Whether all of them are there, once all of the text is read. */
tutti_status tt_sim_places_check(const tt_sim_model *model);
void tt_sim_place_print(const tt_sim_model *model, const tt_sim_place *place, char *text, size_t size);

#endif
