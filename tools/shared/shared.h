/* tools/shared/shared.h - what commands have in common: how they refuse arguments, which programs they find and start,
 * and files that they write.
 *
 * `command` is the name of the command: "plan". */
#ifndef TUTTI_TOOLS_SHARED_H
#define TUTTI_TOOLS_SHARED_H

#include "base/base.h"

#include <stddef.h> /* offsetof, for rows of options */
#include <stdio.h>

/* ---- arguments.c ---- */

#define TOOL_MISUSED 2 /* exit code of a command that does not understand its arguments */

/* Prints "tutti COMMAND: ..." to stderr. Returns `code`. */
int tool_fail(const char *command, int code, const char *format, ...) TT_PRINTF(3, 4);
/* The same, and where help is. Returns TOOL_MISUSED. */
int tool_misused(const char *command, const char *format, ...) TT_PRINTF(2, 3);
/* false: the text is no whole number from `least` to `most`. */
bool tool_read_number(const char *text, int64_t least, int64_t most, int64_t *number);

/* ---- options.c ---- */

/* What reading options comes to; besides, whatever else a command's `take` returns. */
enum {
  TOOL_GO_ON,       /* all were read; `optind` is what comes behind them */
  TOOL_HELPED,      /* help was printed */
  TOOL_WRONG = -1,  /* an error was printed */
  TOOL_UNKNOWN = -2 /* getopt has printed one: there is no such option, or its value is missing */
};

typedef enum tool_kind {
  TOOL_SET,   /* a bool becomes true */
  TOOL_CLEAR, /* false */
  TOOL_TEXT,  /* a const char * becomes the value */
  TOOL_TAKE,  /* `take` gets the value */
  TOOL_DO     /* `take` is called; there is no value */
} tool_kind;

/* An option: a row of its command's table. */
typedef struct tool_option {
  const char *name; /* behind "--"; NULL: it has a letter only */
  int letter;       /* behind "-"; 0: none */
  tool_kind kind;
  size_t at; /* of a member of the command's options */
  int (*take)(void *options, const char *value);
} tool_option;

/* Reads the arguments into the command's options, up to the first that is wrong. `order`: "": in any order; "+": up to
 * the first that is no option, "-": those that are none go to the row with letter 1. */
int tool_options_read(int argc, char **argv, const char *order, const tool_option *row, size_t count, void *options);

/* ---- programs.c ---- */

enum { TOOL_PATH = 4096 }; /* bytes of a path; a longer one counts as not there */

/* Of the process's own executable; "" where the system does not say it. */
void tool_own_path(char path[static TOOL_PATH]);
/* A program in PATH, or at a path of its own. */
bool tool_find_program(const char *program, char path[static TOOL_PATH]);

/* A library that is installed with the command, such as "libtutti-openmpi.so". false: there is none; then `path` is
 * where it was looked for last. */
bool tool_find_library(const char *name, char path[static TOOL_PATH]);
/* Whether LD_PRELOAD can name it, where spaces and colons end a path; `command` says it where that cannot be. */
bool tool_can_preload(const char *command, const char *path);
void tool_heap_want(void); /* TUTTI_HEAP is on, or what it is */
/* Whether TUTTI_HEAP is on: then `path` is the library to preload. `command` says it where that
 * cannot be, or where TUTTI_HEAP is something else. */
bool tool_heap_wanted(const char *command, char path[static TOOL_PATH]);

/* A command line. */
typedef struct tool_words {
  char **word; /* ends with NULL; of the heap, as the words are */
  size_t count, room;
  bool failed; /* no memory: some are missing */
} tool_words;

void tool_words_add(tool_words *list, const char *word);      /* a copy */
void tool_words_add_all(tool_words *list, const char *words); /* that blanks separate */
void tool_words_add_number(tool_words *list, int64_t number);
/* This program again, as the ranks of a job that run a command with the arguments behind argv[0]. */
void tool_words_add_job(tool_words *list, const char *command, int64_t ranks, int argc, char **argv);
void tool_words_finish(tool_words *list);

bool tool_is_set(const char *variable); /* and not empty */
bool tool_ignores(int signal);          /* as nohup has it; once blocked, it would reach a signalfd all the same */
/* Whether this process is a rank of a job that a launcher has started. `rank`: which one, as far as it has said. */
bool tool_is_rank(int64_t *rank);

/* ---- output.c ---- */

/* Writes a file, "-": standard output, which stays open. */
tutti_status tool_write_file(const char *path, tutti_status (*write)(void *user, FILE *file), void *user);
bool tool_has_colour(void); /* standard output is a terminal, and its user wants colours */
/* As short as may be: "1.25 us". */
void tool_format_time(double time_ns, char text[static 32]);

#endif
