#!/usr/bin/env python3
"""bench_comms.py [ROUNDS [COUNT]] - what communicators cost MPI programs, with tutti and without, and natively.

For each MPI that was built, with 2, 4 and 8 ranks: jobs of bench/mpi/comms.c in turn, the MPI alone and with
tutti; medians over the jobs of each and of what they differ by in a turn, in us. Then bench/comms.c. Other work on the machine makes
all of it longer, so its load is printed."""
import os
import statistics
import subprocess
import sys

BUILD = os.path.join(os.path.dirname(__file__), "..", "build")
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 9
COUNT = sys.argv[2] if len(sys.argv) > 2 else "300"
# Ranks share cores: both MPIs yield, as far as they can.
LAUNCH = {"openmpi": ["mpirun.openmpi", "--oversubscribe", "--mca", "mpi_yield_when_idle", "1"],
          "mpich": ["mpiexec.hydra"]}
ENVIRONMENT = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def times(mpi, ranks, tutti):
    """{what: us} of one job."""
    preload = ["env", f"LD_PRELOAD={BUILD}/lib/libtutti-{mpi}.so"] if tutti else []
    command = [*LAUNCH[mpi], "-n", str(ranks), *preload, f"{BUILD}/libexec/tutti/comms-{mpi}", COUNT]
    done = subprocess.run(command, stdout=subprocess.PIPE, env=os.environ | ENVIRONMENT, text=True, check=True)
    return {name: float(value) for name, value in (line.split() for line in done.stdout.splitlines())}


def compare(mpi, ranks):
    turns = [(times(mpi, ranks, False), times(mpi, ranks, True)) for _ in range(ROUNDS)]
    for name in turns[0][0]:
        alone, tutti, more = (statistics.median(value(*turn) for turn in turns) for value in (
            lambda a, b: a[name], lambda a, b: b[name], lambda a, b: b[name] - a[name]))
        print(f"{mpi:8} {ranks:5} {name:12} {alone:9.2f} {tutti:9.2f} {more:9.2f}")


def main():
    print(f"load {os.getloadavg()[0]:.2f}\n{'MPI':8} {'ranks':>5} {'':12} {'alone':>9} {'tutti':>9} {'more':>9}")
    for mpi in LAUNCH:
        for ranks in (2, 4, 8) if mpi == "openmpi" else (2,):  # MPICH's ranks do not yield
            if os.path.exists(f"{BUILD}/libexec/tutti/comms-{mpi}"):
                compare(mpi, ranks)
    for ranks in (2, 4):
        subprocess.run([f"{BUILD}/bin/tutti", "run", "-n", str(ranks), f"{BUILD}/bin/bench_comms"], check=True)
    print(f"load {os.getloadavg()[0]:.2f}")


main()
