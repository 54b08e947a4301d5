#!/usr/bin/env python3
"""The extensions under the address sanitizer, which is preloaded: what calls leave behind, for a few calls of each kind, and
programs that use memory in odd ways. With TUTTI_TEST_LONG=1 100,000 calls. The preset leaves tutti.torch out, whose headers
take the compiler minutes: `cmake --preset asan -DTUTTI_TORCH=AUTO`. Then the other tests of this folder run there, too."""
import os
import pathlib
import subprocess
import sys

BIN = pathlib.Path(os.environ["TUTTI_BIN"])
SOURCE = pathlib.Path(os.environ["TUTTI_SOURCE"])
PACKAGE = BIN.parent / "lib/python"
PYTHON = "/usr/bin/python3"
LONG = os.environ.get("TUTTI_TEST_LONG") == "1"

if "asan" not in os.environ.get("LD_PRELOAD", "") or not (PACKAGE / "tutti").exists():
    print("skipped: the Python package is not built here with the address sanitizer")
    sys.exit(77)


def run(start, program, calls=""):
    done = subprocess.run([*start, SOURCE / program, calls], text=True, capture_output=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    assert done.returncode == 0, f"{program} {calls}:\n{done.stdout}{done.stderr}"
    print(f"{program} {calls}: passed\n{done.stdout if LONG else ''}", flush=True)


job = [BIN / "tutti", "run", "-n", "2", PYTHON]
run(job, "scripts/python_leaks.py", "100000" if LONG else "1000")
run(job, "tests/python/programs/collectives.py", "25" if LONG else "2")
run(job, "tests/python/programs/waiting.py")
if list(PACKAGE.glob("tutti/torch/_torch*.so")):
    run([PYTHON, "-W", "ignore", "-m", "tutti.torch", "--nproc-per-node", "2"], "scripts/torch_leaks.py", "100000" if LONG else "100")
