#!/usr/bin/env python3
"""The Python package in jobs of several launchers, and through communicators of mpi4py: programs/joined.py. srun is not
here; what it sets is PMIx or PMI, as mpirun's and mpiexec's."""
import os
import pathlib
import shutil
import socket
import subprocess
import sys

BIN = pathlib.Path(os.environ["TUTTI_BIN"])
PACKAGE = BIN.parent / "lib/python"
PROGRAMS = pathlib.Path(__file__).parent / "programs"
PYTHON = "/usr/bin/python3"
RANKS = 3
OPEN_MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_mpi_yield_when_idle": "1"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


def has(module):
    return subprocess.run([PYTHON, "-c", f"import {module}"], capture_output=True, check=False).returncode == 0


def environment(**more):
    return {**os.environ, **OPEN_MPI, "PYTHONPATH": str(PACKAGE), **more}


def check(what, done):
    assert done.returncode == 0, f"{what}:\n{done.stdout}{done.stderr}"
    assert done.stdout.count("all right") == RANKS, f"{what}:\n{done.stdout}{done.stderr}"
    print(f"{what}: passed")


def run(what, *command, **more):
    check(what, subprocess.run(command, text=True, capture_output=True, timeout=300, env=environment(**more), check=False))


def program(*arguments):
    return [PYTHON, PROGRAMS / "joined.py", str(RANKS), *arguments]


def run_environment():
    """As torchrun, mp.spawn and scripts of clusters set it: no launcher at all."""
    port = free_port()
    ranks = [subprocess.Popen(program(), text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=environment(
        RANK=str(r), WORLD_SIZE=str(RANKS), MASTER_ADDR="127.0.0.1", MASTER_PORT=port)) for r in range(RANKS)]
    outputs = [rank.communicate(timeout=300)[0] for rank in ranks]
    codes = max(rank.returncode for rank in ranks)
    check("RANK, WORLD_SIZE, MASTER_ADDR", subprocess.CompletedProcess(program(), codes, "".join(outputs), ""))


def main():
    if not (PACKAGE / "tutti").exists() or not has("numpy"):
        print("skipped: the Python package is not built here, or there is no numpy")
        sys.exit(77)
    run("tutti run", BIN / "tutti", "run", "-n", str(RANKS), *program())
    for launcher in ("mpirun.openmpi", "mpiexec.hydra"):
        if shutil.which(launcher):
            run(launcher, launcher, "-n", str(RANKS), *program())
        else:
            print(f"there is no {launcher}")
    if has("torch"):
        tee = ["--redirects", "1", "--tee", "1"]  # without them, torch 1.13's own torchrun fails on Python 3.11
        run("torchrun", PYTHON, "-m", "torch.distributed.run", "--nproc_per_node", str(RANKS), "--master_port",
            free_port(), *tee, *program()[1:])
        run_environment()
    else:
        print("there is no torch")
    if not has("mpi4py"):
        print("there is no mpi4py")
        return
    run("mpi4py under mpirun", "mpirun.openmpi", "-n", str(RANKS), *program("mpi4py"))
    if (BIN.parent / "lib/libtutti-openmpi.so").exists():
        run("mpi4py, numpy and torch under tutti mpirun", BIN / "tutti", "mpirun", "-n", str(RANKS), *program("mpi4py"))


main()
