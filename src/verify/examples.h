/* verify/examples.h - correct plans made by hand, for tests: all ranks of each, one after the other. */
#ifndef TT_VERIFY_EXAMPLES_H
#define TT_VERIFY_EXAMPLES_H

#include "verify/verify.h"

#include <string.h>

enum { EXAMPLE_RANKS = 3 };

typedef struct example {
  const char *collective;
  int64_t rank_count, block_count, root;
  bool in_place, rendezvous, ordered;
  const char *text;
} example;

enum {
  EXCHANGE,
  IN_PLACE,
  RING,
  PUBLISH,
  CHAIN,
  MERGED,
  FAN,
  SUMS,
  REDUCE,
  GATHER,
  SCATTER,
  ALL_TO_ALL,
  SCAN,
  EXSCAN,
  NEIGHBOR,
  EXAMPLES
};

static const int32_t example_from[] = {0, 0, 2, 1}, example_to[] = {1, 2, 0, 1};

static const example examples[EXAMPLES] = {
    /* Each of two ranks sends its input and combines the other's with its own. */
    [EXCHANGE] = {"allreduce", 2, 1, 0, false, true, true,
                  "plan rank 0 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0 direct\n"
                  "level 0 core\n"
                  "lane 0 id 0 send level 0 channel 0\n"
                  "  0 t0 send ->1 b0 in.0 first last\n"
                  "lane 1 id 0 recv level 0 channel 0\n"
                  "  0 t0 reduce <-1 b0 in.0 => out.0 first last finish 2\n"
                  "plan rank 1 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0 direct\n"
                  "level 0 core\n"
                  "lane 0 id 0 send level 0 channel 0\n"
                  "  0 t0 send ->0 b0 in.0 first last\n"
                  "lane 1 id 0 recv level 0 channel 0\n"
                  "  0 t0 reduce <-0 b0 in.0 => out.0 left first last finish 2\n"},

    /* The same over its own input: a slice is overwritten when it has been sent. Without slots both would wait for
       ever. */
    [IN_PLACE] = {"allreduce", 2, 1, 0, true, false, true,
                  "plan rank 0 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0 in-place\n"
                  "level 0 core\n"
                  "lane 0 id 0 send level 0 channel 0\n"
                  "  0 t0 send ->1 b0 out.0 first last\n"
                  "lane 1 id 0 recv level 0 channel 0\n"
                  "  0 t0 reduce <-1 b0 in.0 => out.0 first last finish 2 wait 0.0\n"
                  "plan rank 1 of 2 blocks 1 parts 1 tmp 0 times 1 slice 0 in-place\n"
                  "level 0 core\n"
                  "lane 0 id 0 send level 0 channel 0\n"
                  "  0 t0 send ->0 b0 in.0 first last\n"
                  "lane 1 id 0 recv level 0 channel 0\n"
                  "  0 t0 reduce <-0 b0 in.0 => out.0 left first last finish 2 wait 0.0\n"},

    /* Blocks go round: what comes in round 0 goes on in round 1. */
    [RING] = {"allgather", 3, 3, 0, false, true, true,
              "plan rank 0 of 3 blocks 3 parts 1 tmp 0 times 2 slice 0\n"
              "level 0 core\n"
              "lane 0 id 5 send level 0 channel 0\n"
              "  0 t0 send ->1 b0 in.0 first last\n"
              "  1 t1 send ->1 b2 out.2 first last wait 1.0\n"
              "lane 1 id 5 recv level 0 channel 0\n"
              "  0 t0 recv <-2 b2 => out.2 first last\n"
              "  1 t1 recv <-2 b1 => out.1 first last\n"
              "lane 2 id 0 local level 0 channel 0\n"
              "  0 t0 copy b0 in.0 => out.0\n"
              "plan rank 1 of 3 blocks 3 parts 1 tmp 0 times 2 slice 0\n"
              "level 0 core\n"
              "lane 0 id 5 send level 0 channel 0\n"
              "  0 t0 send ->2 b1 in.1 first last\n"
              "  1 t1 send ->2 b0 out.0 first last wait 1.0\n"
              "lane 1 id 5 recv level 0 channel 0\n"
              "  0 t0 recv <-0 b0 => out.0 first last\n"
              "  1 t1 recv <-0 b2 => out.2 first last\n"
              "lane 2 id 0 local level 0 channel 0\n"
              "  0 t0 copy b1 in.1 => out.1\n"
              "plan rank 2 of 3 blocks 3 parts 1 tmp 0 times 2 slice 0\n"
              "level 0 core\n"
              "lane 0 id 5 send level 0 channel 0\n"
              "  0 t0 send ->0 b2 in.2 first last\n"
              "  1 t1 send ->0 b1 out.1 first last wait 1.0\n"
              "lane 1 id 5 recv level 0 channel 0\n"
              "  0 t0 recv <-1 b1 => out.1 first last\n"
              "  1 t1 recv <-1 b0 => out.0 first last\n"
              "lane 2 id 0 local level 0 channel 0\n"
              "  0 t0 copy b2 in.2 => out.2\n"},

    [PUBLISH] = {"broadcast", 3, 1, 1, false, true, true,
                 "plan rank 0 of 3 blocks 1 parts 1 tmp 0 times 1 slice 0\n"
                 "level 0 core\n"
                 "lane 0 id 9 recv level 0 channel 0 published readers 1 2\n"
                 "  0 t0 recv <-1 b0 => out.0 first last\n"
                 "plan rank 1 of 3 blocks 1 parts 1 tmp 0 times 1 slice 0\n"
                 "level 0 core\n"
                 "lane 0 id 9 send level 0 channel 0 published readers 0 2\n"
                 "  0 t0 send ->* b0 in.0 first last\n"
                 "lane 1 id 0 local level 0 channel 0\n"
                 "  0 t0 copy b0 in.0 => out.0\n"
                 "plan rank 2 of 3 blocks 1 parts 1 tmp 0 times 1 slice 0\n"
                 "level 0 core\n"
                 "lane 0 id 9 recv level 0 channel 0 published readers 0 1\n"
                 "  0 t0 recv <-1 b0 => out.0 first last\n"},

    /* Up a chain through one tmp cell for both parts, and the result down again. */
    [CHAIN] = {"allreduce", 3, 1, 0, false, true, true,
               "plan rank 0 of 3 blocks 2 parts 2 tmp 0 times 5 slice 0\n"
               "level 0 core\n"
               "lane 0 id 0 send level 0 channel 0\n"
               "  0 t0 send ->1 b0 in.0 first last\n"
               "  1 t1 send ->1 b1 in.1 first last\n"
               "lane 1 id 1 recv level 0 channel 0\n"
               "  0 t3 recv <-1 b0 => out.0 first last\n"
               "  1 t4 recv <-1 b1 => out.1 first last\n"
               "plan rank 1 of 3 blocks 2 parts 2 tmp 1 times 5 slice 0\n"
               "level 0 core\n"
               "lane 0 id 0 recv level 0 channel 0\n"
               "  0 t0 reduce <-0 b0 in.0 => tmp.0 left first last\n"
               "  1 t1 reduce <-0 b1 in.1 => tmp.0 left first last wait 1.0*\n"
               "lane 1 id 0 send level 0 channel 0\n"
               "  0 t1 send ->2 b0 tmp.0 first last wait 0.0\n"
               "  1 t2 send ->2 b1 tmp.0 first last wait 0.1\n"
               "lane 2 id 1 recv level 0 channel 0\n"
               "  0 t2 recv <-2 b0 => out.0 first last\n"
               "  1 t3 recv <-2 b1 => out.1 first last\n"
               "lane 3 id 1 send level 0 channel 0\n"
               "  0 t3 send ->0 b0 out.0 first last wait 2.0\n"
               "  1 t4 send ->0 b1 out.1 first last wait 2.1\n"
               "plan rank 2 of 3 blocks 2 parts 2 tmp 0 times 5 slice 0\n"
               "level 0 core\n"
               "lane 0 id 0 recv level 0 channel 0\n"
               "  0 t1 reduce <-1 b0 in.0 => out.0 left first last finish 3\n"
               "  1 t2 reduce <-1 b1 in.1 => out.1 left first last finish 3\n"
               "lane 1 id 1 send level 0 channel 0\n"
               "  0 t2 send ->1 b0 out.0 first last wait 0.0\n"
               "  1 t3 send ->1 b1 out.1 first last wait 0.1\n"},

    /* Two blocks in one message. Rank 1 combines in the order 1, 0. */
    [MERGED] = {"allreduce", 2, 2, 0, false, true, false,
                "plan rank 0 of 2 blocks 2 parts 1 tmp 0 times 1 slice 0\n"
                "level 0 core\n"
                "lane 0 id 0 send level 0 channel 0\n"
                "  0 t0 send ->1 b0 in.0 first\n"
                "  1 t0 send ->1 b1 in.1 last\n"
                "lane 1 id 0 recv level 0 channel 0\n"
                "  0 t0 reduce <-1 b0 in.0 => out.0 first finish 2\n"
                "  1 t0 reduce <-1 b1 in.1 => out.1 last finish 2\n"
                "plan rank 1 of 2 blocks 2 parts 1 tmp 0 times 1 slice 0\n"
                "level 0 core\n"
                "lane 0 id 0 send level 0 channel 0\n"
                "  0 t0 send ->0 b0 in.0 first\n"
                "  1 t0 send ->0 b1 in.1 last\n"
                "lane 1 id 0 recv level 0 channel 0\n"
                "  0 t0 reduce <-0 b0 in.0 => out.0 first finish 2\n"
                "  1 t0 reduce <-0 b1 in.1 => out.1 last finish 2\n"},

    /* Rank 1 gets the block twice, of which one goes to mid. */
    [FAN] = {"broadcast", 3, 1, 0, true, true, true,
             "plan rank 0 of 3 blocks 1 parts 1 tmp 0 times 3 slice 0 in-place\n"
             "level 0 core\n"
             "lane 0 id 0 send level 0 channel 0\n"
             "  0 t0 send ->1 b0 in.0 first last\n"
             "  1 t1 send ->2 b0 in.0 first last\n"
             "plan rank 1 of 3 blocks 1 parts 1 tmp 0 times 3 slice 0 in-place\n"
             "level 0 core\n"
             "lane 0 id 0 recv level 0 channel 0\n"
             "  0 t0 recv <-0 b0 => out.0 first last\n"
             "lane 1 id 1 recv level 0 channel 0\n"
             "  0 t2 recv <-2 b0 => mid.0 first last\n"
             "plan rank 2 of 3 blocks 1 parts 1 tmp 0 times 3 slice 0 in-place\n"
             "level 0 core\n"
             "lane 0 id 0 recv level 0 channel 0\n"
             "  0 t1 recv <-0 b0 => out.0 first last\n"
             "lane 1 id 1 send level 0 channel 0\n"
             "  0 t2 send ->1 b0 out.0 first last wait 0.0\n"},

    [SUMS] = {"reduce-scatter", 2, 2, 0, false, true, true,
              "plan rank 0 of 2 blocks 2 parts 1 tmp 0 times 1 slice 0\n"
              "level 0 core\n"
              "lane 0 id 0 send level 0 channel 0\n"
              "  0 t0 send ->1 b1 in.1 first last\n"
              "lane 1 id 0 recv level 0 channel 0\n"
              "  0 t0 reduce <-1 b0 in.0 => out.0 first last finish 2\n"
              "plan rank 1 of 2 blocks 2 parts 1 tmp 0 times 1 slice 0\n"
              "level 0 core\n"
              "lane 0 id 0 send level 0 channel 0\n"
              "  0 t0 send ->0 b0 in.0 first last\n"
              "lane 1 id 0 recv level 0 channel 0\n"
              "  0 t0 reduce <-0 b1 in.1 => out.1 left first last finish 2\n"},

    /* Only the root has out. */
    [REDUCE] = {"reduce", 3, 1, 1, false, true, true,
                "plan rank 0 of 3 blocks 1 parts 1 tmp 0 times 2 slice 0\n"
                "level 0 core\n"
                "lane 0 id 0 send level 0 channel 0\n"
                "  0 t0 send ->1 b0 in.0 first last\n"
                "plan rank 1 of 3 blocks 1 parts 1 tmp 1 times 2 slice 0\n"
                "level 0 core\n"
                "lane 0 id 0 recv level 0 channel 0\n"
                "  0 t0 reduce <-0 b0 in.0 => tmp.0 left first last\n"
                "  1 t1 reduce <-2 b0 tmp.0 => out.0 first last finish 3\n"
                "plan rank 2 of 3 blocks 1 parts 1 tmp 0 times 2 slice 0\n"
                "level 0 core\n"
                "lane 0 id 0 send level 0 channel 0\n"
                "  0 t1 send ->1 b0 in.0 first last\n"},

    /* The root has its own block in out already. */
    [GATHER] = {"gather", 3, 3, 1, true, true, true,
                "plan rank 0 of 3 blocks 3 parts 1 tmp 0 times 1 slice 0 in-place\n"
                "level 0 core\n"
                "lane 0 id 0 send level 0 channel 0\n"
                "  0 t0 send ->1 b0 in.0 first last\n"
                "plan rank 1 of 3 blocks 3 parts 1 tmp 0 times 1 slice 0 in-place\n"
                "level 0 core\n"
                "lane 0 id 0 recv level 0 channel 0\n"
                "  0 t0 recv <-0 b0 => out.0 first last\n"
                "  1 t0 recv <-2 b2 => out.2 first last\n"
                "plan rank 2 of 3 blocks 3 parts 1 tmp 0 times 1 slice 0 in-place\n"
                "level 0 core\n"
                "lane 0 id 0 send level 0 channel 0\n"
                "  0 t0 send ->1 b2 in.2 first last\n"},

    [SCATTER] = {"scatter", 2, 2, 0, false, true, true,
                 "plan rank 0 of 2 blocks 2 parts 1 tmp 0 times 1 slice 0\n"
                 "level 0 core\n"
                 "lane 0 id 0 send level 0 channel 0\n"
                 "  0 t0 send ->1 b1 in.1 first last\n"
                 "lane 1 id 0 local level 0 channel 0\n"
                 "  0 t0 copy b0 in.0 => out.0\n"
                 "plan rank 1 of 2 blocks 2 parts 1 tmp 0 times 1 slice 0\n"
                 "level 0 core\n"
                 "lane 0 id 0 recv level 0 channel 0\n"
                 "  0 t0 recv <-0 b1 => out.1 first last\n"},

    [ALL_TO_ALL] = {"all-to-all", 2, 4, 0, false, true, true,
                    "plan rank 0 of 2 blocks 4 parts 1 tmp 0 times 1 slice 0\n"
                    "level 0 core\n"
                    "lane 0 id 0 send level 0 channel 0\n"
                    "  0 t0 send ->1 b1 in.1 first last\n"
                    "lane 1 id 0 recv level 0 channel 0\n"
                    "  0 t0 recv <-1 b2 => out.2 first last\n"
                    "lane 2 id 0 local level 0 channel 0\n"
                    "  0 t0 copy b0 in.0 => out.0\n"
                    "plan rank 1 of 2 blocks 4 parts 1 tmp 0 times 1 slice 0\n"
                    "level 0 core\n"
                    "lane 0 id 0 send level 0 channel 0\n"
                    "  0 t0 send ->0 b2 in.2 first last\n"
                    "lane 1 id 0 recv level 0 channel 0\n"
                    "  0 t0 recv <-0 b1 => out.1 first last\n"
                    "lane 2 id 0 local level 0 channel 0\n"
                    "  0 t0 copy b3 in.3 => out.3\n"},

    /* What rank 1 sends on is not finished; what it keeps is. */
    [SCAN] = {"scan", 3, 1, 0, false, true, true,
              "plan rank 0 of 3 blocks 1 parts 1 tmp 0 times 2 slice 0\n"
              "level 0 core\n"
              "lane 0 id 0 send level 0 channel 0\n"
              "  0 t0 send ->1 b0 in.0 first last\n"
              "lane 1 id 0 local level 0 channel 0\n"
              "  0 t0 copy b0 in.0 => out.0\n"
              "plan rank 1 of 3 blocks 1 parts 1 tmp 1 times 2 slice 0\n"
              "level 0 core\n"
              "lane 0 id 0 recv level 0 channel 0\n"
              "  0 t0 reduce <-0 b0 in.0 => tmp.0 left first last\n"
              "lane 1 id 0 send level 0 channel 0\n"
              "  0 t1 send ->2 b0 tmp.0 first last wait 0.0\n"
              "lane 2 id 0 local level 0 channel 0\n"
              "  0 t1 copy b0 tmp.0 => out.0 finish 2 wait 0.0\n"
              "plan rank 2 of 3 blocks 1 parts 1 tmp 0 times 2 slice 0\n"
              "level 0 core\n"
              "lane 0 id 0 recv level 0 channel 0\n"
              "  0 t1 reduce <-1 b0 in.0 => out.0 left first last finish 3\n"},

    /* Rank 0 has no out. */
    [EXSCAN] = {"exscan", 3, 1, 0, true, true, true,
                "plan rank 0 of 3 blocks 1 parts 1 tmp 0 times 2 slice 0 in-place\n"
                "level 0 core\n"
                "lane 0 id 0 send level 0 channel 0\n"
                "  0 t0 send ->1 b0 in.0 first last\n"
                "plan rank 1 of 3 blocks 1 parts 1 tmp 2 times 2 slice 0 in-place\n"
                "level 0 core\n"
                "lane 0 id 0 recv level 0 channel 0\n"
                "  0 t0 recv <-0 b0 => tmp.0 first last\n"
                "lane 1 id 0 local level 0 channel 0\n"
                "  0 t0 copy b0 tmp.0 => tmp.1 wait 0.0\n"
                "  1 t0 copy b0 in.0 => tmp.1 onto\n"
                "  2 t0 copy b0 tmp.0 => out.0\n"
                "lane 2 id 0 send level 0 channel 0\n"
                "  0 t1 send ->2 b0 tmp.1 first last wait 1.1\n"
                "plan rank 2 of 3 blocks 1 parts 1 tmp 0 times 2 slice 0 in-place\n"
                "level 0 core\n"
                "lane 0 id 0 recv level 0 channel 0\n"
                "  0 t1 recv <-1 b0 => out.0 first last finish 2\n"},

    /* Edges 0 -> 1, 0 -> 2, 2 -> 0 and 1 -> 1, in this order. */
    [NEIGHBOR] = {"neighbor-all-to-allv", 3, 4, 0, false, true, true,
                  "plan rank 0 of 3 blocks 4 parts 1 tmp 0 times 1 slice 0\n"
                  "level 0 core\n"
                  "lane 0 id 0 send level 0 channel 0\n"
                  "  0 t0 send ->1 b0 in.0 first last\n"
                  "  1 t0 send ->2 b1 in.1 first last\n"
                  "lane 1 id 0 recv level 0 channel 0\n"
                  "  0 t0 recv <-2 b2 => out.2 first last\n"
                  "plan rank 1 of 3 blocks 4 parts 1 tmp 0 times 1 slice 0\n"
                  "level 0 core\n"
                  "lane 0 id 0 recv level 0 channel 0\n"
                  "  0 t0 recv <-0 b0 => out.0 first last\n"
                  "lane 1 id 0 local level 0 channel 0\n"
                  "  0 t0 copy b3 in.3 => out.3\n"
                  "plan rank 2 of 3 blocks 4 parts 1 tmp 0 times 1 slice 0\n"
                  "level 0 core\n"
                  "lane 0 id 0 recv level 0 channel 0\n"
                  "  0 t0 recv <-0 b1 => out.1 first last\n"
                  "lane 1 id 0 send level 0 channel 0\n"
                  "  0 t0 send ->0 b2 in.2 first last\n"},
};

static inline tt_question example_question(const example *of, bool ordered) {
  bool edges = strncmp(of->collective, "neighbor", 8) == 0;
  return (tt_question){.collective = of->collective,
                       .rank_count = of->rank_count,
                       .block_count = of->block_count,
                       .root = of->root,
                       .in_place = of->in_place,
                       .ordered = ordered,
                       .edge_count = edges ? TT_COUNT(example_from) : 0,
                       .from = example_from,
                       .to = example_to};
}

/* The plan of one rank; the caller frees it. */
static inline char *example_text(const example *of, int rank) {
  const char *begin = of->text;
  for (int n = 0; n < rank; n++)
    begin = strstr(begin + 1, "plan rank");
  const char *next = strstr(begin + 1, "plan rank");
  return strndup(begin, next != NULL ? (size_t)(next - begin) : strlen(begin));
}

#endif
