#!/usr/bin/env python3
"""Types: mypy --strict on the package, on a program that must pass and one whose lines must not; the stubs against what
the extension has."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

PACKAGE = pathlib.Path(os.environ["TUTTI_BIN"]).parent / "lib/python"
PROGRAMS = pathlib.Path(__file__).parent / "programs"
PYTHON = "/usr/bin/python3"

if not (PACKAGE / "tutti").exists():
    print("skipped: the Python package is not built here")
    sys.exit(77)
if not shutil.which("mypy", path="/usr/bin"):
    print("skipped: there is no mypy")
    sys.exit(77)


cache = tempfile.TemporaryDirectory()
# reading torch takes minutes
pathlib.Path(cache.name, "mypy.ini").write_text("[mypy]\n[mypy-torch.*]\nfollow_imports = skip\nignore_missing_imports = True\n")


def check(what, *command):
    """mypy keeps what it has read of others' packages in the folder it runs in."""
    done = subprocess.run(command, text=True, capture_output=True, check=False, timeout=600, cwd=cache.name,
                          env={**os.environ, "PYTHONPATH": str(PACKAGE), "MYPYPATH": str(PACKAGE)})
    assert done.returncode == 0, f"{what}:\n{done.stdout}{done.stderr}"
    print(f"{what}: passed", flush=True)


strict = ["/usr/bin/mypy", "--strict", "--python-executable", PYTHON]
check("the package", *strict, "--ignore-missing-imports", "--follow-imports=silent", "-p", "tutti")
check("a program, and mistakes", *strict, PROGRAMS / "typed.py", PROGRAMS / "mistyped.py")
check("stubs", "/usr/bin/stubtest", "tutti._tutti", "--ignore-missing-stub", "--concise", "--mypy-config-file", "mypy.ini")
