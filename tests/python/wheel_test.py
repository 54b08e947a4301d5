#!/usr/bin/env python3
"""The recipe of docs/python.md: a fresh virtual environment, pip without a network, and jobs that run with what is in it.
It compiles everything once more, so it runs with `make test-long` only."""
import os
import pathlib
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(os.environ["TUTTI_SOURCE"])
PROGRAMS = SOURCE / "tests/python/programs"
PYTHON = "/usr/bin/python3"

if os.environ.get("TUTTI_TEST_LONG") != "1":
    print("skipped: it compiles everything; TUTTI_TEST_LONG=1 runs it")
    sys.exit(77)
if subprocess.run([PYTHON, "-c", "import venv, ensurepip, numpy"], capture_output=True, check=False).returncode != 0:
    print("skipped: there is no python3-venv or no python3-numpy")
    sys.exit(77)

environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}


def run(*command):
    done = subprocess.run(command, env=environment, text=True, capture_output=True, check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


with tempfile.TemporaryDirectory() as folder:
    venv = pathlib.Path(folder)
    run(PYTHON, "-m", "venv", "--system-site-packages", venv)
    run(venv / "bin/pip", "install", "--no-build-isolation", "--no-index", SOURCE)
    python, tutti = venv / "bin/python", venv / "bin/tutti"
    where = run(python, "-c", "import tutti; print(tutti.__file__)").strip()
    assert where.startswith(folder), where
    built = {path.name for path in (pathlib.Path(os.environ["TUTTI_BIN"]).parent / "libexec/tutti").glob("*")}
    assert {path.name for path in pathlib.Path(where).parent.glob("libexec/tutti/*")} == built, built
    for ranks, program, *arguments in ((3, "collectives.py", "5"), (2, "decisions.py"), (2, "joined.py", "2")):
        said = run(tutti, "run", "-n", str(ranks), python, PROGRAMS / program, *arguments)
        assert said.count("all right") == ranks, said
    if subprocess.run([python, "-c", "import torch"], env=environment, capture_output=True, check=False).returncode == 0:
        assert "2 ranks: loss" in run(python, "-m", "tutti.torch", "--nproc-per-node=2", SOURCE / "examples/python/ddp_digits.py")
    assert "profile default.json" in run(tutti, "explain", "allreduce", "8", "-n", "2", "--brief").replace("(", "")
    run(venv / "bin/pip", "uninstall", "-y", "tutti")
    assert not list(venv.glob("lib/python*/site-packages/tutti*")), "pip uninstall leaves something"
print("the wheel is built, installed, used and gone")
