#!/usr/bin/env python3
"""bench_programs.py [PROGRAM...] [--pairs N] [--pages as-they-are,always] - what the shared heap does to whole programs:
hpcc, LAMMPS, NWChem, ScaLAPACK's testers and mpi4py, those of them that are installed. Jobs of `tutti mpirun` with the heap
and without, in turns; who is first changes.

Prints, for each program and setting of huge pages: the medians of the wall time, the median of the pairs' ratios on / off
(below 1: the heap is faster) with its 95 % interval by the signs of the pairs' order, and the same ratio of the largest
memory of the job's control group (root only). All jobs of a program must give the same answer. --pages always needs root:
the system's setting for anonymous memory is changed, and put back."""
import argparse
import collections
import contextlib
import os
import pathlib
import re
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True
from bench_heap import interval, mean
from bench_launch import environment, served

HERE = pathlib.Path(__file__).resolve().parent.parent
PAGES = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
GROUPS = ((pathlib.Path("/sys/fs/cgroup/memory"), "memory.max_usage_in_bytes"), (pathlib.Path("/sys/fs/cgroup"), "memory.peak"))
SCALAPACK = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack")

# files: {name: text} that the program reads. answer: what must be equal in its output, or in the file `said`
Program = collections.namedtuple("Program", "name mpi ranks command files answer said")

MELT = """units lj
atom_style atomic
lattice fcc 0.8442
region box block 0 20 0 20 0 20
create_box 1 box
create_atoms 1 box
mass 1 1.0
velocity all create 1.44 87287 loop geom
pair_style lj/cut 2.5
pair_coeff 1 1 1.0 1.0 2.5
fix 1 all nve
thermo 50
run 300
"""
WATERS = """start waters
memory total 600 mb
geometry noautosym units angstroms
  O 0.000 0.000 0.117
  H 0.000 0.757 -0.469
  H 0.000 -0.757 -0.469
  O 0.000 0.100 2.950
  H 0.000 0.857 3.536
  H 0.000 -0.657 3.536
  O 2.800 0.100 1.500
  H 2.800 0.857 2.086
  H 2.800 -0.657 2.086
end
basis
  * library 6-31g*
end
dft
  xc b3lyp
  iterations 40
end
task dft energy
"""


def tester(head, sizes, tail):
    """The testers have room for 2 MB a rank, and take 20 sizes at most."""
    numbers = " ".join(map(str, sizes))
    return f"""'ScaLAPACK input file'
'MPI machine'
'out' output file name (if any)
6 device out
{head}{len(sizes)} number of problem sizes
{numbers} M
{numbers} N
{tail}"""


QR = tester("6 number of factorizations\n'QR' 'QL' 'LQ' 'RQ' 'QP' 'TZ' factorizations\n", [400] * 20,
            "1 blocking sizes\n16 MB\n16 NB\n1 grids\n1 P\n2 Q\n5.0 threshold\n")
LU = tester("", [320] * 20, "3 blocking sizes\n8 16 32 NB\n1 NRHS's\n1 NRHS\n1 NBRHS's\n1 NBRHS\n1 grids\n1 P\n2 Q\n1.0 threshold\n"
            "F (T or F) Test Cond\n")
TESTED = r"^WALL.*(PASSED|FAILED)"


def programs():
    hpcc = (HERE / "tests/mpi/programs/hpccinf.txt").read_text()
    hpcc = re.sub(r"(?m)^100(?= +Ns$)", "1200", hpcc)
    yield Program("hpcc", "openmpi", 4, ["hpcc"], {"hpccinf.txt": hpcc}, r"Success=1", "hpccoutf.txt")
    yield Program("lammps", "openmpi", 2, ["lmp", "-in", "melt", "-log", "none"], {"melt": MELT}, r"^ +\d+ +.*$", None)
    yield Program("nwchem", "openmpi", 2, ["nwchem", "waters.nw"], {"waters.nw": WATERS}, r"Total DFT energy = +(-\d+\.\d{6})", None)
    for mpi in ("openmpi", "mpich"):
        yield Program(f"xdqr-{mpi}", mpi, 2, [SCALAPACK / f"{mpi}-tests/xdqr"], {"QR.dat": QR}, TESTED, None)
        yield Program(f"xdlu-{mpi}", mpi, 2, [SCALAPACK / f"{mpi}-tests/xdlu"], {"LU.dat": LU}, TESTED, None)
    yield Program("mpi4py", "openmpi", 2, ["/usr/bin/python3", "-B", HERE / "tests/mpi/programs/objects.py", "80"], {}, r".+", None)


