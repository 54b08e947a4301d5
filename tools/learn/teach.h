/* tools/learn/teach.h - from the cells of a collective to its lesson. */
#ifndef TUTTI_TOOLS_LEARN_TEACH_H
#define TUTTI_TOOLS_LEARN_TEACH_H

#include "book.h"

#define LEARN_CELLS_LEAST 10 /* measured ones: of fewer, nothing is learned */

/* Everybody chooses for cells that he has not seen, a fifth of the measured ones at a time; who does best is to decide.
 * The lesson's collective is set. Its texts are the book's. */
tutti_status learn_teach(const learn_book *book, tt_arena *arena, tt_lesson *lesson);

#endif
