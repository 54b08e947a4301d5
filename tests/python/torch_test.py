#!/usr/bin/env python3
"""tutti.torch: its operations with 1 to 4 processes (programs/torch_group.py), what torch keeps for its own backends
(torch_own.py), what may not hang (torch_waits.py), and training (torch_train.py, torch_sharded.py)."""
import os
import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(os.environ["TUTTI_BIN"]).parent / "lib/python"
PROGRAMS = pathlib.Path(__file__).parent / "programs"
PYTHON = "/usr/bin/python3"  # the system's, whose torch it was built for

if not list(PACKAGE.glob("tutti/torch/_torch*.so")):
    print("skipped: the backend for PyTorch is not built here")
    sys.exit(77)


def run(program, ranks, *before, **environment):
    result = subprocess.run([PYTHON, *before, PROGRAMS / program, str(ranks)], text=True, capture_output=True, timeout=600,
                            check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment})
    assert result.returncode == 0, f"{program}, {ranks} ranks:\n{result.stdout}{result.stderr}"
    assert result.stdout.count("all right") == ranks, result.stdout + result.stderr
    print(f"{program}, {ranks} ranks: passed", flush=True)
    return result.stderr


for ranks in (1, 2, 3, 4):
    run("torch_group.py", ranks)
said = run("torch_group.py", 2, "-m", "tutti.torch", BACKEND="gloo")
assert said.count("groups ran on tutti instead of gloo") == 1, said
for ranks in (1, 2, 4):
    run("torch_own.py", ranks)
run("torch_waits.py", 3)
for ranks in (2, 3):
    run("torch_train.py", ranks)
version = subprocess.run([PYTHON, "-c", "import torch; print(torch.__version__)"], text=True, capture_output=True, check=True)
if version.stdout.startswith("1."):
    print(f"torch_sharded.py: skipped, it is for torch 2.6; this is {version.stdout.strip()}")
else:
    run("torch_sharded.py", 2, COMPILE="1")
    run("torch_sharded.py", 4)
