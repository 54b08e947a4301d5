#!/usr/bin/env python3
"""How Python programs end under `tutti run` (programs/ends.py): the exit code, what is said, and that nothing is left. Once
each way. With TUTTI_TEST_LONG=1 100 times, and 10 times with torch under its launchers; prints the longest ends."""
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

BIN = pathlib.Path(os.environ["TUTTI_BIN"])
PACKAGE = BIN.parent / "lib/python"
PROGRAM = pathlib.Path(__file__).parent / "programs/ends.py"
PYTHON = "/usr/bin/python3"
MOMENT_SECONDS = 0.2
LONG = os.environ.get("TUTTI_TEST_LONG") == "1"
# exit codes of the launcher: the first rank's that failed. Who was told waits a moment, which may be too short
WAYS = {"leave": {0}, "outstanding": {0}, "forks": {0}, "raises": {1}, "exits": {3, 1}, "terminated": {143, 1},
        "raises_in_call": {1}, "exits_in_call": {3, 1}}
OF_PACKAGE = {"daemon": {3, 1}, "outstanding_in_part": {0}}  # that tutti.torch has not


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return str(server.getsockname()[1])


def left_of(session):
    """Processes of it, other than those that have ended."""
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, _, of = stat.read_text().rpartition(")")[2].split()[:4]
        except OSError:
            continue
        if int(of) == session and state not in "ZX":
            yield stat.parent.name


def run(way, codes, folder, launch):
    """The exit code, and the seconds since rank 0 began to end."""
    job = subprocess.Popen([*launch(), PROGRAM, way, folder / "began"], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           start_new_session=True, env={**os.environ, "PYTHONPATH": str(PACKAGE)})
    said = "".join(job.communicate(timeout=100))
    now, told = time.monotonic(), folder / "began.told"
    took = now - float((folder / "began").read_text())
    if told.exists():
        assert now - float(told.read_text()) >= MOMENT_SECONDS, f"{way}: who was told ended at once"
        told.unlink()
    assert job.returncode in codes, f"{way}: exit code {job.returncode}\n{said}"
    assert job.returncode != 0 or "tutti" not in said, f"{way}:\n{said}"
    assert not list(left_of(job.pid)), f"{way}: processes are left"
    return job.returncode, took


def run_all(name, ways, rounds, *launch):
    with tempfile.TemporaryDirectory() as folder:
        for way, allowed in ways.items():
            ends = [run(way, allowed, pathlib.Path(folder), lambda: [str(part()) if callable(part) else part for part in launch])
                    for _ in range(rounds)]
            codes = [code for code, _ in ends]
            counted = ", ".join(f"{code} {codes.count(code)} times" for code in sorted(set(codes)))
            print(f"{name}, {way}: exit code {counted}; at most {max(took for _, took in ends):.2f} s", flush=True)


if not (PACKAGE / "tutti").exists() or subprocess.run([PYTHON, "-c", "import numpy"], capture_output=True, check=False).returncode:
    print("skipped: the Python package is not built here, or there is no numpy")
    sys.exit(77)
run_all("tutti run", WAYS | OF_PACKAGE, 100 if LONG else 1, BIN / "tutti", "run", "-n", "2", PYTHON)
if LONG and list(PACKAGE.glob("tutti/torch/_torch*.so")):
    run_all("tutti.torch", WAYS, 10, PYTHON, "-m", "tutti.torch", "--nproc-per-node", "2")
    tee = ("--redirects", "1", "--tee", "1")  # without them, torch 1.13's own torchrun fails on Python 3.11
    run_all("torchrun", WAYS, 10, PYTHON, "-m", "torch.distributed.run", "--nproc_per_node", "2", "--master_port", free_port, *tee)
