#!/usr/bin/env python3
"""docs/simulated.md's tables and picture, from docs/simulated.csv (scripts/bench_simulated.py measure).

    scripts/simulated_page.py     writes both; of the page, what stands between its marks
"""
import collections
import math
import os
import statistics

import bench_simulated as bench

PAGE = os.path.join(bench.ROOT, "docs", "simulated.md")
PICTURE = os.path.join(bench.ROOT, "docs", "pictures", "simulated.svg")
BEGIN, END = "<!-- tables: scripts/simulated_page.py -->\n", "<!-- end of tables -->\n"
COLORS = {"allreduce": "#1b9e77", "allgather": "#d95f02", "reduce-scatter": "#7570b3", "broadcast": "#e7298a",
          "all-to-all": "#66a61e"}
TIE = 0.98  # of the best: no loss

Point = collections.namedtuple("Point", "key ompi mpich best best_name tutti params next_best algorithms timed")


def text_of(size):
    return f"{size >> 20}M" if size >= 1 << 20 else f"{size >> 10}K"


def us(row):
    return None if row["ns"] == "failed" else int(row["ns"]) / 1000


def point_of(key, rows):
    """None: SimGrid could not play tutti's plan, or SMPI nothing, in time."""
    smpi = {row["name"]: us(row) for row in rows if row["who"] == "smpi"}
    timed = {name: time for name, time in smpi.items() if time is not None}
    chosen = next((row for row in rows if row["who"] == "chosen"), None)
    if not timed or chosen is None or us(chosen) is None:
        return None
    best = min(timed, key=timed.get)
    played = [us(row) for row in rows if row["who"] != "smpi" and us(row) is not None]
    return Point(key, smpi.get("@ompi"), smpi.get("@mpich"), timed[best], best.replace("@", "selector "), us(chosen),
                 chosen["name"], min(played), len(smpi) - len(bench.SELECTORS),
                 sum(name not in bench.SELECTORS for name in timed))


def points():
    groups = {}
    for row in bench.read():
        groups.setdefault((row["machine"], int(row["ranks"]), row["collective"], int(row["bytes"])), []).append(row)
    found = {key: point_of(key, rows) for key, rows in groups.items()}
    order = sorted(found, key=lambda key: (bench.MACHINES.index(key[0]), key[1], list(bench.COLLECTIVES).index(key[2]), key[3]))
    return [found[key] for key in order if found[key]], [key for key in order if not found[key]]


# ---- the tables ----

def shown(value, digits=1):
    return "-" if value is None else f"{value:.{digits}f}"


def ratio(value, point):
    return None if value is None else value / point.tutti


def summary(found):
    yield "| machine | ranks | points | geometric mean: `ompi` | `mpich` | best | 1.2 or more | ties | below 0.98 | least |"
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for machine in bench.MACHINES:
        for ranks in bench.RANKS:
            of = [point for point in found if point.key[:2] == (machine, ranks)]
            if not of:
                continue
            best = [point.best / point.tutti for point in of]
            means = [statistics.geometric_mean([ratio(value, point) for point, value in pairs if value])
                     for pairs in ([(point, point.ompi) for point in of], [(point, point.mpich) for point in of])]
            yield (f"| {machine} | {ranks} | {len(of)} | {means[0]:.2f} | {means[1]:.2f} | {statistics.geometric_mean(best):.2f} | "
                   f"{sum(one >= 1.2 for one in best)} | {sum(TIE <= one <= 1 / TIE for one in best)} | "
                   f"{sum(one < TIE for one in best)} | {min(best):.2f} |")
    long = [point for point in found if point.key[0] == "cluster-4" and point.key[3] >= 65536]
    if long:
        yield ""
        yield (f"With 4 NICs and from 64K on, tutti is at 1.2 times the best or more at "
               f"{sum(point.best / point.tutti >= 1.2 for point in long)} of {len(long)} points.")


