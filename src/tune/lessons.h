/* tune/lessons.h - who decides where nothing was measured: for each collective a classifier (classify.c), and points
 * that were measured or simulated; what they say (learn.c), and their file (lessons.c, teach.c). */
#ifndef TT_TUNE_LESSONS_H
#define TT_TUNE_LESSONS_H

#include "tune/tune.h"

#define TT_FEATURES 5 /* of a call: bytes, ranks, nodes, ranks of a node, NICs */
#define TT_CLASSES 8
/* All that a lesson may have: a job asks it about each of its shapes and lengths. */
#define TT_VECTORS_MOST 1024
#define TT_POINTS_MOST 2048
#define TT_PAIRS (TT_CLASSES * (TT_CLASSES - 1) / 2)

/* A support vector machine with radial basis functions, one class against one. */
typedef struct tt_classifier {
  int64_t class_count, vector_count;
  int64_t vectors_of[TT_CLASSES]; /* of each class; they stand together */
  double gamma;
  double rho[TT_PAIRS];
  double *vector; /* [vector_count][TT_FEATURES] */
  double *weight; /* [vector_count][class_count - 1] */
} tt_classifier;

/* The class, from 0. */
int tt_classify(const tt_classifier *of, const double at[static TT_FEATURES]);

typedef enum tt_teacher {
  TT_TEACHER_RULES,
  TT_TEACHER_CLASSIFIER,
  TT_TEACHER_NEAREST, /* the point that was measured next to it */
  TT_TEACHER_MODEL,   /* the simulator's first */
  TT_TEACHER_COUNT
} tt_teacher;

extern const char *const tt_teacher_name[TT_TEACHER_COUNT];

/* How well one chose what it had not seen. Of the chosen time over the best: the geometric mean, and the worst. */
typedef struct tt_score {
  double right; /* the part that was chosen best */
  double regret, worst;
  int64_t cells; /* 0: it was not asked */
} tt_score;

typedef struct tt_point {
  tt_region region;
  bool simulated;
  const char *text;       /* the best there; "": what the rules say */
  double at[TT_FEATURES]; /* its place (tt_lesson_place_points) */
} tt_point;

typedef struct tt_lesson {
  tt_collective collective;
  tt_teacher by; /* who had the least regret */
  tt_score score[TT_TEACHER_COUNT];
  tt_region least, most;         /* of all that it was trained with: it says nothing of what is beyond */
  const char *class[TT_CLASSES]; /* parameters; "": what the rules say */
  tt_classifier classifier;      /* class_count 0: none */
  tt_point *point;
  int64_t point_count;
  int64_t line; /* of its file */
} tt_lesson;

struct tt_lessons {
  char machine[TT_MACHINE_TEXT];
  const char *about, *path;
  tt_lesson lesson[TT_COLLECTIVE_COUNT]; /* of different collectives */
  int64_t count;
  tt_arena arena; /* of all that they have */
};

tutti_status tt_lessons_create(const char *machine, const char *about, tt_lessons **lessons);
/* The file is these. One of another machine or version is left alone, with an error. */
tutti_status tt_lessons_write(const char *path, const tt_lessons *lessons);

/* Leaves out what those who decide do not look at: a job reads the rest whenever it starts. */
void tt_lessons_prune(tt_lessons *lessons);

/* A place between -1 and 1 in each direction. */
void tt_lesson_place(const tt_lesson *of, const tt_region *region, double at[static TT_FEATURES]);
/* Those of its points, which whoever makes a lesson has to set before it is asked. */
void tt_lesson_place_points(tt_lesson *of);
/* The parameters; "": those of the rules; NULL: it says nothing of such a call. */
const char *tt_lesson_ask(const tt_lesson *of, tt_teacher who, const tt_region *region);

#endif
