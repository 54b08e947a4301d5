/* tools/bench/help.c - the help of `tutti bench`, and lists of what may be named. */
#include "help.h"

#include "compose/compose.h"

#include <tutti/types.h>

static const char help[] =
    "usage: tutti bench COLLECTIVE... [options]\n"
    "\n"
    "Measures collectives and checks their results; `all` is all of them. It starts ranks on this machine. Started by\n"
    "a launcher itself, as in `mpirun -n 16 tutti bench allreduce`, it is one of the ranks, on all machines of the "
    "job.\n"
    "\n"
    "  -n N               ranks (default: one a core, at least 2)\n"
    "  --sizes LIST       bytes of the whole vector: 8,64K,1M or 8..64M in powers of 4 (default 8..64M)\n"
    "  --per-pair         sizes are those of one block instead, such as one rank has for another\n"
    "  --type TYPE        of the elements (default float32)\n"
    "  --op OPERATOR      of reductions (default sum)\n"
    "  --params TEXT      a preset, a parameter text, or `all` presets; may be repeated (default: the profile's "
    "choice)\n"
    "  --against LIST     compare with openmpi, mpich; openmpi+tutti, mpich+tutti are their programs under tutti "
    "mpirun\n"
    "  --against LIBRARY:NAME=ARGUMENTS   and with it as its launcher runs it with these arguments too, such as\n"
    "                     'openmpi:han=--mca coll_han_priority 100'; --against may be repeated\n"
    "  --launch COMMAND   start the ranks of every library by this launcher, such as 'mpirun -n 16 --hostfile hosts' "
    "or\n"
    "                     'srun -n 16': a job of each in turn, whose times are pairs\n"
    "  --launch-openmpi COMMAND, --launch-mpich COMMAND   another launcher for that library, with the same placement\n"
    "  --rounds N         so many jobs of each (default 9)\n"
    "  --rate RATE        bits a second of each NIC, such as 100M or 25G (default: what the system says)\n"
    "  --nics             count the bytes that pass the NICs, too\n"
    "  --levels           say where the time of tutti's calls goes: moving and waiting at each level of the machine\n"
    "  --reproducible     compare with the same parameters and `reproducible`: what it costs\n"
    "  --library NAME     measure this instead of tutti\n"
    "  --mode MODE        blocking (default) or persistent calls of tutti\n"
    "  --overlap          non-blocking calls beside computation: how much of them it hides\n"
    "  --apart            a barrier before each call, not timed: no rank runs ahead to the next call\n"
    "  --sparse           all-to-allv and -w: each rank sends to two others only\n"
    "  --alloc            buffers from tutti_alloc\n"
    "  --cores N          use the first N cores only: the others are for progress threads\n"
    "  --delay PERCENT    make each call longer by so much of what it takes, by work of the processor: to see whether\n"
    "                     a comparison would notice\n"
    "  --seconds S        time for a point, about (default 1); 0: a single round\n"
    "  --no-check         do not compare results\n"
    "  --json FILE        write the rows to FILE too\n";

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
