#!/usr/bin/env python3
"""Ranks are killed at random moments of loops of calls, and the others hear which (programs/kills.py): a few times, and
1,000 with TUTTI_TEST_LONG=1."""
import os
import pathlib
import subprocess
import sys

PACKAGE = pathlib.Path(os.environ["TUTTI_BIN"]).parent / "lib/python"
PROGRAM = pathlib.Path(__file__).parent / "programs/kills.py"
PYTHON = "/usr/bin/python3"
LONG = os.environ.get("TUTTI_TEST_LONG") == "1"
KINDS = {"plain": (300, 5), "await": (100, 3), "torch": (100, 2)}

if not (PACKAGE / "tutti").exists() or subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True, check=False).returncode:
    print("skipped: the Python package is not built here, or there is no numpy")
    sys.exit(77)
for kind, rounds in KINDS.items():
    if kind == "torch" and not list(PACKAGE.glob("tutti/torch/_torch*.so")):
        print("the backend for PyTorch is not built here")
        continue
    for ranks in ("2", "4"):
        subprocess.run([PYTHON, PROGRAM, kind, str(rounds[0] if LONG else rounds[1]), ranks], check=True,
                       env={**os.environ, "PYTHONPATH": str(PACKAGE)})
