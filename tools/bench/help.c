/* tools/bench/help.c - the help of `tutti bench`, and lists of what may be named. */
#include "help.h"

#include "compose/compose.h"

#include <tutti/types.h>

static const char help[] =
    "usage: tutti bench COLLECTIVE... [options]\n"
    "\n"
    "Measures collectives and checks their results; `all` means every collective. It starts ranks on this machine. If\n"
    "a launcher starts it, as in `mpirun -n 16 tutti bench allreduce`, each process is a rank of the job.\n"
    "\n"
    "  -n N               ranks (default: one a core, at least 2)\n"
    "  --sizes LIST       bytes of the whole vector: 8,64K,1M or 8..64M in powers of 4 (default 8..64M)\n"
    "  --per-pair         sizes are bytes of one block instead, such as one rank has for another\n"
    "  --type TYPE        type of the elements (default float32)\n"
    "  --op OPERATOR      operator of reductions (default sum)\n"
    "  --params TEXT      a preset, a parameter text, or `all` presets; may be repeated (default: the profile's\n"
    "                     choice). `search`: everything that the calls could run with, and a table of the best\n"
    "  --limit N          with --params search: try N candidates at most, an even part of all\n"
    "  --against LIST     compare with openmpi, mpich; openmpi+tutti, mpich+tutti run their programs under\n"
    "                     tutti mpirun\n"
    "  --against LIBRARY:NAME=ARGUMENTS   compare with the library once more, with these launcher arguments, such as\n"
    "                     'openmpi:han=--mca coll_han_priority 100'; may be repeated\n"
    "  --launch COMMAND   start the ranks of every library with this launcher, such as 'mpirun -n 16 --hostfile h' or\n"
    "                     'srun -n 16': a job of each library in turn; their times are pairs\n"
    "  --launch-openmpi COMMAND, --launch-mpich COMMAND   another launcher for that library, with the same placement\n"
    "  --rounds N         number of jobs of each library (default 9)\n"
    "  --rate RATE        bits a second of each NIC, such as 100M or 25G (default: from the system)\n"
    "  --nics             also count the bytes that pass the NICs\n"
    "  --levels           show where the time of tutti's calls goes: moving and waiting at each level of the machine\n"
    "  --reproducible     also measure the same parameters with `reproducible`, to show what it costs\n"
    "  --library NAME     measure this instead of tutti\n"
    "  --mode MODE        blocking (default) or persistent calls of tutti\n"
    "  --overlap          measure how much of a non-blocking call a computation hides\n"
    "  --apart            put a barrier, which is not timed, before each call: no rank runs ahead to the next call\n"
    "  --sparse           all-to-allv and -w: each rank sends to two others only\n"
    "  --alloc            use buffers of tutti_alloc\n"
    "  --cores N          use only the first N cores and leave the others for progress threads\n"
    "  --delay PERCENT    lengthen each call by PERCENT of its time, to see whether a comparison would notice\n"
    "  --seconds S        approximate time for a point (default 1); 0: a single round\n"
    "  --no-check         do not compare results\n"
    "  --json FILE        also write the rows to FILE\n";

static const char *collective_name(int number) { return tt_compose_info((tt_collective)number).name; }
static const char *type_name(int number) { return tutti_type_name((tutti_type)number); }
static const char *op_name(int number) { return tutti_op_name((tutti_op)number); }

/* "\ntypes: float32, float64, ..." in lines of at most 100 letters or so. */
static void print_names(FILE *to, const char *what, const char *(*name)(int number), int count) {
  int column = fprintf(to, "\n%s:", what);
  for (int n = 0; n < count; n++) {
    if (column > 90)
      column = fprintf(to, "\n   ");
    column += fprintf(to, " %s%s", name(n), n + 1 < count ? "," : "\n");
  }
}

void bench_help_print_collectives(FILE *to) { print_names(to, "collectives", collective_name, TT_COLLECTIVE_COUNT); }

void bench_help_print_types(FILE *to) { print_names(to, "types", type_name, TUTTI_TYPE_COUNT); }

void bench_help_print_ops(FILE *to) { print_names(to, "operators", op_name, TUTTI_OP_COUNT); }

void bench_help_print(void) {
  fputs(help, stdout);
  bench_help_print_collectives(stdout);
  bench_help_print_types(stdout);
  bench_help_print_ops(stdout);
}
