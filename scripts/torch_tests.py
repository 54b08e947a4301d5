#!/usr/bin/python3
"""torch_tests.py [RANKS...] [--only WORDS] - torch's own tests of torch.distributed, which its package brings, with gloo, with
tutti, and with tutti as "gloo" (python -m tutti.torch); then which of them fail with tutti and not with gloo. Ranks: 2 and 4.
--only: tests whose names have WORDS. PYTHONPATH has the package (build/lib/python). Exit code 1: there are such tests.

Tests run in forked processes, each limited to 60 s. With torch 2.6 this needs python3-setuptools."""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

LIMIT = "60"  # seconds of a test
RUNS = {"gloo": ("gloo", []), "tutti": ("tutti", []), "tutti as gloo": ("gloo", ["-m", "tutti.torch"])}
ENDS = ("passed", "skipped", "failed")
# Why a test may fail with a backend that is not gloo.
WORDS = "asserts the words of gloo's error"
NAMES = {
    "test_ddp_logging_data_cpu": "asserts the name or settings of gloo",
    "test_barrier_timeout_full_group": WORDS,
    "test_barrier_timeout_global": WORDS,
    "test_barrier_timeout_group": WORDS,
    "test_monitored_barrier_gloo": WORDS,
    "test_monitored_barrier_gloo_rank_0_timeout": WORDS,
    "test_monitored_barrier_gloo_subgroup": WORDS,
}


def bring_expecttest():
    """Torch's test cases are derived from those of a module that Debian 12 lacks. Nothing of it is used here."""
    try:
        import expecttest  # noqa: F401
    except ImportError:
        module = types.ModuleType("expecttest")
        module.TestCase, module.ACCEPT = unittest.TestCase, False
        sys.modules["expecttest"] = module


class Results(unittest.TestResult):
    """By name: how the test ended, and the end of what it said."""

    def __init__(self):
        super().__init__()
        self.found = {}

    def keep(self, test, end, text=""):
        self.found[test.id().rpartition(".")[2]] = (end, str(text).strip())

    def addSuccess(self, test):
        self.keep(test, "passed")

    def addSkip(self, test, reason):
        self.keep(test, "skipped", reason)

    def addFailure(self, test, error):
        self.keep(test, "failed", error[1])

    addError = addFailure


def run_tests(backend, words, path):
    """In a process of its own: its torch has one backend."""
    bring_expecttest()
    import torch.multiprocessing as mp
    from torch.testing._internal import common_distributed as common

    if backend == "tutti":
        import tutti.torch  # noqa: F401
    for feature in ("ddp", "subgroup", "plugin"):
        common.DistTestCases.backend_feature[feature].add("tutti")
    common.TIMEOUT_DEFAULT = int(LIMIT)
    common.TIMEOUT_OVERRIDE.clear()
    from torch.testing._internal.distributed import distributed_test as shipped

    class Tests(shipped.TestDistBackend, shipped.DistributedTest._DistTestBase):
        def setUp(self):
            super().setUp()
            self._start_processes(mp.get_context("fork").Process)

    suite = unittest.TestSuite(test for test in unittest.defaultTestLoader.loadTestsFromTestCase(Tests) if words in test.id())
    results = Results()
    suite.run(results)
    pathlib.Path(path).write_text(json.dumps(results.found))


def ask(run, ranks, words):
    """{name: (end, text)} of a run."""
    backend, before = RUNS[run]
    with tempfile.TemporaryDirectory() as folder:
        for name in ("barrier", "test_dir", "init_dir"):
            os.mkdir(os.path.join(folder, name))
        path = os.path.join(folder, "found.json")
        print(f"{run}, {ranks} ranks", file=sys.stderr, flush=True)
        with open(os.path.join(folder, "said"), "w+") as said:
            code = subprocess.run(
                [sys.executable, *before, __file__, "--child", backend, path, "--only", words], check=False, stdout=said,
                stderr=subprocess.STDOUT,
                env={**os.environ, "BACKEND": backend, "WORLD_SIZE": str(ranks), "TEMP_DIR": folder,
                     "DISTRIBUTED_TESTS_DEFAULT_TIMEOUT": LIMIT}).returncode
            said.seek(0)
            if code != 0:
                sys.exit(f"torch_tests.py: {run} ended with {code}:\n{said.read()[-4000:]}")
        with open(path) as file:
            return json.load(file)


def last_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line and "Process" not in line]
    return (errors or lines or ["?"])[-1].strip()[:200]


def compare(ranks, words):
    """How many fail with tutti that pass with gloo, but for those that ask for gloo itself."""
    found = {run: ask(run, ranks, words) for run in RUNS}
    print(f"\n{ranks} ranks\n\n| run | " + " | ".join(ENDS) + " |\n|---|---|---|---|")
    for run, of in found.items():
        print(f"| {run} | " + " | ".join(str(sum(end == word for end, _ in of.values())) for word in ENDS) + " |")
    wrong = 0
    for run in list(RUNS)[1:]:
        for name, (end, text) in found[run].items():
            if end == "failed" and found["gloo"].get(name, ("passed",))[0] != "failed":
                wrong += name not in NAMES
                print(f"{run}: {name} fails: {NAMES.get(name) or last_line(text)}")
    sys.stdout.flush()
    return wrong


def main():
    parser = argparse.ArgumentParser(prog="torch_tests.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("ranks", nargs="*", type=int, default=[2, 4])
    parser.add_argument("--only", default="", metavar="WORDS")
    options = parser.parse_args()
    sys.exit(1 if sum(compare(ranks, options.only) for ranks in options.ranks) else 0)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        run_tests(sys.argv[2], sys.argv[5], sys.argv[3])
    else:
        main()
