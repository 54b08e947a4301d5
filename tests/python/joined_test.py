#!/usr/bin/env python3
"""The Python package in jobs of several launchers, and through communicators of mpi4py: programs/joined.py."""
import os
import pathlib
import socket
import subprocess
import sys

sys.dont_write_bytecode = True
from launchers import PROGRAMS, PYTHON, environment, has, of_mpi

BIN = pathlib.Path(os.environ["TUTTI_BIN"])
RANKS = 3


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


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
    if not has("tutti") or not has("numpy"):
        print("skipped: the Python package is not built here, or there is no numpy")
        sys.exit(77)
    run("tutti run", BIN / "tutti", "run", "-n", str(RANKS), *program())
    run("jobs of one of torchrun in a launcher's", BIN / "tutti", "run", "-n", str(RANKS), PYTHON, PROGRAMS / "joined.py", "1",
        RANK="0", WORLD_SIZE="1", MASTER_ADDR="localhost", MASTER_PORT="1", TORCHELASTIC_RUN_ID="none")
    for launcher, command in of_mpi(RANKS).items():
        run(launcher, *command, *program()[1:])
    if has("torch"):
        tee = ["--redirects", "1", "--tee", "1"]  # without them, torch 1.13's own torchrun fails on Python 3.11
        outer = [BIN / "tutti", "run", "-n", "1"]
        for what, start in (("torchrun", []), ("torchrun in a launcher's job", outer)):
            run(what, *start, PYTHON, "-m", "torch.distributed.run", "--nproc_per_node", str(RANKS), "--master_port",
                free_port(), *tee, *program()[1:])
        if has("tutti.torch._torch"):
            run("python -m tutti.torch in a launcher's job", *outer, PYTHON, "-m", "tutti.torch", "--nproc-per-node",
                str(RANKS), *program()[1:])
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
