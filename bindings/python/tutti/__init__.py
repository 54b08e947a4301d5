"""tutti: collectives for Python, on the arrays you have.

    import numpy, tutti
    comm = tutti.world()
    total = comm.allreduce(numpy.ones(1000))

Start it as a job: tutti run -n 4 python3 program.py, or with mpirun or srun.
"""

import atexit as _atexit
import math

from tutti._decisions import Candidate, Explanation, Opinion, Plan, explain, plan
from tutti._join import torchrun
from tutti._objects import allgather_objects, broadcast_object, gather_objects, scatter_objects
from tutti._tutti import (
    AbortedError,
    ArgumentError,
    Comm,
    Context,
    Error,
    Graph,
    MismatchError,
    OutOfMemoryError,
    PeerError,
    PlanError,
    RefusedError,
    Request,
    SystemCallError,
    TimeoutError,
    UnsupportedError,
    __version__,
)

__all__ = [
    "AbortedError",
    "ArgumentError",
    "Candidate",
    "Comm",
    "Context",
    "Error",
    "Explanation",
    "Graph",
    "MismatchError",
    "Opinion",
    "OutOfMemoryError",
    "PeerError",
    "Plan",
    "PlanError",
    "RefusedError",
    "Request",
    "SystemCallError",
    "TimeoutError",
    "UnsupportedError",
    "allgather_objects",
    "broadcast_object",
    "empty",
    "explain",
    "gather_objects",
    "plan",
    "scatter_objects",
    "world",
]

_world = None


def world() -> Comm:
    """The communicator of all ranks. The first call joins the job."""
    global _world
    if _world is None:
        _world = Context(boot=torchrun()).comm()
        _atexit.register(_leave)
    return _world


def empty(shape, dtype=float):
    """A numpy array in memory that the ranks of this machine can read where it lies: calls on it are faster."""
    import numpy

    dtype = numpy.dtype(dtype)
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    count = math.prod(shape)
    memory = world().context.alloc(count * dtype.itemsize)
    return numpy.frombuffer(memory, dtype=dtype, count=count).reshape(shape)


def _leave():
    global _world
    if _world is not None:
        _world.close()
        _world = None
