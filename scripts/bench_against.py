#!/usr/bin/env python3
"""bench_against.py BED TUTTI RANKS NICS [SIZE...] - tutti beside the best that other libraries can do, on 4 nodes of
the bed with so many ranks each and so many NICs of 100 Mbit/s; sizes: 64K, 1M, 16M, or some of them. Prints a table in
Markdown.

First one job of each rival finds the best at each point: Open MPI as it comes, with HAN, with each of several sets of
algorithms by hand, and MPICH. Then nine jobs of tutti and of that rival in turn: a composite of Open MPI's algorithms that
were the best at each size, by a file of rules, and others where these are better still."""
import json
import os
import subprocess
import sys
import tempfile

BED, TUTTI, RANKS, NICS = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
TURN = ",".join([str(RANKS)] * 4)
COLLECTIVES = ["allreduce", "broadcast", "allgather", "reduce-scatter"]
SIZES = {"64K": 1 << 16, "1M": 1 << 20, "16M": 1 << 24}
SIZES = {size: SIZES[size] for size in SIZES if size in (sys.argv[5:] or SIZES)}
SECONDS = {"64K": "0.5", "1M": "0.2", "16M": "0"}  # 0: two calls
TUNED = "OMPI_MCA_coll_tuned_"
# Open MPI's numbers of algorithms, and bytes of a broadcast's segment (0: as it comes)
FORCED = {
    "A": {"allreduce": 3, "broadcast": 6, "allgather": 3, "reduce-scatter": 2, "segment": 0},
    "B": {"allreduce": 4, "broadcast": 3, "allgather": 4, "reduce-scatter": 3, "segment": 65536},
    "C": {"allreduce": 6, "broadcast": 9, "allgather": 5, "reduce-scatter": 4, "segment": 65536},
    "D": {"allreduce": 5, "broadcast": 2, "allgather": 2, "reduce-scatter": 1, "segment": 65536},
}
NAMES = {"openmpi": "Open MPI", "mpich": "MPICH", "han": "Open MPI, HAN", "by hand": "Open MPI, by hand"}
IN_RULES = {"allgather": 0, "allreduce": 2, "broadcast": 7, "reduce-scatter": 12}  # Open MPI's numbers of collectives


def forced(of):
    names = {"allreduce": "allreduce", "broadcast": "bcast", "allgather": "allgather", "reduce-scatter": "reduce_scatter"}
    words = [f"{TUNED}{names[c]}_algorithm={of[c]}" for c in COLLECTIVES]
    if of["segment"]:
        words.append(f"{TUNED}bcast_algorithm_segmentsize={of['segment']}")
    return f"env {TUNED}use_dynamic_rules=1 " + " ".join(words)


RIVALS = {
    "openmpi": "openmpi",
    "mpich": "mpich",
    "han": "openmpi:han=env OMPI_MCA_coll_han_priority=100",
    **{name: f"openmpi:{name}={forced(of)}" for name, of in FORCED.items()},
}


def bench(rivals, rounds, collectives, sizes, seconds):
    """{(collective, bytes): the row's times}; a rival's name is without its library's."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [TUTTI, "bench", *collectives, "--apart", "--rate", "100M", "--sizes", ",".join(sizes), "--seconds",
                   seconds, "--rounds", str(rounds), "--launch", f"{BED} mpirun openmpi {4 * RANKS} {TURN}",
                   "--launch-mpich", f"{BED} mpirun mpich {4 * RANKS} {TURN} env BENCH_YIELD=1", "--json", file.name]
        for rival in rivals:
            command += ["--against", rival]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if done.returncode:
            sys.exit(done.stdout)
        rows = json.load(open(file.name))["rows"]
    return {(row["collective"], row["bytes"]): {time["library"].split(":")[-1]: time for time in row["times"]}
            for row in rows}


def best_of(times, among):
    return min((name for name in among if "median_ns" in times.get(name, {})), key=lambda name: times[name]["median_ns"])


def choose(times):
    """The rival to compare with: another one than the forced ones only where it is better by more than noise."""
    by_hand, best = best_of(times, FORCED), best_of(times, RIVALS)
    return best if times[best]["median_ns"] < 0.95 * times[by_hand]["median_ns"] else "by hand"


def write_rules(first, path):
    lines = [str(len(IN_RULES))]
    for collective in IN_RULES:
        lines += [str(IN_RULES[collective]), "1", str(4 * RANKS), str(len(SIZES))]
        for at, size in zip([0, *(4 * size for size in SIZES.values())], SIZES.values()):
            of = FORCED[best_of(first[collective, size], FORCED)]
            lines.append(f"{at} {of[collective]} 0 {of['segment'] if collective == 'broadcast' else 0}")
    with open(path, "w") as file:
        file.write("\n".join(lines) + "\n")


def compare(first, rules):
    """Each point with its rival alone, since others may take ten times as long."""
    rivals = {**RIVALS, "by hand": f"openmpi:by hand=env {TUNED}use_dynamic_rules=1 {TUNED}dynamic_rules_filename={rules}"}
    for size in SIZES:
        chosen = {c: choose(first[c, SIZES[size]]) for c in COLLECTIVES}
        for name in sorted(set(chosen.values())):
            of = [c for c in COLLECTIVES if chosen[c] == name]
            rows = bench([rivals[name]], 9, of, [size], SECONDS[size])
            for collective in of:
                point = collective, SIZES[size]
                print_row(collective, size, name, rows[point], first[point]["openmpi"]["ratio"])


def print_row(collective, size, name, times, default):
    own, rival = times["tutti"], times[name]
    print(f"| {RANKS} | {NICS} | {collective} | {size} | {own['median_ns'] / 1e6:.1f} ms, {own['of_bound']:.2f} | "
          f"{NAMES[name]} | {1 / rival['ratio']:.2f} ({1 / rival['ratio_high']:.3f} to {1 / rival['ratio_low']:.3f}) | "
          f"{default:.1f} |", flush=True)


def main():
    subprocess.run([BED, "down"], check=True)
    subprocess.run([BED, "up", "4", str(NICS), "100mbit"], check=True, stdout=subprocess.DEVNULL)
    first = bench(RIVALS.values(), 1, COLLECTIVES, SIZES, "0")
    print("| ranks a node | NICs | collective | bytes | tutti: time, time / bound | best rival | tutti / best rival | Open MPI / tutti |")
    print("|---|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        rules = os.path.join(folder, "rules")
        write_rules(first, rules)
        compare(first, rules)


main()
