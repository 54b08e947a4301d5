#!/usr/bin/env python3
"""tutti.torch with 1 to 4 processes (programs/torch_group.py)."""
import os
import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(os.environ["TUTTI_BIN"]).parent / "lib/python"
PROGRAM = pathlib.Path(__file__).parent / "programs/torch_group.py"
PYTHON = "/usr/bin/python3"  # the system's, whose torch it was built for

if not list(PACKAGE.glob("tutti/torch/_torch*.so")):
    print("skipped: the backend for PyTorch is not built here")
    sys.exit(77)


def run(ranks, *before, **environment):
    result = subprocess.run([PYTHON, *before, PROGRAM, str(ranks)], text=True, capture_output=True, timeout=600,
                            check=False, env={**os.environ, "PYTHONPATH": str(PACKAGE), **environment})
    assert result.returncode == 0, f"{ranks} ranks:\n{result.stdout}{result.stderr}"
    assert result.stdout.count("all right") == ranks, result.stdout + result.stderr
    return result.stderr


for ranks in (1, 2, 3, 4):
    run(ranks)
    print(f"{ranks} ranks: passed")
said = run(2, "-m", "tutti.torch", BACKEND="gloo")
assert said.count("groups ran on tutti instead of gloo") == 1, said
print("as gloo: passed")
