"""How the benchmarks of this folder start MPI's own launchers on one machine: commands alone() and served(), and the
environment that they need as root and with more ranks than cores."""
import os

_LAUNCHER = {"openmpi": ["mpirun.openmpi", "--mca", "mpi_yield_when_idle", "1"], "mpich": ["mpiexec.hydra"]}
MPIS = tuple(_LAUNCHER)


def environment(**more):
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
            "OMPI_MCA_rmaps_base_oversubscribe": "1", **more}


def alone(mpi, ranks, *program):
    return [*_LAUNCHER[mpi], "-n", str(ranks), *program]


def served(tutti, mpi, ranks, *program):
    return [tutti, "mpirun", "--mpi", mpi, "--mpirun", *alone(mpi, ranks, *program)]
