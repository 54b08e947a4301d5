#!/usr/bin/env python3
"""Under `tutti mpirun` the Python package is in the job that MPI's calls run on: programs/beside_mpi.py. Beside another
version of the library it says so."""
import os
import pathlib
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ["TUTTI_BIN"])
SOURCE = pathlib.Path(os.environ["TUTTI_SOURCE"])
PACKAGE = BIN.parent / "lib/python"
PROGRAM = pathlib.Path(__file__).parent / "programs/beside_mpi.py"
PYTHON = "/usr/bin/python3"
RANKS = 3
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_mpi_yield_when_idle": "1",
            "OMPI_MCA_btl_tcp_if_include": "lo"}


def run(*arguments):
    done = subprocess.run([BIN / "tutti", "mpirun", "--mpi", "openmpi", "--stats", "-n", str(RANKS), PYTHON, PROGRAM, *arguments],
                          text=True, capture_output=True, timeout=120, check=False,
                          env={**os.environ, **OPEN_MPI, "PYTHONPATH": str(PACKAGE)})
    assert done.returncode == 0 and done.stdout.count("all right") == RANKS, f"{arguments}:\n{done.stdout}{done.stderr}"


def import_beside_another():
    listed = subprocess.run(["nm", "-D", "--defined-only", BIN.parent / "lib/libtutti.so"], text=True, capture_output=True, check=True)
    names = [line.split()[2].partition("@")[0] for line in listed.stdout.splitlines() if " T tutti_" in line]
    with tempfile.TemporaryDirectory() as folder:
        said = {"tutti_version": '"0.0.1"'}
        code = "".join(f"void *{name}(void) {{ return {said.get(name, 0)}; }}\n" for name in names)
        pathlib.Path(folder, "other.c").write_text(code)
        library = f"{folder}/libtutti.so.0"
        subprocess.run(["cc", "-w", "-fno-builtin", "-shared", "-fPIC", "-Wl,-soname,libtutti.so.0", "-o", library,
                        f"-Wl,--version-script={SOURCE / 'cmake/tutti.map'}", f"{folder}/other.c"], check=True)
        done = subprocess.run([PYTHON, "-c", f"import ctypes; ctypes.CDLL('{library}'); import tutti"], text=True,
                              capture_output=True, check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    assert done.returncode == 1 and "this process has libtutti.so.0 of 0.0.1" in done.stderr, done.stderr


def main():
    needed = subprocess.run([PYTHON, "-c", "import numpy, mpi4py"], capture_output=True, check=False)
    if not (PACKAGE / "tutti").exists() or not (BIN.parent / "lib/libtutti-openmpi.so").exists() or needed.returncode != 0:
        print("skipped: it needs the Python package, numpy, mpi4py and Open MPI")
        sys.exit(77)
    run()
    run("late")
    run("interrupted")
    import_beside_another()


main()
