#!/usr/bin/env python3
"""Builds and tests everything: release, lint, clang, address and undefined sanitizers, and thread sanitizer.

A C test counts each of its cases, a script counts as one. The last line is "N passed, N failed, N skipped". With --long
the tests see TUTTI_TEST_LONG=1 and do more. With --arm64 there is one stage, for 64-bit ARM in an emulator: the last
line also counts the tests that cannot run there, and those before it name them with the reason. With --check [WHAT...]
it is what a person runs between two edits: build/ alone, and there the quick tests, or all that WHAT names: a folder such
as shm or fault, or a regular expression of tests' names.
"""
import os
import pathlib
import re
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).parents[1]
ONCE = "|".join([  # long, and what they run is not compiled with sanitizers, or others run it there, too
    "^mpi/(comm|conform|export|faster|fortran|functions|mpirun|names|programs|start|stats|traps|transport|tune|wrap)$", "^(heap|mutants)/",
    "^system/(bench_launch|bench_mpi|digits|explain|many|media|nodes|pairs|regret|tune|verify_plan)$", "^tune/(bound|space)$", "^conformance/(bits|counts|large|twin)$",
    "^property/pairs$", "^python/(ends|jobs|joined|kills|torch.*|types)$",
])
STAGES = [  # preset, what it is, ctest's choice of tests (None: only build)
    ("release", "release", ["-LE", "lint"]),
    ("release", "lint", ["-L", "lint"]),
    ("clang", "clang, warnings are errors", None),
    ("asan", "address and undefined sanitizers", ["-LE", "lint|cluster", "-E", ONCE]),
    ("tsan", "thread sanitizer", ["-R", "^(transport|exec|job|agree|wait|call|api|boot)/|^python/works$", "-E", "^transport/ucx/jobs$|^exec/table$"]),
]
STARTS_PROGRAMS = "start programs of that processor by name, which the kernel of this machine does not know"
NOT_EMULATED = [  # tests, and why they do not run in an emulator of another processor
    ("^lint/", "read sources and packages, which are the same for every processor"),
    ("^fault/|^conformance/(api|bits|large|outstanding)$|^system/(group|nodes)$",
     "run jobs of processes, which take the emulator seconds each, and end them after a minute"),
    ("^mpi/", "need an MPI for that processor"),
    ("^transport/shm/process$", "looks at descriptors and threads of its processes, of which the emulator has some, too"),
    ("^(golden|cluster)/|^transport/ucx/jobs$", STARTS_PROGRAMS),
    ("^system/(bench(_comms|_launch|_levels)?|compositions|digits|join|launch|machines|many|media|pairs|plan|regret|run|unknown|user_transport"
     "|verify_plan|version|wrap)$",
     STARTS_PROGRAMS),
]
ARM64 = [("arm64", "64-bit ARM, emulated", ["-E", "|".join(pattern for pattern, _ in NOT_EMULATED)])]
LONG = [  # tests that --check leaves out where nothing names them: each takes as long as dozens of others
    "^(cluster|mpi)/", "^conformance/(bits|counts|large|outstanding|twin)$", "^fault/(kill|mismatch|refuse(_apart|_many)?|stop)$",
    "^mutants/(bound|mutants)$", "^property/(execute|pairs)$", "^python/(joined|torch.*)$", "^system/(bench|launch|media|nodes|pairs|regret)$",
    "^transport/(tcp|ucx)/fault$", "^tune/bound$",
]
CASES = re.compile(r"\[  (PASSED|FAILED|SKIPPED) *\] (\d+) test\(s\)")
LISTED = re.compile(r"^ *Test +#\d+: (\S+)$", re.MULTILINE)
SKIPPED_CASE = re.compile(r"^\[  SKIPPED \] (\w+)$", re.MULTILINE)


class Totals:
    def __init__(self):
        self.passed, self.failed, self.skipped, self.left_out = 0, [], [], []
        self.of_group = {}  # {group: {stage: cases that passed}}

    def add_test(self, stage, test):
        """One <testcase> of ctest's report."""
        before = self.passed
        name = f"{stage}: {test.get('name')}"
        status = test.get("status")
        output = test.findtext("system-out") or ""
        cases = {"PASSED": 0, "FAILED": 0, "SKIPPED": 0}
        for word, count in CASES.findall(output):
            cases[word] += int(count)
        self.skipped += [f"{name}: {case}" for case in sorted(set(SKIPPED_CASE.findall(output)))]
        if status == "run":
            self.passed += cases["PASSED"] if sum(cases.values()) else 1
        elif status == "fail":
            self.passed += cases["PASSED"]
            self.failed += [name] * max(1, cases["FAILED"])
        else:
            self.skipped.append(name)
        stages = self.of_group.setdefault(test.get("name").split("/")[0], {})
        stages[stage] = stages.get(stage, 0) + self.passed - before

    def print_groups(self):
        """How many cases passed of each folder, in each stage."""
        stages = [stage for _, stage, choice in STAGES + ARM64 if any(stage in of for of in self.of_group.values())]
        for n, stage in enumerate(stages):
            print("  " + "".join(f"{'|':>12}" for _ in range(n)) + f"{'':11} {stage}")
        for group, of in sorted(self.of_group.items()):
            print(f"  {group:12}" + "".join(f"{of.get(stage, '-'):>12}" for stage in stages))

    def leave_out(self, folder, table):
        """The tests of that build which ctest was told to leave out, with the reasons."""
        for pattern, reason in table:
            self.left_out += [(name, reason) for name in tests_in(folder, "-R", pattern)]

    def print(self):
        print("cases that passed:")
        self.print_groups()
        for name, reason in self.left_out:
            print(f"left out {name}: {reason}")
        print(self.result() + (f", {len(self.left_out)} tests left out" if self.left_out else ""))

    def result(self):
        """Names what was skipped and what has failed; returns the last line."""
        for name in self.skipped:
            print(f"skipped  {name}")
        for name in self.failed:
            print(f"FAILED   {name}")
        return f"{self.passed} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"


