#!/usr/bin/env python3
"""tutti's plans beside the collectives of SMPI, SimGrid's MPI: one simulator, the same machines, the same messages.

    scripts/bench_simulated.py check                                    that both sides take the same time for the same
    scripts/bench_simulated.py measure [RANKS [MACHINE [COLLECTIVE]]]   adds to docs/simulated.csv what it lacks

Needs libsimgrid-dev, and `make` with it. docs/simulated.md says what is compared; simulated_page.py writes its tables.
What crashes, or takes more than LIMIT_S of the processor, is in the file as "failed". A row is a call on all ranks; the
file gets those of a machine, a number of ranks and a collective at once, when all are done.
"""
import csv
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "docs", "simulated.csv")
PLANS = os.path.join(os.environ.get("TUTTI_BIN", os.path.join(ROOT, "build", "bin")), "..", "tests", "simulated_plans")
MACHINES = ["cluster-4", "fat-tree", "dragonfly"]
RANKS = [64, 256, 1024]
SIZES = [4 << 10, 64 << 10, 1 << 20, 16 << 20]
CANDIDATES = 3  # that are played, of all that src/sim has a time for
LIMIT_S = 6
PROTOCOLS = [1 << 30, 8192]  # bytes below which messages set off when they are sent; plans.c has the same
COLLECTIVES = {  # tutti's name: SMPI's
    "allreduce": "allreduce", "allgather": "allgather", "reduce-scatter": "reduce_scatter", "broadcast": "bcast",
    "all-to-all": "alltoall"}
# The same rates as src/sim has: no corrections for TCP, no time for what is not in the model.
OPTIONS = ["network/model:CM02", "network/bandwidth-factor:1", "network/latency-factor:1", "network/weight-S:0",
           "network/TCP-gamma:0", "network/crosstraffic:0", "network/loopback-lat:0", "contexts/stack-size:256",
           "smpi/simulate-computation:no", "smpi/test:0", "smpi/iprobe:0"]
FIELDS = ["machine", "ranks", "collective", "bytes", "who", "name", "model_ns", "ns"]
# Not algorithms: other libraries' selectors, and one that runs all algorithms.
NO_ALGORITHMS = {"ompi", "mpich", "mvapich2", "impi", "automatic"}
SELECTORS = ["@ompi", "@mpich"]
# The same algorithm: SMPI's name, tutti's parameters.
SAME = [("allreduce", "lr", "ring allgather[core:chain,reflect]"), ("allreduce", "rdb", "recursive-doubling"),
        ("allgather", "NTSLR", "ring"), ("allgather", "rdb", "recursive-doubling"),
        ("broadcast", "binomial_tree", "binomial"), ("all-to-all", "basic_linear", "linear")]
SAME_WITHIN = 0.01  # the median


def run(command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **more)


# ---- SMPI ----

def smpirun(folder, ranks, options, words):
    configuration = [f"--cfg={option}" for option in OPTIONS + options]
    return run(["smpirun", "-no-privatize", "-np", str(ranks), "-platform", f"{folder}/on.xml", "-hostfile",
                f"{folder}/on.hosts", "--log=root.thres:critical", *configuration, f"{folder}/mpi", *words])


def prepare(folder, machine, ranks):
    """The machine's files, and ns a byte combined."""
    if not os.path.exists(f"{folder}/mpi"):
        subprocess.run(["smpicxx", "-std=c++17", "-O2", f"{ROOT}/bench/simulated/mpi.cc", "-o", f"{folder}/mpi"],
                       check=True)
    done = run([PLANS, "--platform", machine, str(ranks), f"{folder}/on"])
    if done.returncode != 0:
        sys.exit(f"bench_simulated.py: {done.stderr}")
    return done.stdout.strip()


def algorithms(folder, collective):
    """SMPI names them where it is asked for one that it has not."""
    said = smpirun(folder, 1, [f"smpi/{COLLECTIVES[collective]}:?"], []).stderr
    found = re.search(r"Valid algorithms: (.*)\.", said)
    if not found:
        sys.exit(f"bench_simulated.py: smpirun names no algorithms for {collective}:\n{said}")
    return [name for name in found[1].split(", ") if name not in NO_ALGORITHMS]


