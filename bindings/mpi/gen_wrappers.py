#!/usr/bin/env python3
"""Writes the MPI_ functions of the interposer in C, from functions.py and an MPI's header.

    gen_wrappers.py mpicc wrappers.c

They are made while building, since the MPIs differ in what they have and in how it is declared. Each collective
describes its arguments in a tt_mpi_call and goes to PMPI_ where serve.c does not take it.
"""
import sys

import functions

# What an argument is in a tt_mpi_call.
FIELDS = {"sendbuf": "in.buffer", "recvbuf": "out.buffer", "buffer": "out.buffer",
          "sendcount": "in.count", "recvcount": "out.count", "count": "out.count",
          "sendtype": "in.type", "recvtype": "out.type", "datatype": "out.type",
          "sendcounts": "in.counts", "recvcounts": "out.counts", "sdispls": "in.offsets", "rdispls": "out.offsets",
          "displs": "out.offsets", "sendtypes": "in.types", "recvtypes": "out.types",
          "op": "op", "root": "root", "comm": "comm"}
LISTS = {"sendcounts", "recvcounts", "sdispls", "rdispls", "displs"}

HEAD = """/* Made by gen_wrappers.py from the header of this MPI. */
#include "comm.h"
#include "idup.h"
#include "progress.h"
#include "serve.h"
#include "session.h"
#include "wait.h"

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#define LIST(array) {.value = (array), .wide = sizeof *(array) == sizeof(int64_t)}

"""

SERVE = {"blocking": "tt_mpi_serve(&call, &result)", "nonblocking": "tt_mpi_serve_start(&call, request, &result)",
         "persistent": "tt_mpi_serve_init(&call, request, &result)"}


def field(collective, name):
    target = "in.offsets" if name == "displs" and collective == "Scatterv" else FIELDS[name]
    return f".{target} = {f'LIST({name})' if name in LISTS else name}"


def passed(function, *after):
    """The lines that call PMPI_ where it may block."""
    return ["tt_mpi_pass_begin();", f"result = {function.call('P')};", *after, "tt_mpi_pass_end();", "return result;"]


def collective(name, kind, function):
    fields = [field(name, argument) for argument in function.names if argument not in ("info", "request")]
    rest = passed(function) if kind == "blocking" else [f"return {function.call('P')};"]
    return [f"const tt_mpi_call call = {{.collective = TT_MPI_{name.upper()}, {', '.join(fields)}}};", "int result;",
            f"if ({SERVE[kind]})", "  return result;", *rest]


def maker(function):
    topology = functions.topology(function, function.names[0])
    made = f"tt_mpi_comm_made({functions.parent(function)}, *{function.names[-1]}, {topology});"
    return ["int result;", *passed(function, "if (result == MPI_SUCCESS)", f"  {made}")]


def session_maker(function):
    comm = function.names[-1]
    return ["int result;", *passed(function, "if (result == MPI_SUCCESS)", f"  tt_mpi_session_comm_made(*{comm});")]


def late_maker(function):
    parent, *_, made, request = function.names
    return [f"int result = {function.call('P')};", "if (result == MPI_SUCCESS)",
            f"  tt_mpi_comm_idup_posted({parent}, *{made}, *{request});", "return result;"]


def passing(function):
    return ["int result;", *passed(function)]


def asking(function):
    return ["tt_mpi_progress();", f"return {function.call('P')};"]


def asking_several(function):
    return ["tt_mpi_progress();", f"int result = {function.call('P')};", "if (result == MPI_SUCCESS)",
            f"  tt_mpi_request_asked({function.names[0]}, {function.names[1]});", "return result;"]


def bodies(header):
    for name in functions.COLLECTIVES:
        for kind, function in header.forms(name):
            yield function, collective(name, kind, function)
    for writer, names in ((maker, functions.MAKERS), (late_maker, functions.LATE_MAKERS),
                          (session_maker, functions.SESSION_MAKERS), (passing, functions.PASSING),
                          (asking, functions.ASKING), (asking_several, functions.ASKING_SEVERAL)):
        for function in header.sized(names):
            yield function, writer(function)


def main():
    compiler, file = sys.argv[1:]
    with open(file, "w") as out:
        out.write(HEAD)
        for function, lines in bodies(functions.Header.read(compiler)):
            body = "\n".join("  " + line for line in lines)
            out.write(f"\n{function.declaration} {{\n{body}\n}}\n")


main()
