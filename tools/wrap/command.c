/* tools/wrap/command.c - `tutti wrap`: a rank of any launcher becomes its program, or another program that runs it. */
#include "rank.h"
#include "wrap.h"

#include "tools/shared/shared.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CANNOT_START = 126, NOT_FOUND = 127 };

static const char help[] =
    "usage: tutti wrap [RANKS:]COMMAND... -- PROGRAM [ARGUMENTS]\n"
    "\n"
    "Starts the program under another one on some ranks. Put it before the program on the command line of a launcher\n"
    "such as mpirun or srun. The named ranks execute COMMAND PROGRAM ARGUMENTS, all others PROGRAM ARGUMENTS.\n"
    "`tutti run --wrap` and `tutti mpirun --wrap` take the same [RANKS:]COMMAND.\n"
    "\n"
    "RANKS are numbers and ranges, such as 0,4-7, or all; without RANKS the command is for all ranks. If several\n"
    "commands name a rank, it gets the last one. Blanks separate the words of a command; '...', \"...\" and \\ keep\n"
    "blanks as in a shell. {rank} becomes the rank's number. Variables and pipes need a shell: sh -c '... \"$@\"' sh.\n"
    "\n"
    "The rank comes from TUTTI_RANK, OMPI_COMM_WORLD_RANK, PMIX_RANK, PMI_RANK or SLURM_PROCID: the first that is\n"
    "set.\n"
    "\n"
    "  mpirun -n 4 tutti wrap '0,3:valgrind -q' -- ./program\n"
    "  srun -n 8 tutti wrap 'perf record -o perf.{rank}' -- ./program data.csv\n"
    "  tutti run -n 2 --wrap '0:gdb --args' ./program\n";

/* The rules up to "--"; what stands behind it is the program. */
static int parse(char **word, wrap_list *list, char ***program) {
  for (; *word != NULL && strcmp(*word, "--") != 0; word++)
    if (wrap_add(list, *word) != TUTTI_OK)
      return tool_misused("wrap", "%s", tutti_last_error());
  if (list->count == 0)
    return tool_misused("wrap", "[RANKS:]COMMAND is missing");
  if (*word == NULL || word[1] == NULL)
    return tool_misused("wrap", "-- PROGRAM is missing");
  *program = word + 1;
  return 0;
}

static int execute(const wrap_list *list, int64_t rank, char **program) {
  tt_arena arena;
  tt_arena_init(&arena);
  char **command = wrap_command(list, rank, program, &arena);
  if (command != NULL)
    execvp(command[0], command);
  int error = command != NULL ? errno : ENOMEM;
  tool_fail("wrap", 0, "rank %" PRId64 ": %s: %s", rank, command != NULL ? command[0] : program[0], strerror(error));
  tt_arena_finish(&arena);
  return error == ENOENT ? NOT_FOUND : CANNOT_START;
}

static int become(const wrap_list *list, char **program) {
  int64_t rank, rank_count;
  tutti_status status = wrap_find_rank(&rank, &rank_count);
  if (status == TUTTI_OK && rank_count > 0)
    status = wrap_check(list, rank_count);
  return status == TUTTI_OK ? execute(list, rank, program) : tool_misused("wrap", "%s", tutti_last_error());
}

int tt_tool_wrap(int argc, char **argv) {
  wrap_list list = {0};
  char **program = NULL;
  if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0))
    return fputs(help, stdout), 0;
  int code = parse(argv + 1, &list, &program);
  if (code == 0)
    code = become(&list, program);
  wrap_finish(&list);
  return code;
}
