/* tests/mpi/random/random.h - random calls of every collective, with random types and layouts, compared over all the
 * memory around them, gaps too: with what MPI itself does where data is reduced, with plain messages where it is moved
 * (which MPIs have fewer mistakes in than in their collectives of odd layouts).
 *
 *     trial -> draws   what all ranks agree on: from the stream `common`; layouts of each rank's own: from `own`
 *           -> call    MPI_..., MPI_I..., MPI_..._init on `mine`
 *           -> meaning the same on `theirs`; then both are equal
 */
#ifndef RANDOM_H
#define RANDOM_H

#include "../persistent.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_BLOCKS 32 /* ranks, or neighbors */

/* ---- numbers ---- */

typedef struct stream {
  uint64_t state;
} stream;

extern stream common, own;

static inline int pick(stream *from, int below) { /* 0 .. below - 1 */
  from->state += 0x9e3779b97f4a7c15u;
  uint64_t x = from->state;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return (int)((x ^ x >> 31) % (uint64_t)below);
}

/* ---- elements.c ---- */

typedef enum kind { SIGNED, FORTRAN_INTEGER, UNSIGNED, REAL, LONG_REAL, COMPLEX, LOGICAL, BITS, PAIR } kind;

typedef struct element {
  MPI_Datatype type;
  kind kind;
  char value; /* of pairs */
} element;

extern const element elements[];
extern const int element_count;

/* Small numbers, so that sums and products are exact in any order. */
void fill_element(char *at, const element *of, stream *from);
/* Bytes that have no meaning, which are copied or not. */
void clear_padding(char *at, const element *of);
int64_t extent_of(MPI_Datatype type);

/* ---- layouts.c ---- */

typedef struct layout {
  MPI_Datatype type;
  bool made;
  int64_t low, high, extent; /* the bytes that one element touches */
} layout;

/* A type of `unit` elements, which lie anyhow. */
layout make_layout(const element *of, int unit, stream *from);
void free_layout(layout *of);
/* The same type as seen from MPI_BOTTOM, where data lies at `at`. */
MPI_Datatype at_address(const char *at, MPI_Datatype type);

typedef struct blocks {
  int count[MOST_BLOCKS], at[MOST_BLOCKS]; /* in extents */
} blocks;

/* Extents that so many elements take, and what they reach into. */
int64_t extents_of(const layout *of, int64_t count);
/* Finds places for blocks of these counts, in any order, none in another. */
void place_blocks(blocks *of, int count, const layout *layout, stream *from);

/* ---- buffers.c ---- */

typedef struct buffer {
  const element *of;
  int64_t bytes;
  char *memory[3];              /* beginnings of the three */
  char *mine, *theirs, *before; /* their middles */
} buffer;

buffer make_buffer(const element *of, stream *from);
void free_buffer(buffer *of);
/* Counts a failure where they differ. */
void compare(const char *what, const buffer *of);
/* What of `theirs` means nothing: bytes from the middle on. */
void forget(buffer *of, int64_t begin);

/* How a call is given data: where it lies, or MPI_BOTTOM and a type at absolute addresses. */
typedef struct view {
  void *at;
  MPI_Datatype type;
  bool made;
} view;

view make_view(char *at, MPI_Datatype type, stream *from);
void free_view(view *of);

/* ---- random.c ---- */

typedef enum form { BLOCKING, STARTED, PERSISTENT } form;

extern MPI_Comm comm;
extern int rank, size;
extern form how;
extern MPI_Request request;
extern char trial[512]; /* what it is */
extern int failures;

void finish(void); /* the request */

/* MPI_NAME, or MPI_INAME, or MPI_NAME_init */
#define FORMS 3
#define CALL(name, iname, ...)                                                                                         \
  do {                                                                                                                 \
    snprintf(trial + strlen(trial), sizeof trial - strlen(trial), " %s", #name);                                       \
    if (how == BLOCKING)                                                                                               \
      MPI_##name(__VA_ARGS__);                                                                                         \
    else if (how == STARTED)                                                                                           \
      MPI_##iname(__VA_ARGS__, &request);                                                                              \
    else                                                                                                               \
      MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &request);                                                         \
    finish();                                                                                                          \
  } while (0)

/* ---- messages.c: the meaning of what is moved ---- */

void send_to(int to, const char *at, int count, MPI_Datatype type);
void receive_from(int from, char *at, int count, MPI_Datatype type);
void end_messages(void);

/* ---- the trials ---- */

void try_reduction(void);
void try_move(void);
void try_neighbors(void);
void make_neighborhoods(void);

#endif
