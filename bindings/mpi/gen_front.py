#!/usr/bin/env python3
"""Writes the functions of the library that is preloaded, from functions.py and an MPI's header; see front/front.h.

    gen_front.py mpicc front.c [fortran]

fortran: with the entry points of Fortran.
"""
import sys

import functions
import gen_fortran

HEAD = """/* Made by gen_front.py from the header of this MPI. */
#include "front.h"

#include "fortran_names.h"

#include <mpi.h>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
"""


def in_c(function):
    return (f"\n{function.declaration} {{\n  TT_FRONT_SERVE({function.name}, \"{function.name}\")\n"
            f"  return {function.call().replace(function.name, 'serve', 1)};\n}}\n")


def in_fortran(style, entry):
    parameters = [functions.Parameter(text) for text in [*entry.declared, "MPI_Fint *ierror", *entry.lengths]]
    static = "f" + entry.name.removeprefix("mpi")
    return entry.text(style, [f"TT_FRONT_SERVE({static}, \"{style.first.format(entry=entry.name)}\")",
                              f"serve({', '.join(parameter.name for parameter in parameters)});"])


def main():
    compiler, file, *fortran = sys.argv[1:]
    header = functions.Header.read(compiler)
    with open(file, "w") as out:
        out.write(HEAD)
        out.writelines(in_c(function) for function in header.all())
        if fortran:
            style = gen_fortran.style_of(header)
            out.writelines(in_fortran(style, entry) for entry in gen_fortran.entries(header))


main()
