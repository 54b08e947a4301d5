/* job/wisdom.h - where the wisdom of this machine stands, and what of it this job uses. */
#ifndef TT_JOB_WISDOM_H
#define TT_JOB_WISDOM_H

#include "tune/tune.h"

#include <tutti/tutti.h>

enum { TT_WISDOM_PATH = 4096 };

/* The file that `option` names, as TUTTI_WISDOM; "": the one of this kind of machine in the user's cache:
 * ~/.cache/tutti/<machine>/wisdom.json. machine: its fingerprint, which is kept in the cache until the next boot, since
 * finding it out takes some ms. make: for who will write: the folder may not be there yet, and what is measured on
 * pretended machines is not for the cache. TUTTI_ERR_UNSUPPORTED: there is no such file, and the text says why. */
tutti_status tt_wisdom_find(const char *option, bool make, char path[static TT_WISDOM_PATH],
                            char machine[static TT_MACHINE_TEXT]);

/* A file that belongs to the wisdom: of ".../wisdom.json" it is ".../name", of ".../PATH.json" ".../PATH.name". */
void tt_wisdom_beside(const char *wisdom, const char *name, char path[static TT_WISDOM_PATH + 32]);
/* The lessons of `tutti tune --learn`, beside the wisdom: learned.json has what jobs need, learned.all.json all. */
void tt_lessons_path(const char *wisdom, char path[static TT_WISDOM_PATH + 32]);
void tt_lessons_path_of_all(const char *wisdom, char path[static TT_WISDOM_PATH + 32]);

/* What a job uses. */
typedef struct tt_wisdom_found {
  tt_wisdom *wisdom;         /* NULL: none */
  tt_lessons *lessons;       /* NULL: none */
  char path[TT_WISDOM_PATH]; /* of the file, be it there or not; "": there can be none */
  char why[512];             /* none is used: why */
  bool wrong;                /* there is a file, and it cannot be used: people should know */
  char lessons_why[512];     /* the same of the file of lessons; "": it is right, or there is none */
  int64_t *numbers;          /* both, for other ranks (tt_wisdom_pack); NULL: not packed */
  int64_t number_count;
} tt_wisdom_found;

/* The variable by which the user asks for what only tutti does (own choices, proofs, calls that end), so that no call
 * goes to another library; NULL: none is set. */
const char *tt_wisdom_insists(void);

/* An error only where TUTTI_WISDOM names a file that cannot be used. tt_wisdom_found_finish afterwards in any case. */
tutti_status tt_wisdom_load(tt_wisdom_found *found);
void tt_wisdom_found_finish(tt_wisdom_found *found);
/* Adds what the lessons say of each of these shapes to the wisdom, which is made where there is none. */
tutti_status tt_wisdom_infer(tt_wisdom_found *found, const tt_region *shape, int64_t count);

/* Rank 0's, packed for this job: as the files are now, or as they were when a job like it packed them, if they are the
 * same. number_count 0: there is none. tt_wisdom_found_finish afterwards in any case. */
tutti_status tt_wisdom_prepare(const tutti_context *context, tt_wisdom_found *found);
/* Again, after more has become known of the job's shapes. */
tutti_status tt_wisdom_prepare_again(const tutti_context *context, tt_wisdom_found *found);

#define TT_SHAPES 64
/* The shapes that communicators of this job may have. Returns how many. */
int64_t tt_shapes_list(const tutti_context *context, tt_region shape[static TT_SHAPES]);

#endif
