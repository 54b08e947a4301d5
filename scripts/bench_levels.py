#!/usr/bin/env python3
"""bench_levels.py BED TUTTI SVG - what each step of a composition brings, on 4 nodes of 4 ranks with 4 NICs each, as in
HiCCL's figure 8: flat, then by levels, then striped over ranks and NICs, then as a pipelined ring. Prints a table in
Markdown and draws a chart of throughput, as a share of what the links allow."""
import json
import subprocess
import sys
import tempfile

BED, TUTTI, SVG = sys.argv[1:]
STEPS = [
    ("flat", "linear"),
    ("+ hierarchy", "[node:star/core:star] stripe=1"),
    ("+ striping", "[node:star/core:star] stripe=all"),
    ("+ ring, pipeline", "[node:chain/core:star] stripe=all slice=64K"),
]
FORMS = {"allreduce": "form=allgather.reduce-scatter "}
COLLECTIVES = ["broadcast", "reduce", "allgather", "reduce-scatter", "allreduce", "all-to-all"]
COLORS = ["#c9ced6", "#8fb3d9", "#4a86c5", "#1b4f8f"]


def measure(collective, params):
    """Time of a call of 16 MB in ms, and time / bound."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        command = [BED, "mpirun", "openmpi", "16", "4,4,4,4", TUTTI, "bench", collective, "--params", params, "--apart",
                   "--rate", "100M", "--sizes", "16M", "--seconds", "1", "--json", file.name]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=600)
        if done.returncode:
            return None, done.stdout.strip().split("\n")[-1]
        own = json.load(open(file.name))["rows"][0]["times"][0]
        return own["median_ns"] / 1e6, own["of_bound"]


def draw(results):
    bar, gap, height, left = 22, 26, 240, 50
    group = bar * len(STEPS) + gap
    width = left + group * len(results) + 10
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 90}" font-family="sans-serif" '
           'font-size="12">', f'<rect width="{width}" height="{height + 90}" fill="white"/>']
    for share in (0, 25, 50, 75, 100):
        y = 30 + height - height * share / 100
        out.append(f'<line x1="{left}" x2="{width - 10}" y1="{y}" y2="{y}" stroke="#ddd"/>'
                   f'<text x="{left - 6}" y="{y + 4}" text-anchor="end">{share} %</text>')
    for n, (collective, row) in enumerate(results):
        for s, (_, of_bound) in enumerate(row):
            share = 100 / of_bound if isinstance(of_bound, float) else 0
            x, y = left + gap / 2 + n * group + s * bar, 30 + height - height * share / 100
            out.append(f'<rect x="{x}" y="{y:.1f}" width="{bar - 3}" height="{height * share / 100:.1f}" fill="{COLORS[s]}">'
                       f'<title>{collective}, {STEPS[s][0]}: {share:.0f} %</title></rect>')
        out.append(f'<text x="{left + n * group + group / 2}" y="{height + 48}" text-anchor="middle">{collective}</text>')
    for s, (name, _) in enumerate(STEPS):
        out.append(f'<rect x="{left + s * 140}" y="{height + 64}" width="12" height="12" fill="{COLORS[s]}"/>'
                   f'<text x="{left + 18 + s * 140}" y="{height + 74}">{name}</text>')
    out.append('<text x="10" y="18">throughput of 16 MB calls, share of what the links allow</text></svg>')
    with open(SVG, "w") as file:
        file.write("\n".join(out) + "\n")


def main():
    print("| collective | " + " | ".join(name for name, _ in STEPS) + " |")
    print("|---|" + "---|" * len(STEPS), flush=True)
    results = []
    for collective in COLLECTIVES:
        row = [measure(collective, FORMS.get(collective, "") + params) for _, params in STEPS]
        cells = [f"{ms:.0f} ms, {of:.2f}" if ms else str(of) for ms, of in row]
        print(f"| {collective} | " + " | ".join(cells) + " |", flush=True)
        results.append((collective, row))
    draw(results)


main()
