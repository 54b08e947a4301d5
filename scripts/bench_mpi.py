#!/usr/bin/env python3
"""bench_mpi.py FOLDER [options] - whether an MPI program is slower with tutti in front of it than without, after all
was tuned: the 13 collectives whose lengths all ranks know, by the pairs of bench/pairs (docs/benchmarking.md).

    tune        tutti tune, for each number of ranks
    faster      tutti tune --mpi, for each MPI and number of ranks
    pairs       the same program under the MPI alone (a) and with tutti (b), for each MPI and number of ranks

Every step runs in slices and keeps what it has in FOLDER, so it may be ended at any time: the same command goes on.
Exit code: 0: all is done, and no decided point is slower; 1: some are; 2: a step failed; 3: all is done, but a control
failed, so that nothing is known of that comparison; 4: not all is done."""
import argparse
import json
import os
import pathlib
import shlex
import subprocess
import sys
import traceback

HERE = pathlib.Path(__file__).resolve().parent.parent
COLLECTIVES = ("barrier allreduce broadcast allgather reduce-scatter reduce gather scatter all-to-all scan exscan "
               "allgatherv reduce-scatterv").split()
# The launcher's words for tutti tune --mpi; and those of ranks that share cores, which must let each other run, as tutti
# bench has them. MPICH has no such setting: FOLDER's wisdom is only for programs that yield for it, as tutti bench's.
LAUNCH = {"openmpi": ("--allow-run-as-root", "--oversubscribe --mca mpi_yield_when_idle 1"),
          "mpich": ("", "-genv TUNE_YIELD 1")}
ENDED = (124, 137, -15)  # by the time limit of a slice
TRIES = 3  # to measure what other programs disturbed
# All points in one job, once, for a short time: what differs between jobs counts more than what a longer loop tells.
QUICK = ["--rows", "120", "--repeats", "1"]
SECONDS = "0.006"
NOT_DONE, UNKNOWN, SLOWER = 4, 3, 1


def options_of(argv):
    parser = argparse.ArgumentParser(prog="bench_mpi.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--tutti", default=str(HERE / "build/bin/tutti"), help="default %(default)s")
    parser.add_argument("--mpis", default="openmpi,mpich", help="default %(default)s")
    parser.add_argument("--ranks", default="2,4,8", help="default %(default)s")
    parser.add_argument("--sizes", default="8..16M", help="default %(default)s")
    parser.add_argument("--tune", default="600s", help="tutti tune --budget, of each number of ranks (default %(default)s)")
    parser.add_argument("--slice", type=int, default=100, help="seconds of a slice, about (default %(default)s)")
    parser.add_argument("--slices", type=int, default=1 << 30, help="end after so many slices (default: when all is done)")
    parser.add_argument("--alone", default="", metavar="COMMAND", help="runs each slice, such as 'flock /tmp/machine.lock'")
    parser.add_argument("--pairs", default="60", help="maximum number of pairs of a point (default %(default)s)")
    return parser.parse_args(argv)


class Work:
    def __init__(self, options):
        self.options, self.slices = options, 0
        options.folder.mkdir(parents=True, exist_ok=True)
        self.alone = shlex.split(options.alone)
        self.variables = {**os.environ, "TUTTI_WISDOM": str((options.folder / "wisdom.json").resolve()),
                          "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}

    def run(self, name, command, ends_itself):
        """Slices of a step until it is done, or there are no more slices: then None, else its exit code. Its output is
        kept as NAME.txt; of pairs, the last report."""
        done, tries = self.options.folder / f"{name}.done", 1
        limit = [] if ends_itself else ["timeout", str(self.options.slice)]
        while not done.exists():
            if self.slices == self.options.slices:
                return None
            self.slices += 1
            print(f"bench_mpi: slice {self.slices}: {name}", file=sys.stderr, flush=True)
            said = self.options.folder / f"{name}.txt"
            before = 0 if ends_itself or not said.exists() else said.stat().st_size
            with open(said, "a" if before else "w", encoding="utf-8") as out:
                code = subprocess.run([*self.alone, *limit, *command], stdout=out, env=self.variables).returncode
            if code == 0 and not ends_itself and "not kept" in said.read_text()[before:] and tries < TRIES:
                tries, code = tries + 1, NOT_DONE
            if code == 2 or code not in (0, 1, 3, NOT_DONE, *ENDED) or (code == 1 and not ends_itself):
                print(f"bench_mpi: {name} failed with exit code {code}: {shlex.join(map(str, command))}", file=sys.stderr)
                sys.exit(2)
            if code not in (NOT_DONE, *ENDED):
                done.write_text(f"{code}\n")
        return int(done.read_text())

    def steps(self):
        """(name, command, whether it ends by itself when a slice is over)"""
        options = self.options
        cores = len(os.sched_getaffinity(0))
        ranks = [int(word) for word in options.ranks.split(",")]
        for n in ranks:
            yield f"tune-{n}", [options.tutti, "tune", "-n", str(n), "--ranks", str(n), "--budget", options.tune], False
        for mpi in options.mpis.split(","):
            for n in ranks:
                launch = " ".join(LAUNCH[mpi][:2 if n > cores else 1])
                yield f"faster-{mpi}-{n}", [options.tutti, "tune", "--mpi", mpi, "--ranks", str(n), "--budget", options.tune,
                                            "--launch", launch], False
        for n in ranks:
            for mpi in options.mpis.split(","):
                yield f"pairs-{mpi}-{n}", [
                    HERE / "bench/pairs", "--a", options.tutti, "--b", options.tutti, "--library-a", mpi, "--library-b",
                    f"{mpi}+tutti", "--beyond", "3", "--beyond-ns", "60", *QUICK, "--pairs", options.pairs, "--state",
                    options.folder / f"pairs-{mpi}-{n}.state", "--budget", str(options.slice * 0.8), "--json",
                    options.folder / f"pairs-{mpi}-{n}.json", "--", "bench", *COLLECTIVES, "--sizes", options.sizes,
                    "--seconds", SECONDS, "-n", str(n), *(["--apart"] if n > cores else [])], True


def summary(folder):
    """A line for each comparison; of points that are slower or not decided, one each."""
    for path in sorted(folder.glob("pairs-*.json")):
        try:
            told = json.loads(path.read_text())
        except ValueError:  # a slice that was cut off
            continue
        points = told["points"]
        count = {word: sum(point["verdict"]["b"] == word for point in points) for word in ("even", "faster", "slower", "undecided")}
        print(f"{path.stem}: {len(points)} points, {told['rounds']} rounds: " +
              ", ".join(f"{number} {word}" for word, number in count.items()) +
              f"; control {'holds' if told['control']['holds'] else 'does not hold'}")


def main():
    work = Work(options_of(sys.argv[1:]))
    codes = []
    for name, command, ends_itself in work.steps():
        codes.append(work.run(name, command, ends_itself))
        if codes[-1] is None:
            break
    summary(work.options.folder)
    sys.exit(NOT_DONE if codes[-1] is None else SLOWER if SLOWER in codes else UNKNOWN if UNKNOWN in codes else 0)


if __name__ == "__main__":
    try:
        main()
    except Exception:  # Python's own exit code would say that points are slower
        traceback.print_exc()
        sys.exit(2)
