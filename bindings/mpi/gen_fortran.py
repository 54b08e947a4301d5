#!/usr/bin/env python3
"""Writes the Fortran entry points of the interposer, from functions.py and an MPI's header; see fortran.h.

    gen_fortran.py mpicc fortran.c
"""
import dataclasses
import re
import sys

import functions

HANDLES = {"MPI_Comm": "Comm", "MPI_Datatype": "Type", "MPI_Op": "Op", "MPI_Info": "Info", "MPI_Request": "Request",
           "MPI_Message": "Message"}
ONLY_OUT = re.compile(r"MPIX?_(I(?!mrecv)\w+|\w+_init|Mprobe)")  # their handles mean nothing before the call
C_ONLY = {"argc", "argv"}  # of MPI_Init
INDEX_THIRD = {"MPI_Waitany", "MPI_Testany", "MPI_Request_get_status_any"}  # "index" or "indx"
C_POINTERS = {"baseptr", "buffer_addr"}  # results of type(c_ptr), no buffers

# Windows whose memory is a type(c_ptr): the same arguments under another name.
SAME_ARGUMENTS = {"Win_allocate": "Win_allocate_cptr", "Win_allocate_shared": "Win_allocate_shared_cptr"}

# In Open MPI's module mpi_f08 those with a LOGICAL call a pmpi_ name, so that the module's own entry point is needed.
LOGICALS = """Cart_create Cart_sub Graph_create Dist_graph_create Dist_graph_create_adjacent Intercomm_merge Test Testall
Testany Testsome Iprobe Improbe Request_get_status Request_get_status_all
Request_get_status_any Win_test Parrived File_set_atomicity""".split()


class OpenMpi:
    """Every entry point calls a PMPI_ name. Its own ones are known by the pmpi_ name, too."""
    inner = "p{entry}_"
    first = "{entry}_"  # a name that each entry point has

    @staticmethod
    def has(function):
        return True

    @staticmethod
    def names(function, entry, static):
        module = [f"ALIAS({entry}_f08_, {static});"] if function.name[4:] in LOGICALS else []
        return [f"ENTRY({entry}, {entry.upper()}, o{entry}_f, {static});", *module]


class Mpich:
    """The entry points of mpi_f08 call a PMPI_ name where there is no buffer; all others call MPI_ names."""
    inner = "{entry}_f08_"
    first = inner

    @staticmethod
    def has(function):
        return not any(parameter.type.endswith("void *") and parameter.name not in C_POINTERS and not parameter.array
                       for parameter in function.parameters)

    @staticmethod
    def names(function, entry, static):
        return [f"ALIAS({entry}_f08_, {static});"]


HEAD = """/* Made by gen_fortran.py from the header of this MPI. */
#include "fortran.h"
"""


class Argument:
    """How one argument goes from Fortran to C: its declaration, C's value, and lines before and after the call."""

    def __init__(self, function, parameter):
        name, kind = parameter.name, parameter.type.removeprefix("const ")
        self.declaration, self.value, self.before, self.after = f"MPI_Fint *{name}", f"*{name}", [], []
        if name in C_ONLY:
            self.declaration, self.value = None, "NULL"
        elif kind == "void *":
            self.declaration, self.value = f"void *{name}", f"buffer_of({name})"
        elif parameter.array or name.startswith("array_of"):
            self.array(function, name, kind.removesuffix(" *"))
        elif kind in HANDLES:
            self.value = f"PMPI_{HANDLES[kind]}_f2c(*{name})"
        elif kind.removesuffix(" *") in HANDLES:
            self.handle(function, name, kind.removesuffix(" *"))
        elif kind == "MPI_Status *":
            self.before, self.value = [f"MPI_Status c_{name};"], f"status_in({name}, &c_{name})"
            self.after = [f"status_out(&c_{name}, {name});"]
        elif kind.endswith("*"):  # numbers and flags; Fortran counts from 1
            self.declaration, self.value = parameter.text, name
            is_index = function.name in INDEX_THIRD and parameter is function.parameters[2]
            self.after = [f"index_out(result, {name});"] if is_index else []
        elif kind != "int":
            self.declaration = f"{kind} *{name}"

    def handle(self, function, name, kind):
        only_out = ONLY_OUT.fullmatch(function.name)
        first = f"{kind.upper()}_NULL" if only_out else f"PMPI_{HANDLES[kind]}_f2c(*{name})"
        self.before, self.value = [f"{kind} c_{name} = {first};"], f"&c_{name}"
        condition = "if (result == MPI_SUCCESS) " if only_out else ""
        self.after = [f"{condition}*{name} = PMPI_{HANDLES[kind]}_c2f(c_{name});"]

    def array(self, function, name, kind):
        if kind in ("MPI_Request", "MPI_Status", "MPI_Datatype"):
            word = {"MPI_Request": "requests", "MPI_Status": "statuses", "MPI_Datatype": "types"}[kind]
            count = {"sendtypes": "peers.out", "recvtypes": "peers.in"}.get(name, f"*{function.names[0]}")
            buffer = f", {name.replace('types', 'buf')}" if kind == "MPI_Datatype" else ""
            self.value = f"c_{name}"
            self.before = [f"{kind} few_{name}[FEW], *c_{name} = {word}_in({count}, {name}, few_{name}{buffer});"]
            self.after = [f"{word}_out({count}, c_{name}, {name}, few_{name});"]
        else:
            self.declaration, self.value = f"{kind} *{name}", name
            self.after = [f"indices_out(result, *outcount, {name});"] if "indices" in name else []


