#!/usr/bin/env python3
"""The Python package in jobs of 1 to 4 ranks: every collective, errors, waiting, decisions, the examples of docstrings."""
import os
import pathlib
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ["TUTTI_BIN"])
PACKAGE = BIN.parent / "lib/python"
PROGRAMS = pathlib.Path(__file__).parent / "programs"
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples/python"
PYTHON = "/usr/bin/python3"  # the system's, for which python3-dev and python3-numpy are
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE)}


def skip(why):
    print(f"skipped: {why}")
    sys.exit(77)


def run(ranks, program, *arguments, **settings):
    result = subprocess.run([BIN / "tutti", "run", "-n", str(ranks), PYTHON, PROGRAMS / program, *arguments], text=True,
                            capture_output=True, timeout=300, env={**ENVIRONMENT, **settings}, check=False)
    assert result.returncode == 0, f"{program} with {ranks} ranks, {settings}:\n{result.stdout}{result.stderr}"
    assert result.stdout.count("all right") == ranks, result.stdout + result.stderr


def test_collectives():
    for ranks in (1, 2, 3, 4):
        run(ranks, "collectives.py", "25")
    run(3, "collectives.py", "10", TUTTI_PROGRESS="thread")
    run(4, "collectives.py", "10", TUTTI_GROUPS="2x2", TUTTI_NODES="2x2")


def test_heat():
    """The same heat however many ranks there are, to the last bit where there are as many."""
    said = set()
    for ranks in (1, 2, 4):
        for _ in range(2):
            result = subprocess.run([BIN / "tutti", "run", "-n", str(ranks), PYTHON, EXAMPLES / "heat.py", "100"],
                                    text=True, capture_output=True, timeout=100, env=ENVIRONMENT, check=False)
            assert result.returncode == 0 and not result.stderr, result.stdout + result.stderr
            said.add(result.stdout.partition(" ranks: ")[2])
    assert len(said) == 1, said


def test_errors():
    for ranks in (1, 2, 3):
        run(ranks, "errors.py")


def test_waiting():
    for ranks in (1, 2, 3):
        run(ranks, "waiting.py")
    run(3, "waiting.py", TUTTI_NODES="1,2")


def test_decisions():
    run(1, "decisions.py")
    run(4, "decisions.py", TUTTI_GROUPS="2x2")


def test_command():
    """python3 -m tutti is the command; of another version, or none, it says so."""
    said = subprocess.run([PYTHON, "-m", "tutti", "--version"], env=ENVIRONMENT, capture_output=True, text=True, check=True)
    assert said.stdout.startswith("tutti "), said.stdout
    asks = "import tutti._command as c; c._places = lambda: []; import tutti; tutti.plan('allreduce', 4)"
    said = subprocess.run([PYTHON, "-c", asks], env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert "UnsupportedError: the command tutti 0" in said.stderr, said.stderr


def test_command_of_a_prefix():
    """The package and the command of one prefix belong together, whatever is in PATH."""
    with tempfile.TemporaryDirectory() as name:
        prefix, packages = pathlib.Path(name), pathlib.Path(name, "lib/python3/dist-packages")
        packages.mkdir(parents=True)
        (prefix / "bin").mkdir()
        (packages / "tutti").symlink_to(PACKAGE / "tutti")
        (prefix / "bin/tutti").symlink_to(BIN / "tutti")
        asks = "import tutti._command; print(tutti._command.path())"
        said = subprocess.run([PYTHON, "-c", asks], env={**ENVIRONMENT, "PYTHONPATH": str(packages)}, capture_output=True, text=True,
                              check=False)
        assert said.stdout.strip() == str(prefix / "bin/tutti"), said.stdout + said.stderr


def test_forks():
    for ranks in (1, 2):
        run(ranks, "forks.py")


def test_arrays():
    run(1, "arrays.py")
    run(3, "arrays.py")
    run(2, "arrays.py", TUTTI_PROGRESS="thread")


def test_examples():
    run(2, "docstrings.py")
    run(2, "typed.py")


def test_arrays_of_others():
    for ranks in (1, 3):
        run(ranks, "shared.py")


def main():
    if not (PACKAGE / "tutti").exists():
        skip("the Python package is not built here")
    if subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True, check=False).returncode != 0:
        skip("there is no numpy (python3-numpy)")
    for test in (test_collectives, test_errors, test_waiting, test_heat, test_decisions, test_command, test_command_of_a_prefix,
                 test_forks, test_arrays, test_examples, test_arrays_of_others):
        test()
        print(f"{test.__name__}: passed")


main()