def losses(found):
    below = sorted((point for point in found if point.best / point.tutti < TIE), key=lambda point: point.best / point.tutti)
    yield f"{len(below)} of {len(found)} points are below 0.98:" if below else "No point is below 0.98."
    if not below:
        return
    yield ""
    yield "| machine | ranks | collective | bytes | best / tutti | best of SMPI | tutti chose | best / best of tutti's that were played |"
    yield "|---|---|---|---|---|---|---|---|"
    for point in below:
        machine, ranks, collective, size = point.key
        yield (f"| {machine} | {ranks} | {collective} | {text_of(size)} | {point.best / point.tutti:.2f} | `{point.best_name}` | "
               f"`{point.params}` | {point.best / point.next_best:.2f} |")


def all_points(found):
    yield ("| machine | ranks | collective | bytes | `ompi` us | `mpich` us | best us | of | tutti us | `ompi` / tutti | "
           "`mpich` / tutti | best / tutti | tutti's parameters |")
    yield "|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    for point in found:
        machine, ranks, collective, size = point.key
        yield (f"| {machine} | {ranks} | {collective} | {text_of(size)} | {shown(point.ompi)} | {shown(point.mpich)} | "
               f"{point.best:.1f} `{point.best_name}` | {point.timed}/{point.algorithms} | {point.tutti:.1f} | "
               f"{shown(ratio(point.ompi, point), 2)} | {shown(ratio(point.mpich, point), 2)} | "
               f"{point.best / point.tutti:.2f} | `{point.params}` |")


def tables(found, missing):
    yield from summary(found)
    yield "\n### Losses\n"
    yield from losses(found)
    yield "\n### All points\n"
    yield from all_points(found)
    if missing:
        yield "\nNot played, because SimGrid would have taken too long for tutti's plan: " + "; ".join(
            f"{machine}, {ranks} ranks, {collective} {text_of(size)}" for machine, ranks, collective, size in missing) + "."


# ---- the picture ----

LEFT, WIDTH, LEAST, MOST = 210, 760, 0.25, 16


def x_of(value):
    part = math.log(max(LEAST, min(MOST, value)) / LEAST) / math.log(MOST / LEAST)
    return LEFT + part * (WIDTH - LEFT - 20)


def picture(found):
    groups = sorted({(bench.MACHINES.index(point.key[0]), point.key[1], point.key[3]) for point in found})
    height = 60 + 20 * len(groups)
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height + 20}" font-family="sans-serif" '
           'font-size="12">')
    yield f'<rect width="{WIDTH}" height="{height + 20}" fill="white"/>'
    for n, (name, color) in enumerate(COLORS.items()):
        yield f'<circle cx="{LEFT + n * 105}" cy="14" r="5" fill="{color}"/>'
        yield f'<text x="{LEFT + 9 + n * 105}" y="18">{name}</text>'
    for value in (0.25, 0.5, 1, 2, 4, 8, 16):
        yield (f'<line x1="{x_of(value):.1f}" x2="{x_of(value):.1f}" y1="30" y2="{height - 6}" '
               f'stroke="{"black" if value == 1 else "#ddd"}"/>')
        yield f'<text x="{x_of(value):.1f}" y="{height + 8}" text-anchor="middle">{value:g}</text>'
    for n, (machine, ranks, size) in enumerate(groups):
        y = 44 + 20 * n
        yield f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{bench.MACHINES[machine]}, {ranks} ranks, {text_of(size)}</text>'
        for point in found:
            if (point.key[0], point.key[1], point.key[3]) == (bench.MACHINES[machine], ranks, size):
                yield (f'<circle cx="{x_of(point.best / point.tutti):.1f}" cy="{y}" r="5" '
                       f'fill="{COLORS[point.key[2]]}" fill-opacity="0.8"/>')
    yield "</svg>"


def main():
    found, missing = points()
    with open(PICTURE, "w", encoding="ascii") as file:
        print("\n".join(picture(found)), file=file)
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    before, after = page[:page.index(BEGIN) + len(BEGIN)], page[page.index(END):]
    with open(PAGE, "w", encoding="utf-8") as file:
        file.write(before + "\n".join(tables(found, missing)) + "\n" + after)


if __name__ == "__main__":
    main()
