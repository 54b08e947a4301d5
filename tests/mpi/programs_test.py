"""Real programs give the same answers with tutti as without, and nearly all of their collective calls run on tutti.

HPC Challenge, mpi4py and ScaLAPACK's testers come from Debian's packages; what is in programs/ is built here. Each runs
under its MPI alone, then with `tutti mpirun`. What a program measures is cut from its answers. Of what is left, words and
whole numbers have to be equal, other numbers to be within TOLERANCE: the order of sums differs. Residuals are held against
the programs' own thresholds: PASSED is one of the words. Ends with a table.
"""
import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(os.environ["TUTTI_BIN"])
SOURCE = pathlib.Path(os.environ["TUTTI_SOURCE"])
PROGRAMS = SOURCE / "tests/mpi/programs"
LONG = os.environ.get("TUTTI_TEST_LONG") == "1"
RANKS = 4
DEADLINE_S = 240
NATIVE = 0.95
TOLERANCE = 1e-6, 1e-12  # relative, absolute
LAUNCHERS = {"openmpi": "mpirun.openmpi", "mpich": "mpiexec.hydra"}
SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "ASAN_OPTIONS": "detect_leaks=0",
            "OMPI_MCA_rmaps_base_oversubscribe": "1",  # Open MPI 4
            "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe",  # 5
            "OMPI_MCA_mpi_yield_when_idle": "1", "BENCH_YIELD": "1"}
NUMBER = re.compile(r"([-+]?\d+\.?\d*(?:[eE][-+]?\d+)?)")

# prepare(folder): puts input there. answers(folder, output): the lines to compare
Program = collections.namedtuple("Program", "name mpi command prepare answers")
Result = collections.namedtuple("Result", "answers seconds stats")


class Wrong(Exception):
    pass


# ---- programs of our own ----

def no_input(_folder):
    pass


def all_lines(_folder, output):
    return output.splitlines()


def build(mpi, work):
    """C and Fortran, where this MPI has the compiler."""
    for compiler, source, *options in (("mpicc", "poisson.c", "-std=gnu11", "-lm"),
                                       ("mpifort", "fourier.f90", "-fallow-argument-mismatch")):
        name = source.split(".")[0]
        if not shutil.which(f"{compiler}.{mpi}"):
            yield f"{name}, {mpi}: no {compiler}.{mpi}"
            continue
        program = work / f"{name}-{mpi}"
        subprocess.run([f"{compiler}.{mpi}", "-O1", "-g", "-w", "-o", program, PROGRAMS / source, *options], check=True,
                       cwd=work)
        yield Program(name, mpi, [program], no_input, all_lines)


# ---- HPC Challenge ----

HPCC_MEASURED = re.compile(r"(?i)time|flops|gups|gb|usec|exeupdates|stream_(copy|scale|add|triad)")


def prepare_hpcc(folder):
    text = (PROGRAMS / "hpccinf.txt").read_text()
    (folder / "hpccinf.txt").write_text(re.sub(r"(?m)^100(?= +Ns$)", "1000" if LONG else "100", text))


def hpcc_answers(folder, _output):
    """The summary and the lines of checks."""
    lines = (folder / "hpccoutf.txt").read_text().splitlines()
    summary = [line for line in lines if re.match(r"\w+=", line)]
    kept = [line for line in summary if not HPCC_MEASURED.search(line)]
    if "Success=1" not in kept:
        raise Wrong("no Success=1")
    return kept + [line for line in lines if re.search(r"residual checks|Found .* errors|Validates|\.\.\. PASSED", line)]


def hpcc():
    if shutil.which("hpcc"):
        yield Program("hpcc", "openmpi", ["hpcc"], prepare_hpcc, hpcc_answers)
    else:
        yield "hpcc: package hpcc is not installed"


# ---- mpi4py ----

def mpi4py():
    """Debian's package belongs to Debian's Python."""
    python = "/usr/bin/python3"
    if subprocess.run([python, "-c", "import mpi4py"], stderr=subprocess.DEVNULL).returncode:
        yield "mpi4py: package python3-mpi4py is not installed"
    else:
        script = PROGRAMS / "objects.py"
        yield Program("mpi4py", "openmpi", [python, "-B", script, "20" if LONG else "1"], no_input, all_lines)


# ---- ScaLAPACK ----

SCALAPACK_INPUT = pathlib.Path("/usr/share/scalapack")
SOME = {"openmpi": ("xdlu", "xdqr", "xdtrd"), "mpich": ("xdllt", "xdpbllt", "PBLAS/dpb3tst")}  # each once
WORD = re.compile(r"[A-Za-z'*|-]\S*|\d+")


def prepare_scalapack(folder):
    """Without condition estimates in the testers of LU and LLT: those deadlock sometimes under every MPI
    (Reference-ScaLAPACK/scalapack#121)."""
    for path in [*SCALAPACK_INPUT.glob("*.dat"), *SCALAPACK_INPUT.glob("PBLAS/*.dat")]:
        text = path.read_text()
        (folder / path.name).write_text(re.sub(r"(?m)^T(?=\s+\(T or F\) Test Cond)", "F", text))


def scalapack_answers(_folder, output):
    """Words and whole numbers: times, rates and residuals have a point in them."""
    lines = [line for line in output.splitlines() if not line.startswith("Note:")]
    if not any("PASSED" in line.upper() for line in lines):
        raise Wrong("nothing PASSED")
    failed = [line for line in lines if re.search(r"\bFAILED\b|failed to converge", line) and "PASSED" not in line]
    if failed:
        raise Wrong(failed[0])
    return [" ".join(word for word in line.split() if WORD.fullmatch(word)) for line in lines]


