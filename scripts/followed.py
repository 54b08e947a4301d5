#!/usr/bin/env python3
"""followed.py [--files] - which files a reader meets who follows an allreduce of 256 bytes between two ranks of a machine:
how many lines of each file are executed by (a) making a context and a communicator, (b) the first call, (c) one that was
made before. Lines are those that gcov counts.

A file is its name without .c and .h: what a reader has open together. The sets of kernels are one. Each is followed
several times, and the time with the fewest lines is shown: else the rank has waited for the other one. Builds with the
preset `coverage`."""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build/coverage"
RUNS = 5
PHASES = {"create": "making a context and a communicator", "first": "a first allreduce", "warm": "one made before"}


def build():
    subprocess.run(["cmake", "--preset", "coverage"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", BUILD, "--target", "tutti", "followed"], check=True, stdout=subprocess.DEVNULL)


def run(folder):
    environment = {**os.environ, "GCOV_PREFIX": str(folder / "tutti")}
    subprocess.run([BUILD / "bin/tutti", "run", "-n", "2", BUILD / "bin/followed", folder], check=True, env=environment)


def read(folder):
    """{file: {line}} of one phase: those that were executed at least once."""
    lines = collections.defaultdict(set)
    counts = sorted(folder.rglob("*.gcda"))
    for path in counts:  # gcov wants the notes of the compiler beside the counts
        notes = pathlib.Path("/") / path.relative_to(folder).with_suffix(".gcno")
        path.with_suffix(".gcno").symlink_to(notes)
    done = subprocess.run(["gcov", "--stdout", "--json-format", *counts], cwd=folder, check=True, capture_output=True,
                          text=True)
    for document in done.stdout.splitlines():
        for file in json.loads(document)["files"]:
            path = pathlib.Path(file["file"])
            if ROOT / "src" in path.parents:
                lines[str(path.relative_to(ROOT))] |= {line["line_number"] for line in file["lines"] if line["count"]}
    return {file: numbers for file, numbers in lines.items() if numbers}


def count(lines):
    """{unit: lines}"""
    counts = collections.Counter()
    for file, numbers in lines.items():
        name = re.sub(r"kernels_.*", "kernels", str(pathlib.Path(file).with_suffix("")))
        counts[name] += len(numbers)
    return counts


def fewest(of):
    return min(of, key=lambda counts: sum(counts.values()))


def follow():
    """{phase: {unit: lines}}, of rank 0."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        for number in range(RUNS):
            run(folder / str(number))
        return {phase: fewest(count(read(path)) for path in folder.glob(f"*/0/{phase}.*")) for phase in PHASES}


def text_of(unit):
    """Lines of its files, with all that is not executed."""
    pattern = f"{unit}*" if unit.endswith("kernels") else f"{unit}.[chi]*"
    return sum(len(path.read_text().splitlines()) for path in ROOT.glob(pattern) if not path.stem.endswith("_test"))


def by_folder(counts):
    folders = collections.defaultdict(list)
    for unit in sorted(counts):
        folders[str(pathlib.Path(unit).parent)].append(unit)
    return folders


def show(phase, counts, by_file):
    text = sum(map(text_of, counts))
    print(f"{PHASES[phase]}: {sum(counts.values())} lines of {len(counts)} files, which have {text} lines")
    for folder, units in by_folder(counts).items():
        if by_file:
            print("".join(f"  {unit:28}{counts[unit]:6}\n" for unit in units), end="")
        else:
            print(f"  {folder:28}{len(units):4} files{sum(counts[unit] for unit in units):6} lines")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", action="store_true", help="every file of every phase, instead of folders")
    options = parser.parse_args()
    build()
    for phase, counts in follow().items():
        show(phase, counts, options.files or phase == "warm")


if __name__ == "__main__":
    main()
