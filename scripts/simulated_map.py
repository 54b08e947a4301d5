#!/usr/bin/env python3
"""Ring or recursive halving between nodes: a heat map by tutti's own simulator, and a classifier that learns it.

    scripts/simulated_map.py measure     docs/simulated_map.csv: modelled times (bench/simulated/map.c)
    scripts/simulated_map.py draw        docs/pictures/simulated_map.svg
    scripts/simulated_map.py learn       trains and tests the classifiers (bench/simulated/learn.c); prints their table

Needs `make`. A cell is a collective on so many nodes, ranks of a node and NICs, with a vector of so many bytes. Inside
nodes both have stars, and ranks of a node share its NICs. Nothing is measured: every run says the same.
"""
import csv
import math
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RESULTS = os.path.join(ROOT, "docs", "simulated_map.csv")
PICTURE = os.path.join(ROOT, "docs", "pictures", "simulated_map.svg")
TESTS = os.path.join(os.environ.get("TUTTI_BIN", os.path.join(ROOT, "build", "bin")), "..", "tests")
COLLECTIVES = ["allreduce", "allgather", "reduce-scatter"]
NODES = [2 ** n for n in range(1, 9)]
LARGE = [1024, 4096, 16384]  # with 8 ranks and 8 NICs a node
PER_NODE = [1, 2, 4, 8]
NICS = [1, 2, 4, 8]  # of these as many as ranks at most
SIZES = [2 ** n for n in range(10, 25)]
FIELDS = ["collective", "nodes", "per_node", "nics", "bytes", "ring_us", "halving_us"]


def run(command, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False, **more)
    if done.returncode != 0:
        sys.exit(f"simulated_map.py: {' '.join(command)}: {done.stderr}")
    return done.stdout


def text_of(size):
    return f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}K"


# ---- times ----

def shapes():
    for nodes in NODES:
        for per_node in PER_NODE:
            yield from ((nodes, per_node, nics) for nics in NICS if nics <= per_node)
    yield from ((nodes, 8, 8) for nodes in LARGE)


def measure():
    with open(RESULTS, "w", encoding="ascii", newline="") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(FIELDS)
        for collective, shape in [(collective, shape) for collective in COLLECTIVES for shape in shapes()]:
            sizes = [size for size in SIZES if size >= shape[0] * shape[1]]  # blocks of one length, for all ranks alike
            said = run([f"{TESTS}/simulated_map", collective, *map(str, shape), *map(str, sizes)])
            out.writerows([collective, *shape, *line.split()] for line in said.splitlines())


def read():
    with open(RESULTS, encoding="ascii", newline="") as file:
        return [{key: value if key == "collective" else float(value) for key, value in row.items()}
                for row in csv.DictReader(file)]


# ---- the picture ----

def color(ring_us, halving_us):
    """Orange where the ring is faster, blue where halving is; full at 4 times."""
    part = max(-1, min(1, math.log2(halving_us / ring_us) / 2))
    full = (217, 95, 2) if part > 0 else (31, 120, 180)
    return "#" + "".join(f"{round(255 + (one - 255) * abs(part)):02x}" for one in full)


def draw_map(rows, left, title):
    cell, top = 26, 58
    ranks = sorted({int(row["nodes"] * row["per_node"]) for row in rows}, reverse=True)
    yield f'<text x="{left}" y="{top - 24}" class="title">{title}</text>'
    for y, count in enumerate(ranks):
        yield f'<text x="{left - 6}" y="{top + y * cell + 17}" text-anchor="end">{count:,}</text>'
    for x, size in enumerate(SIZES):
        if x % 2 == 0:
            yield (f'<text x="{left + x * cell + 13}" y="{top + len(ranks) * cell + 16}" text-anchor="middle">'
                   f'{text_of(size)}</text>')
    for row in rows:
        x, y = SIZES.index(int(row["bytes"])), ranks.index(int(row["nodes"] * row["per_node"]))
        ratio = row["halving_us"] / row["ring_us"]
        shown = f"{ratio:.1f}" if 1 <= ratio < 9.95 else f"{ratio:.0f}" if ratio >= 9.95 else f"{1 / ratio:.1f}"
        shown = f"{1 / ratio:.0f}" if ratio <= 1 / 9.95 else shown
        yield (f'<rect x="{left + x * cell}" y="{top + y * cell}" width="{cell - 1}" height="{cell - 1}" '
               f'fill="{color(row["ring_us"], row["halving_us"])}"/>')
        yield (f'<text x="{left + x * cell + 12.5}" y="{top + y * cell + 16}" text-anchor="middle" class="cell">'
               f'{shown}</text>')


def draw():
    rows = [row for row in read() if row["per_node"] == 8 and row["nics"] == 8]
    parts, width, height = [], 3 * 470, 400
    for n, collective in enumerate(COLLECTIVES):
        parts += draw_map([row for row in rows if row["collective"] == collective], 70 + n * 465, collective)
    with open(PICTURE, "w", encoding="ascii") as file:
        print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
              'font-size="11">', file=file)
        print("<style>.title{font-size:15px;font-weight:bold}.cell{font-size:9px}</style>", file=file)
        print(f'<rect width="{width}" height="{height}" fill="white"/>', file=file)
        print('<text x="10" y="16">ranks (8 a node, 8 NICs) and bytes of the vector. Orange: the ring is so many times '
              'faster; blue: halving is</text>', file=file)
        print("\n".join(parts), "</svg>", sep="\n", file=file)


def learn():
    lines = "".join(f"{row['collective']} {int(row['bytes'])} {int(row['nodes'])} {int(row['per_node'])} {int(row['nics'])} "
                    f"{row['ring_us']} {row['halving_us']}\n" for row in read())
    print(run([f"{TESTS}/simulated_learn"], input=lines), end="")


def main(words):
    if words not in (["measure"], ["draw"], ["learn"]):
        sys.exit(__doc__)
    {"measure": measure, "draw": draw, "learn": learn}[words[0]]()


if __name__ == "__main__":
    main(sys.argv[1:])
