"""Every function of an MPI that takes a communicator, a request, a window, a file or a session is exported by the library in
front of that MPI, or left alone on purpose: bindings/mpi/functions.py has the lists. So a newer MPI with functions that
tutti does not know yet is noticed.
"""
import fnmatch
import os
import pathlib
import re
import shutil
import subprocess
import sys

LIBRARIES = pathlib.Path(os.environ["TUTTI_BIN"]).parent / "lib"
sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(os.environ["TUTTI_SOURCE"]) / "bindings/mpi"))
import functions  # noqa: E402

HANDLE = re.compile(r"MPIX?_(Comm|Request|Win|File|Session|Message)\b")


def exported(library):
    text = subprocess.check_output(["nm", "-D", "--defined-only", library], text=True)
    return {line.split()[2] for line in text.splitlines()}


def takes_handle(function):
    return any(HANDLE.search(parameter.type) for parameter in function.parameters)


def reason_of(name):
    """Why it is left alone; its form for large counts as well."""
    plain = name.removesuffix("_c")
    return next((reason for reason, names in functions.LEFT_ALONE.items()
                 if any(fnmatch.fnmatchcase(plain, pattern) for pattern in names.split())), None)


def problems(header, names):
    for function in header.all():
        if function.name not in names:
            yield f"{function.name} is in the lists, but not in the library"
    served = {function.name for function in header.all()}
    for name, function in sorted(header.functions.items()):
        if name in served and reason_of(name):
            yield f"{name} is served and left alone"
        if name not in served and takes_handle(function) and not reason_of(name):
            yield f"{function.declaration} is in no list of bindings/mpi/functions.py"


def main():
    found = wrong = 0
    for mpi in ("openmpi", "mpich"):
        library = LIBRARIES / f"libtutti-{mpi}.so"
        if not library.exists():
            continue
        found += 1
        header = functions.Header.read(shutil.which(f"mpicc.{mpi}"))
        for problem in problems(header, exported(library)):
            wrong += 1
            print(f"{mpi}: {problem}")
        print(f"{mpi}: {len(header.functions)} functions, {len(header.all())} in front of which tutti stands")
    return bool(wrong) if found else 77


sys.exit(main())
