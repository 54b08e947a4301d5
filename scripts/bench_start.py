#!/usr/bin/env python3
"""bench_start.py [TUTTI [WISDOM [only]]] - what tutti costs MPI programs beside their collectives: commands that a rank starts, and the
rank's own start and end. Jobs with tutti and without run in turn, in pairs; of the pairs' differences it prints the mean
and its 95 % confidence interval, for each MPI that is there.

    shell   400 times system("true") in one rank, 5 pairs of jobs: with tutti / without
    start   MPI_Init, an allreduce of 8 bytes and MPI_Finalize with 2 and 8 ranks, 60 pairs: with tutti - without
    wisdom  the same with tutti: with that file of wisdom, which has to be of this machine - without any; `only`: nothing else
"""
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import bench_launch
from bench_launch import alone

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TUTTI = sys.argv[1] if len(sys.argv) > 1 else f"{HERE}/build/bin/tutti"
WISDOM = sys.argv[2] if len(sys.argv) > 2 else None
ONLY = sys.argv[3:] == ["only"]


def microseconds(command):
    return float(subprocess.run(command, env=bench_launch.environment(), check=True, stdout=subprocess.PIPE).stdout)


def pairs(count, without, having):
    """[(without, with)] of two commands; who is first changes."""
    found = []
    for pair in range(count):
        first, second = (without, having) if pair % 2 == 0 else (having, without)
        times = {id(first): microseconds(first), id(second): microseconds(second)}
        found.append((times[id(without)], times[id(having)]))
    return found


def served(mpi, ranks, wisdom, *program):
    return ["env", f"TUTTI_WISDOM={wisdom}", *bench_launch.served(TUTTI, mpi, ranks, *program)]


def say(mpi, what, found):
    print(f"{mpi:8} {what}, ms, mean of {len(found)} pairs:",
          interval([(having - without) / 1e3 for without, having in found]),
          f"median {statistics.median((having - without) / 1e3 for without, having in found):.2f};",
          f"without: median {statistics.median(without for without, _ in found) / 1e3:.2f}", flush=True)


# Of Student's distribution, 95 %, by degrees of freedom.
STUDENT = {4: 2.776, 59: 2.001}


def interval(values):
    half = STUDENT[len(values) - 1] * statistics.stdev(values) / math.sqrt(len(values))
    mean = statistics.mean(values)
    return f"{mean:.2f} ({mean - half:.2f} to {mean + half:.2f})"


def main():
    with tempfile.TemporaryDirectory() as folder:
        for mpi in bench_launch.MPIS:
            if not shutil.which(f"mpicc.{mpi}"):
                continue
            program = f"{folder}/start-{mpi}"
            subprocess.run([f"mpicc.{mpi}", "-O2", "-o", program, f"{HERE}/bench/start/start.c"], check=True)
            if not ONLY:
                shells = pairs(5, alone(mpi, 1, program, "shell", "400"),
                               served(mpi, 1, "off", program, "shell", "400"))
                print(f"{mpi:8} shell            with / without tutti, mean of 5 pairs:",
                      interval([having / without for without, having in shells]), flush=True)
            for ranks in (2, 8):
                if not ONLY:
                    say(mpi, f"start  {ranks} ranks   with - without tutti",
                        pairs(60, alone(mpi, ranks, program), served(mpi, ranks, "off", program)))
                if WISDOM:
                    say(mpi, f"wisdom {ranks} ranks   with - without wisdom",
                        pairs(60, served(mpi, ranks, "off", program), served(mpi, ranks, WISDOM, program)))


main()
