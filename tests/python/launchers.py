"""How the tests of this folder start Python programs on one machine: commands that end with the program, by launcher."""
import os
import pathlib
import shutil
import subprocess

PYTHON = "/usr/bin/python3"  # the system's, whose numpy and torch the package was built for
PROGRAMS = pathlib.Path(__file__).parent / "programs"
# As root, and more ranks than cores; of Open MPI 4 and 5.
_SETTINGS = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
             "PRTE_MCA_rmaps_default_mapping_policy": ":oversubscribe", "OMPI_MCA_mpi_yield_when_idle": "1"}


def environment(**more):
    """With the package of the build that is tested, else with the installed one."""
    build = {"PYTHONPATH": str(pathlib.Path(os.environ["TUTTI_BIN"]).parent / "lib/python")} if "TUTTI_BIN" in os.environ else {}
    return {**os.environ, **_SETTINGS, **build, **more}


def has(module, name="__name__"):
    command = [PYTHON, "-c", f"from {module} import {name}"]
    return subprocess.run(command, capture_output=True, check=False, env=environment()).returncode == 0


def of_mpi(ranks):
    """Those that are here: srun, where there is a Slurm that runs."""
    there = [launcher for launcher in ("mpirun.openmpi", "mpiexec.hydra") if shutil.which(launcher)]
    commands = {launcher: [launcher, "-n", str(ranks), PYTHON] for launcher in there}
    if shutil.which("sinfo") and subprocess.run(["sinfo"], capture_output=True, check=False).returncode == 0:
        commands["srun"] = ["srun", "--mpi=pmix", "--overcommit", "-n", str(ranks), PYTHON]
    return commands
