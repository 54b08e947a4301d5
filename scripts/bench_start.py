#!/usr/bin/env python3
"""bench_start.py [TUTTI] - what tutti costs MPI programs beside their collectives: commands that a rank starts, and the
rank's own start and end. Jobs with tutti and without run in turn, in pairs; of the pairs' differences it prints the mean
and its 95 % confidence interval, for each MPI that is there.

    shell   400 times system("true") in one rank, 5 pairs of jobs: with tutti / without
    start   MPI_Init, an allreduce of 8 bytes and MPI_Finalize with 2 and 8 ranks, 60 pairs: with tutti - without
"""
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TUTTI = sys.argv[1] if len(sys.argv) > 1 else f"{HERE}/build/bin/tutti"
ALONE = {"openmpi": ["mpirun.openmpi", "--mca", "mpi_yield_when_idle", "1"], "mpich": ["mpiexec.hydra"]}
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1"}


def microseconds(command):
    return float(subprocess.run(command, env={**os.environ, **SETTINGS}, check=True, stdout=subprocess.PIPE).stdout)


def pairs(mpi, ranks, count, *program):
    """[(without tutti, with tutti)]; who is first changes."""
    alone = [*ALONE[mpi], "-n", str(ranks), *program]
    served = [TUTTI, "mpirun", "--mpi", mpi, "--mpirun", ALONE[mpi][0], *alone[1:]]
    found = []
    for pair in range(count):
        first, second = (alone, served) if pair % 2 == 0 else (served, alone)
        times = {id(first): microseconds(first), id(second): microseconds(second)}
        found.append((times[id(alone)], times[id(served)]))
    return found


# Of Student's distribution, 95 %, by degrees of freedom.
STUDENT = {4: 2.776, 59: 2.001}


def interval(values):
    half = STUDENT[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))
    mean = statistics.mean(values)
    return f"{mean:.2f} ({mean - half:.2f} to {mean + half:.2f})"


def main():
    with tempfile.TemporaryDirectory() as folder:
        for mpi in ALONE:
            if not shutil.which(f"mpicc.{mpi}"):
                continue
            program = f"{folder}/start-{mpi}"
            subprocess.run([f"mpicc.{mpi}", "-O2", "-o", program, f"{HERE}/bench/start/start.c"], check=True)
            shells = pairs(mpi, 1, 5, program, "shell", "400")
            print(f"{mpi:8} shell            with / without tutti, mean of 5 pairs:",
                  interval([served / alone for alone, served in shells]), flush=True)
            for ranks in (2, 8):
                starts = pairs(mpi, ranks, 60, program)
                print(f"{mpi:8} start  {ranks} ranks   with - without tutti, ms, mean of 60 pairs:",
                      interval([(served - alone) / 1e3 for alone, served in starts]),
                      f"median {statistics.median((served - alone) / 1e3 for alone, served in starts):.2f};",
                      f"without: median {statistics.median(alone for alone, _ in starts) / 1e3:.2f}", flush=True)


main()