@contextlib.contextmanager
def pages(setting):
    """The system's huge pages for anonymous memory."""
    before = re.search(r"\[(\w+)\]", PAGES.read_text())[1]
    try:
        if setting != "as-they-are":
            PAGES.write_text(setting)
        yield
    finally:
        if setting != "as-they-are":
            PAGES.write_text(before)


@contextlib.contextmanager
def control_group():
    """(a new control group, its file with the largest memory so far), or None where there can be none."""
    root, peak = next(((root, peak) for root, peak in GROUPS if (root / "cgroup.procs").exists()), (None, None))
    group = root and root / f"tutti-bench-{os.getpid()}"
    try:
        group.mkdir()
    except (AttributeError, OSError):
        yield None
        return
    try:
        yield group, group / peak
    finally:
        with contextlib.suppress(OSError):  # a process outlives its launcher
            group.rmdir()


def job(program, command, heap):
    """(seconds, bytes or None, answer)"""
    with tempfile.TemporaryDirectory() as folder, control_group() as group:
        for name, text in program.files.items():
            (pathlib.Path(folder) / name).write_text(text)
        enter = (lambda: (group[0] / "cgroup.procs").write_text(str(os.getpid()))) if group else None
        started = time.monotonic()
        done = subprocess.run(command, cwd=folder, env=environment(TUTTI_HEAP=heap, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"),
                              preexec_fn=enter, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, errors="replace")
        took = time.monotonic() - started
        said = (pathlib.Path(folder) / program.said).read_text() if program.said and not done.returncode else done.stdout
        answer = re.findall(program.answer, said, re.MULTILINE)
        if done.returncode or not answer:
            sys.exit(f"bench_programs: {program.name}, heap {heap}: exit code {done.returncode}\n{said[-1500:]}{done.stderr[-1500:]}")
        return took, int(group[1].read_text()) if group and group[1].exists() else None, answer


def compare(program, options):
    command = served(options.tutti, program.mpi, program.ranks, *program.command)
    off, on, answers = [], [], []
    for pair in range(options.pairs):
        for heap, jobs in [("off", off), ("on", on)][:: 1 if pair % 2 == 0 else -1]:
            jobs.append(job(program, command, heap))
            answers.append(jobs[-1][2])
        print(f"\r{program.name}: {pair + 1} of {options.pairs} pairs", end="", file=sys.stderr, flush=True)
    print("\r\033[K", end="", file=sys.stderr)
    ratios = [b[0] / a[0] for a, b in zip(off, on)]
    memory = [b[1] / a[1] for a, b in zip(off, on) if a[1] and b[1]]
    least, most = interval(ratios)
    same = all(answer == answers[0] for answer in answers)
    print(f"  {program.name:14} {program.ranks} {statistics.median(a[0] for a in off):9.2f} s {statistics.median(b[0] for b in on):9.2f} s"
          f"   {statistics.median(ratios):6.3f}   {least:6.3f} .. {most:6.3f}   "
          f"{statistics.median(memory) if memory else float('nan'):6.2f}   {'the same' if same else 'THEY DIFFER'}", flush=True)
    return statistics.median(ratios), same


def options_of():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="*", help="default: all that are installed")
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--pages", default="as-they-are", help="as-they-are,always (default %(default)s)")
    parser.add_argument("--tutti", default=str(HERE / "build/bin/tutti"))
    return parser.parse_args()


def main():
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # what was changed is put back
    options = options_of()
    all_programs = list(programs())
    unknown = set(options.programs) - {program.name for program in all_programs}
    if unknown:
        sys.exit(f"bench_programs: {', '.join(sorted(unknown))}: there is {', '.join(program.name for program in all_programs)}")
    chosen = [program for program in all_programs if not options.programs or program.name in options.programs]
    good = True
    for setting in options.pages.split(","):
        with pages(setting):
            print(f"huge pages {setting}, {options.pairs} pairs\n"
                  f"  program    ranks    without     heap    ratio   95 % interval      memory   answers")
            told = []
            for program in chosen:
                if not shutil.which(program.command[0]):
                    print(f"  {program.name:14} {program.command[0]} is not installed")
                else:
                    told.append(compare(program, options))
            good = good and all(same for _, same in told)
            if told:
                print(f"  geometric mean {mean([ratio for ratio, _ in told]):33.3f}")
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