def left(function, declarations):
    """Open MPI keeps arrays of types for the life of a request, which those made here do not have: what tutti does not
    serve goes to its own entry point."""
    if "sendtypes" not in function.names or "request" not in function.names:
        return []
    inner = OpenMpi.inner.format(entry=function.name.lower())
    collective = "TT_MPI_NEIGHBOR_ALLTOALLW" if "eighbor" in function.name else "TT_MPI_ALLTOALLW"
    return [f"INNER({inner}, {', '.join(declarations)}, MPI_Fint *ierror);",
            f"if (tt_mpi_serve_leaves({collective}, PMPI_Comm_f2c(*comm))) {{",
            f"  {inner}({', '.join(function.names)}, ierror);", "  return;", "}"]


def converted(function):
    """Calls the C function."""
    arguments = [Argument(function, parameter) for parameter in function.parameters]
    declarations = [argument.declaration for argument in arguments if argument.declaration]
    before = [line for argument in arguments for line in argument.before]
    if "sendtypes" in function.names:
        neighbor = "true" if "eighbor" in function.name else "false"
        before.insert(0, f"peer_counts peers = peer_counts_of(PMPI_Comm_f2c(*comm), {neighbor});")
    call = f"int result = {function.name}({', '.join(argument.value for argument in arguments)});"
    after = [line for argument in arguments for line in argument.after]
    return declarations, [*left(function, declarations), *before, call, *after, "finish(ierror, result);"]


def forwarded(function, inner, before, after):
    """Calls the MPI's own entry point. Texts have a length each, after all others."""
    lengths = [f"size_t length{n}" for n, parameter in enumerate(function.parameters) if "char " in parameter.type]
    declared = [f"MPI_Fint *{name}" for name in function.names]
    passed = ", ".join([*function.names, "&result", *(length.split()[1] for length in lengths)])
    other = ", ".join([*declared, "MPI_Fint *ierror", *lengths])
    return declared, [f"INNER({inner}, {other});", "MPI_Fint result = MPI_SUCCESS;", *before,
                      f"{inner}({passed});", *after, "finish(ierror, result);"], lengths


def maker(function, inner):
    first, parent = f"PMPI_Comm_f2c(*{function.names[0]})", functions.parent(function)
    if parent in function.names:
        parent = first
    made, topology = f"PMPI_Comm_f2c(*{function.names[-1]})", functions.topology(function, first)
    return forwarded(function, inner, ["tt_mpi_pass_begin();"], [
        "if (result == MPI_SUCCESS)", f"  tt_mpi_comm_made({parent}, {made}, {topology});", "tt_mpi_pass_end();"])


def session_maker(function, inner):
    comm = f"PMPI_Comm_f2c(*{function.names[-1]})"
    return forwarded(function, inner, ["tt_mpi_pass_begin();"], [
        "if (result == MPI_SUCCESS)", f"  tt_mpi_session_comm_made({comm});", "tt_mpi_pass_end();"])


def late_maker(function, inner):
    parent, *_, made, request = function.names
    return forwarded(function, inner, [], [
        "if (result == MPI_SUCCESS)",
        f"  tt_mpi_comm_idup_posted(PMPI_Comm_f2c(*{parent}), PMPI_Comm_f2c(*{made}), PMPI_Request_f2c(*{request}));"])


def passing(function, inner):
    return forwarded(function, inner, ["tt_mpi_pass_begin();"], ["tt_mpi_pass_end();"])


def asking(function, inner):
    return forwarded(function, inner, ["tt_mpi_progress();"], [])


@dataclasses.dataclass
class Entry:
    """An entry point: its name without spelling, parameters but the last, ierror; lines; lengths of texts."""
    function: functions.Function
    name: str
    declared: list
    lines: list
    lengths: list = ()

    def text(self, style, lines):
        """With its names. `static` is the function that they all are."""
        static = "f" + self.name.removeprefix("mpi")
        parameters = ", ".join([*self.declared, "MPI_Fint *ierror", *self.lengths])
        body = "\n".join("  " + line for line in lines)
        names = "\n".join(style.names(self.function, self.name, static))
        return f"\nstatic void {static}({parameters}) {{\n{body}\n}}\n{names}\n"


def forwards(style, function, writer):
    names = [function.name] + [f"MPI_{SAME_ARGUMENTS[name]}" for name in SAME_ARGUMENTS
                               if style is OpenMpi and function.name == f"MPI_{name}"]
    for name in map(str.lower, names):
        inner = style.inner.format(entry=name)
        yield Entry(function, name, *writer(function, inner))


def style_of(header):
    return OpenMpi if header.open_mpi else Mpich


def entries(header):
    style = style_of(header)
    collectives = [function for name in functions.COLLECTIVES for _, function in header.forms(name)]
    for function in filter(style.has, collectives + header.sized(functions.ASKING_SEVERAL + functions.BY_HAND)):
        yield Entry(function, function.name.lower(), *converted(function))
    for writer, names in ((maker, functions.MAKERS), (late_maker, functions.LATE_MAKERS),
                          (session_maker, functions.SESSION_MAKERS), (passing, functions.PASSING), (asking, functions.ASKING)):
        for function in filter(style.has, header.sized(names)):
            yield from forwards(style, function, writer)


def main():
    compiler, file = sys.argv[1:]
    header = functions.Header.read(compiler)
    with open(file, "w") as out:
        out.write(HEAD)
        for entry in entries(header):
            out.write(entry.text(style_of(header), entry.lines))


if __name__ == "__main__":
    main()
