/* tools/mpirun/program.h - the program among the arguments of an MPI's launcher. */
#ifndef TUTTI_TOOLS_MPIRUN_PROGRAM_H
#define TUTTI_TOOLS_MPIRUN_PROGRAM_H

/* Of the arguments up to the next ":". NULL: none of them is a program here. */
char **mpirun_program_of(char **arguments);

#endif
