#!/usr/bin/env python3
"""bench_heap.py [--ranks N,...] [--mpis openmpi,mpich] [--modes kept,static,fresh,middle,late] [--pairs N] [--against] - what
`tutti mpirun --shared-heap` gains: the same MPI program with the heap and without, jobs in turns, who is first changes.

Prints, for each collective and length, the median of the pairs' ratios, off / on (above 1: the heap is faster), and its
95 % interval by the signs of the pairs' order; for each collective and all the geometric mean. --against: the MPI alone instead
of tutti without the heap. bench/mpi/heap.c says what the modes are."""
import argparse
import math
import pathlib
import statistics
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
from bench_launch import alone, environment, served

HERE = pathlib.Path(__file__).resolve().parent.parent


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", default="2,4")
    parser.add_argument("--mpis", default="openmpi,mpich")
    parser.add_argument("--modes", default="kept")
    parser.add_argument("--pairs", type=int, default=9)
    parser.add_argument("--rounds", default="5", help="of a job")
    parser.add_argument("--against", action="store_true")
    parser.add_argument("--tutti", default=str(HERE / "build/bin/tutti"))
    return parser.parse_args()


def job(command, **variables):
    """{(collective, bytes): us}"""
    done = subprocess.run(command, env=environment(**variables), check=True, stdout=subprocess.PIPE, text=True)
    return {(name, int(size)): float(us) for name, size, us in (line.split() for line in done.stdout.splitlines())}


def pairs(options, mpi, ranks, program, mode):
    """[(off, on)]"""
    words = (mpi, ranks, program, mode, options.rounds)
    tutti = served(options.tutti, *words)
    without = alone(*words) if options.against else tutti
    heap = "statics" if mode == "static" else "on"
    found = []
    for pair in range(options.pairs):
        jobs = [("off", lambda: job(without)), ("on", lambda: job(tutti, TUTTI_HEAP=heap))]
        took = {name: run() for name, run in (jobs if pair % 2 == 0 else jobs[::-1])}
        found.append((took["off"], took["on"]))
        print(f"\r{mpi} {ranks} ranks, {mode}: {pair + 1} of {options.pairs} pairs", end="", file=sys.stderr, flush=True)
    print("\r\033[K", end="", file=sys.stderr)
    return found


def interval(ratios):
    """Of the median, 95 % or a little more, by order statistics; of few pairs the least and the most."""
    ratios, count = sorted(ratios), len(ratios)
    cut, below = 0, 0.5 ** count
    while count > 5 and below + math.comb(count, cut + 1) * 0.5 ** count < 0.025:
        cut += 1
        below += math.comb(count, cut) * 0.5 ** count
    return ratios[cut], ratios[count - 1 - cut]


def mean(ratios):
    return math.exp(statistics.fmean(map(math.log, ratios)))


def say(found):
    medians = {}
    for key in found[0][0]:
        ratios = [off[key] / on[key] for off, on in found]
        medians[key] = statistics.median(ratios)
        least, most = interval(ratios)
        print(f"  {key[0]:15} {key[1]:>9}   {statistics.median(off[key] for off, _ in found):10.1f} us"
              f"   {statistics.median(on[key] for _, on in found):10.1f} us   {medians[key]:6.2f}   {least:5.2f} .. {most:5.2f}"
              f"{'   slower' if most < 0.97 else ''}")
    for name in dict.fromkeys(name for name, _ in medians):
        print(f"  {name:15} geometric mean {mean([value for key, value in medians.items() if key[0] == name]):38.2f}")
    print(f"  all             geometric mean {mean(list(medians.values())):38.2f}", flush=True)


def main():
    options = options_of()
    with tempfile.TemporaryDirectory() as work:
        for mpi in options.mpis.split(","):
            program = f"{work}/heap-{mpi}"
            subprocess.run([f"mpicc.{mpi}", "-O2", "-o", program, HERE / "bench/mpi/heap.c"], check=True)
            for ranks in options.ranks.split(","):
                for mode in options.modes.split(","):
                    found = pairs(options, mpi, ranks, program, mode)
                    off = "the MPI alone" if options.against else "tutti without"
                    print(f"{mpi}, {ranks} ranks, {mode}: {off}, tutti with the heap, ratio, 95 % interval of {options.pairs} pairs")
                    say(found)


if __name__ == "__main__":
    main()
