/* tune/wisdom.h - how wisdom is filled with what has been checked. */
#ifndef TT_TUNE_WISDOM_H
#define TT_TUNE_WISDOM_H

#include "tune/tune.h"

/* Without a look at the text, and whether there is one of that region. Texts are copied. TUTTI_ERR_MEMORY. */
tutti_status tt_wisdom_append(tt_wisdom *wisdom, const tt_winner *winner);
tutti_status tt_wisdom_append_outside(tt_wisdom *wisdom, const tt_outside *outside);

#endif
