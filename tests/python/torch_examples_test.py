#!/usr/bin/env python3
"""The examples for PyTorch learn, and give the same bits in every run with as many processes."""
import os
import pathlib
import re
import subprocess
import sys

PACKAGE = pathlib.Path(os.environ["TUTTI_BIN"]).parent / "lib/python"
RANKS = (1, 2, 3) if os.environ.get("TUTTI_TEST_LONG") == "1" else (3,)
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples/python"
PYTHON = "/usr/bin/python3"  # the system's, whose torch it was built for
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(PACKAGE)}

if not list(PACKAGE.glob("tutti/torch/_torch*.so")):
    print("skipped: the backend for PyTorch is not built here")
    sys.exit(77)


def run(ranks, example, *arguments):
    done = subprocess.run([PYTHON, "-m", "tutti.torch", f"--nproc-per-node={ranks}", EXAMPLES / example, *arguments],
                          text=True, capture_output=True, timeout=300, env=ENVIRONMENT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_ddp_digits():
    for ranks in RANKS:
        said = {run(ranks, "ddp_digits.py") for _ in range(2)}
        assert len(said) == 1, said
        assert float(re.search(r"([\d.]+)% of", said.pop())[1]) > 90, said


def test_fsdp_text():
    for ranks in RANKS:
        said = {run(ranks, "fsdp_text.py", "40") for _ in range(2)}
        assert len(said) == 1, said
        first, last = map(float, re.findall(r"loss ([\d.]+)", said.pop()))
        assert last < 0.8 * first, (first, last)


test_ddp_digits()
print("test_ddp_digits: passed", flush=True)
version = subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"], text=True, capture_output=True, check=True)
if version.stdout.startswith("1."):
    print(f"test_fsdp_text: skipped, torch {version.stdout.strip()} has no fully_shard for CPUs")
else:
    test_fsdp_text()
    print("test_fsdp_text: passed")