def smpi_times(folder, ranks, gamma, jobs):
    """{(collective, algorithm, bytes): [ns, one for each protocol]}; jobs: (collective, algorithm, lengths)"""
    times = {}
    with open(f"{folder}/jobs", "w", encoding="ascii") as file:
        for collective, name, lengths in jobs:
            print(collective, name, *lengths, file=file)
    for eager in PROTOCOLS:
        options = [f"smpi/send-is-detached-thresh:{eager}", f"smpi/async-small-thresh:{eager}"]
        done = smpirun(folder, ranks, options, [gamma, str(eager), str(LIMIT_S), f"{folder}/jobs"])
        for line in done.stdout.splitlines():
            words = line.split()
            if len(words) == 4:
                times.setdefault((words[0], words[1], int(words[2])), []).append(int(words[3]))
    return times


def smpi_rows(folder, ranks, gamma, collective):
    names = SELECTORS + algorithms(folder, collective)
    times = smpi_times(folder, ranks, gamma, [(collective, name, SIZES) for name in names])
    for size in SIZES:
        for name in names:
            found = times.get((collective, name, size))
            yield [collective, size, "smpi", name, "", min(found) if found else "failed"]


# ---- tutti ----

def plan_rows(machine, ranks, collective):
    done = run([PLANS, machine, str(ranks), str(CANDIDATES), collective, *map(str, SIZES)])
    if done.returncode != 0:
        sys.exit(f"bench_simulated.py: {done.stderr}")
    for line in done.stdout.splitlines():
        name, size, ns, kind, model_ns, params = line.split(" ", 5)
        yield [name, size, kind, params, model_ns, ns]


def measure(words):
    counts = [int(words[0])] if words else RANKS
    machines = words[1:2] or MACHINES
    collectives = words[2:3] or list(COLLECTIVES)
    done = {(row["machine"], row["ranks"], row["collective"]) for row in read()}
    with tempfile.TemporaryDirectory() as folder:
        for ranks, machine in [(ranks, machine) for ranks in counts for machine in machines]:
            for collective in collectives:
                if (machine, str(ranks), collective) not in done:
                    gamma = prepare(folder, machine, ranks)
                    add([[machine, ranks, *row] for row in [*plan_rows(machine, ranks, collective),
                                                            *smpi_rows(folder, ranks, gamma, collective)]])


def add(rows):
    known = os.path.exists(RESULTS)
    with open(RESULTS, "a", encoding="ascii", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows if known else [FIELDS, *rows])


def read():
    if not os.path.exists(RESULTS):
        return []
    with open(RESULTS, encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


# ---- the same on both sides ----

def check():
    ranks, lengths, differences = 64, [64 << 10, 1 << 20], []
    print(f"{'machine':10} {'collective':11} {'SMPI':14} {'tutti':34} {'bytes':>8} {'SMPI us':>10} {'tutti us':>10} "
          f"{'difference':>10}")
    with tempfile.TemporaryDirectory() as folder:
        for machine in MACHINES:
            gamma = prepare(folder, machine, ranks)
            theirs = smpi_times(folder, ranks, gamma, [(collective, name, lengths) for collective, name, _ in SAME])
            for (collective, name, params), size in [(same, size) for same in SAME for size in lengths]:
                done = run([PLANS, "--play", machine, str(ranks), collective, str(size), params])
                smpi_ns = min(theirs[collective, name, size])
                tutti_ns = min(int(ns) for ns in done.stdout.split()[1:])
                differences.append(100 * (tutti_ns / smpi_ns - 1))
                print(f"{machine:10} {collective:11} {name:14} {params:34} {size:8} {smpi_ns / 1000:10.2f} "
                      f"{tutti_ns / 1000:10.2f} {differences[-1]:+9.2f}%")
    median = statistics.median(map(abs, differences))
    print(f"{len(differences)} rows, median difference {median:.2f} %, most {max(map(abs, differences)):.2f} %")
    return median < 100 * SAME_WITHIN


def main(words):
    if words == ["check"]:
        sys.exit(0 if check() else 1)
    elif words[:1] == ["measure"]:
        measure(words[1:])
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main(sys.argv[1:])