def scalapack(mpi):
    """Not the eigenvalue testers x..sep: their residuals change from run to run under every MPI, and then some fail."""
    folder = pathlib.Path("/usr/lib/x86_64-linux-gnu/scalapack") / f"{mpi}-tests"
    if not folder.exists():
        yield f"ScaLAPACK's testers, {mpi}: package scalapack-mpi-test is not installed"
        return
    every = [path for path in [*sorted(folder.glob("x[dz]*")), *sorted(folder.glob("PBLAS/[dz]*tst"))]
             if not path.name.endswith("sep")]
    for path in every if LONG else [folder / name for name in SOME[mpi]]:
        yield Program(path.name, mpi, [path], prepare_scalapack, scalapack_answers)


# ---- running ----

def preloaded(work):
    """What else the ranks have to load: the sanitizer's library, and what lets Debian's MPICH yield."""
    cache = (BIN.parent / "CMakeCache.txt").read_text()
    sanitize = re.search(r"^TUTTI_SANITIZE:\w+=(.*)$", cache, re.MULTILINE)
    if sanitize and "thread" in sanitize[1]:
        sys.exit(77)
    libraries = []
    if sanitize and "address" in sanitize[1]:
        libraries.append(subprocess.check_output(["cc", "-print-file-name=libasan.so"], text=True).strip())
    shim = work / "yield.so"
    subprocess.run(["cc", "-D_GNU_SOURCE", "-shared", "-fPIC", "-O1", "-x", "c", SOURCE / "bench/mpi/yield.h", "-o", shim],
                   check=True)
    return libraries, str(shim)


def command_of(program, tutti, libraries, shim):
    libraries = (libraries if tutti else []) + ([shim] if program.mpi == "mpich" else [])
    preload = ["env", f"LD_PRELOAD={':'.join(libraries)}"] if libraries else []
    ranks = ["-n", str(RANKS)]
    if tutti:
        return [*preload, BIN / "tutti", "mpirun", "--mpi", program.mpi, *ranks, *program.command]
    return [LAUNCHERS[program.mpi], *ranks, *preload, *program.command]


def run(program, work, preload, tutti):
    folder = pathlib.Path(tempfile.mkdtemp(dir=work))
    program.prepare(folder)
    stats = folder / "stats.json"
    command = command_of(program, tutti, *preload)
    environment = {**os.environ, **SETTINGS, "TUTTI_STATS": str(stats)}
    started = time.monotonic()
    ended = subprocess.run(["timeout", "-k", "5", str(DEADLINE_S), *command], cwd=folder, env=environment, text=True,
                           errors="replace", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    seconds = time.monotonic() - started
    try:
        if ended.returncode:
            raise Wrong(f"exit code {ended.returncode} after {seconds:.0f} s\n{ended.stdout[-2000:]}{ended.stderr[-2000:]}")
        return Result(program.answers(folder, ended.stdout), seconds, json.loads(stats.read_text()) if tutti else None)
    except Wrong as wrong:
        raise Wrong(f"{'with tutti' if tutti else 'without tutti'}: {wrong}") from None


# ---- comparing ----

def same_number(a, b):
    if not re.search(r"[.eE]", a + b):
        return a == b
    return abs(float(a) - float(b)) <= max(TOLERANCE[1], TOLERANCE[0] * max(abs(float(a)), abs(float(b))))


def same_line(a, b):
    a, b = NUMBER.split(a), NUMBER.split(b)
    return a[::2] == b[::2] and all(map(same_number, a[1::2], b[1::2]))


def compare(plain, tutti):
    for a, b in zip(plain, tutti):
        if not same_line(a, b):
            raise Wrong(f"plain: {a}\ntutti: {b}")
    if len(plain) != len(tutti):
        raise Wrong(f"{len(plain)} lines of answers, {len(tutti)} with tutti")


def check(program, work, preload):
    """The program's row of the table."""
    plain, tutti = run(program, work, preload, False), run(program, work, preload, True)
    compare(plain.answers, tutti.answers)
    served, passed = tutti.stats["served"], tutti.stats["passed"]
    reasons = collections.Counter()
    for row in tutti.stats["collectives"]:
        for line in row["reasons"]:
            reasons[line["text"]] += line["calls"]
    reasons = [f"{calls}: {text}" for text, calls in reasons.items()]
    if served == 0 or served < NATIVE * (served + passed) or tutti.stats["off"]:
        raise Wrong(f"{served} calls served, {passed} passed through {tutti.stats['off']}\n" + "\n".join(reasons))
    return (f"{program.name:12} {program.mpi:8} {served + passed:9} {100 * served / (served + passed):8.2f}% "
            f"{plain.seconds:7.1f} {tutti.seconds:7.1f}  {'; '.join(reasons)}")


def programs(mpis, work):
    """Programs, and texts of what is missing."""
    if "openmpi" in mpis:
        yield from hpcc()
        yield from mpi4py()
    for mpi in mpis:
        yield from build(mpi, work)
        yield from scalapack(mpi)


def main():
    mpis = [mpi for mpi in LAUNCHERS if (BIN.parent / f"lib/libtutti-{mpi}.so").exists()]
    failures = ran = 0
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        preload = preloaded(work)
        print(f"{'program':12} {'MPI':8} {'calls':>9} {'on tutti':>9} {'plain s':>7} {'tutti s':>7}  passed through")
        for program in programs(mpis, work):
            if isinstance(program, str):
                print(f"skipped      {program}")
                continue
            ran += 1
            try:
                print(check(program, work, preload), flush=True)
            except Wrong as wrong:
                failures += 1
                print(f"FAILED       {program.name}, {program.mpi}: {wrong}", flush=True)
    return 77 if ran == 0 else bool(failures)


sys.exit(main())
