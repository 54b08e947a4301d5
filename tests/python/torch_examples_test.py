#!/usr/bin/env python3
"""The examples for PyTorch learn. They give the same bits in every run with as many processes, whatever starts them, and
the same loss however many processes there are. Without TUTTI_BIN it tries the packages that are installed."""
import os
import pathlib
import re
import subprocess
import sys

sys.dont_write_bytecode = True
from launchers import PROGRAMS, PYTHON, environment, has, of_mpi

LONG = os.environ.get("TUTTI_TEST_LONG") == "1"
EXAMPLES = pathlib.Path(__file__).parents[2] / "examples/python"
TOLERANCE = 1e-5  # of a loss: the order of the sums differs


def commands(ranks):
    return {"tutti.torch": [PYTHON, "-m", "tutti.torch", f"--nproc-per-node={ranks}"],
            "mp.spawn": [PYTHON, PROGRAMS / "spawns.py", str(ranks)], **of_mpi(ranks)}


def run(command, example, *arguments):
    done = subprocess.run([*command, EXAMPLES / example, *arguments], text=True, capture_output=True, timeout=300,
                          env=environment(), check=False)
    assert done.returncode == 0, f"{command}:\n{done.stdout}{done.stderr}"
    return done.stdout


def losses(launchers, example, *arguments):
    """What is said with 1, 2 and, if there is time, 4 processes; the last loss is the same for all."""
    results = []
    for ranks in (1, 2, 4) if LONG else (1, 2):
        of_ranks = commands(ranks)
        chosen = of_ranks if LONG else launchers[:1] if ranks == 1 else [name for name in launchers if name in of_ranks]
        said = {(name, turn): run(of_ranks[name], example, *arguments) for name in chosen for turn in range(2 if LONG else 1)}
        assert len(set(said.values())) == 1, said
        print(f"{example}, {ranks} ranks, {', '.join(chosen)}: {next(iter(said.values()))}", end="", flush=True)
        results.append(next(iter(said.values())))
        assert f"{ranks} ranks" in results[-1], results
    last = [float(re.findall(r"loss ([\d.]+)", said)[-1]) for said in results]
    assert max(last) - min(last) < TOLERANCE, last
    return results


def test_ddp_digits():
    for said in losses(["tutti.torch", "mp.spawn", "mpirun.openmpi", "mpiexec.hydra", "srun"], "ddp_digits.py"):
        assert float(re.search(r"([\d.]+)% of", said)[1]) > 90, said


def test_fsdp_text():
    for said in losses(["tutti.torch", "mpirun.openmpi"], "fsdp_text.py", "40"):
        first, last = map(float, re.findall(r"loss ([\d.]+)", said))
        assert last < 0.8 * first, (first, last)


if not has("tutti.torch._torch"):
    print("skipped: the backend for PyTorch is not built here")
    sys.exit(77)
test_ddp_digits()
if has("torch.distributed.fsdp", "fully_shard"):
    test_fsdp_text()
else:
    print("fsdp_text.py: skipped, this torch has no fully_shard for CPUs")