def folder_of(preset):
    return ROOT / "build" if preset == "release" else ROOT / "build" / preset


def tests_in(folder, *choice):
    listed = subprocess.run(["ctest", "--test-dir", folder, "-N", *choice], capture_output=True, text=True)
    return LISTED.findall(listed.stdout)


def configure(preset):
    return subprocess.run(["cmake", "--preset", preset], cwd=ROOT, stdout=subprocess.DEVNULL).returncode == 0


def build(preset, *targets):
    chosen = ["--target", *targets] if targets else []
    return subprocess.run(["cmake", "--build", folder_of(preset), *chosen]).returncode == 0


def fixed_addresses(preset):
    """Thread sanitizer of gcc 12 dislikes strongly randomised addresses: without them where that is allowed."""
    prefix = ["setarch", "-R"]
    return prefix if preset == "tsan" and subprocess.run([*prefix, "true"]).returncode == 0 else []


def run_tests(stage, preset, choice, totals):
    report = folder_of(preset) / "report.xml"
    report.unlink(missing_ok=True)
    command = [*fixed_addresses(preset), "ctest", "--test-dir", folder_of(preset), "-j", os.cpu_count() + 3, *choice,
               "--output-on-failure", "--no-tests=ignore", "--test-output-size-passed", 1000000, "--output-junit", report]
    subprocess.run([str(word) for word in command])
    if not report.exists():
        totals.failed.append(f"{stage}: ctest left no report")
        return
    for test in xml.parse(report).getroot().iter("testcase"):
        totals.add_test(stage, test)


def run_stage(preset, stage, choice, totals):
    print(f"== {stage}", flush=True)
    started = time.monotonic()
    if not (configure(preset) and build(preset, *programs_of(tests_in(folder_of(preset), *(choice or []))))):
        totals.failed.append(f"{stage}: build")
    elif choice is None:
        totals.passed += 1
    else:
        run_tests(stage, preset, choice, totals)
    print(f"== {stage}: {time.monotonic() - started:.0f} s", flush=True)


def pattern_of(what, names):
    """Of the tests in that folder, where there is such a folder."""
    folder = f"(^|/){re.escape(what)}/"
    return folder if any(re.search(folder, name) for name in names) else what


def folders_of(names):
    return sorted({os.path.dirname(name) for name in names})


def choose(whats, names):
    """Those that are named, or all that are quick."""
    if not whats:
        return [name for name in names if not any(re.search(pattern, name) for pattern in LONG)]
    patterns = [pattern_of(what, names) for what in whats]
    return [name for name in names if any(re.search(pattern, name) for pattern in patterns)]


def programs_of(names):
    """What has to be built: a test beside the code is one program, and so is python/works; any other may need all of them."""
    beside = all(name == "python/works" or (ROOT / "src" / f"{name}_test.c").exists() for name in names)
    return ["test_" + name.replace("/", "_") for name in names] if beside else []


def prepare():
    """The names of all tests, of new ones too."""
    folder = folder_of("release")
    ready = (folder / "build.ninja").exists() or configure("release")
    return tests_in(folder) if ready and build("release", "build.ninja") else []


def check(whats):
    """Returns the exit code."""
    started, totals = time.monotonic(), Totals()
    names = prepare()
    try:
        chosen = choose(whats, names)
    except re.error as error:
        print(f"WHAT is no folder and no regular expression: {error}: {error.pattern}")
        return 2
    if names and not chosen:
        print(f"no test is named {' or '.join(whats)}; folders are {' '.join(folders_of(names))}")
        return 2
    if not names or not build("release", *programs_of(chosen)):
        totals.failed.append("check: build")
    else:
        run_tests("check", "release", ["--no-label-summary", "-R", f"^({'|'.join(chosen)})$"], totals)
    print(f"{totals.result()} in {time.monotonic() - started:.0f} s")
    if not whats and names:
        say_left_out(sorted(set(names) - set(chosen)))
    return int(bool(totals.failed))


def say_left_out(names):
    print(f"{len(names)} long tests were left out, of {', '.join(folders_of(names))}: make check WHAT=FOLDER runs those of "
          "a folder, make test all")


def main():
    if "--check" in sys.argv:
        return check(" ".join(word for word in sys.argv[1:] if word != "--check").split())
    os.environ.setdefault("UBSAN_OPTIONS", "print_stacktrace=1")
    if "--long" in sys.argv:
        os.environ["TUTTI_TEST_LONG"] = "1"
    totals = Totals()
    emulated = "--arm64" in sys.argv
    for preset, stage, choice in ARM64 if emulated else STAGES:
        run_stage(preset, stage, choice, totals)
    if emulated:
        totals.leave_out(folder_of("arm64"), NOT_EMULATED)
    totals.print()
    return bool(totals.failed)


if __name__ == "__main__":
    sys.exit(main())
