#!/usr/bin/env python3
"""How processes with tutti.torch end (programs/torch_ends.py): twice each way, and 100 times with TUTTI_TEST_LONG=1."""
import os
import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(os.environ["TUTTI_BIN"]).parent / "lib/python"
PROGRAM = pathlib.Path(__file__).parent / "programs/torch_ends.py"

if not list(PACKAGE.glob("tutti/torch/_torch*.so")):
    print("skipped: the backend for PyTorch is not built here")
    sys.exit(77)
ROUNDS = "100" if os.environ.get("TUTTI_TEST_LONG") else "2"
subprocess.run(["/usr/bin/python3", PROGRAM, ROUNDS], check=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
