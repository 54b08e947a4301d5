"""tutti: collectives for Python, on the arrays you have.

    import numpy, tutti
    comm = tutti.world()
    total = comm.allreduce(numpy.ones(1000))

Start it as a job: tutti run -n 4 python3 program.py, or with mpirun or srun.
"""

import contextlib
import math
import sys
import threading
import time
from typing import TYPE_CHECKING, Any

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
    "shared_arrays",
    "world",
]

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy
    import numpy.typing

_PATIENCE_SECONDS = 1  # at exit, as tutti.torch has it
_AFTER_SECONDS = 0.2  # at exit, behind a rank that fails

_world: Comm | None = None
_joining = threading.RLock()  # threads that call world() at once share what the first one makes


def world() -> Comm:
    """The communicator of all ranks. The first call joins the job; a TimeoutError names ranks that do not come. Under
    `tutti mpirun`, from MPI_Init on, it is the job that MPI's calls run on.

    >>> tutti.world().size
    2
    """
    global _world
    if _world is None:
        with _joining:
            if _world is None:
                _world = (Context._shared() or Context(boot=torchrun())).comm()
    return _world


def empty(shape: "int | Sequence[int]", dtype: "numpy.typing.DTypeLike" = float) -> "numpy.ndarray[Any, Any]":
    """A numpy array in memory that the ranks of this machine can read where it lies: long calls on it are faster.

    shape: a number or several. dtype: any of numpy's without Python objects. The content is not set.

    >>> array = tutti.empty((2, 3), "float32")
    >>> array.shape, array.dtype
    ((2, 3), dtype('float32'))
    """
    import numpy

    dtype = numpy.dtype(dtype)
    shape = (shape,) if isinstance(shape, int | numpy.integer) else tuple(shape)
    count = int(math.prod(shape))
    memory = world().context.alloc(count * dtype.itemsize)
    return numpy.frombuffer(memory, dtype=dtype, count=count).reshape(shape)


@contextlib.contextmanager
def shared_arrays() -> "Iterator[None]":
    """All arrays of 64 KiB and more that numpy makes inside are in memory as of tutti.empty, which they keep. Other
    threads make ordinary ones, unless asyncio.to_thread brings them the context. So do forks, and this one where shared
    memory is exhausted. A fork sees such an array only as long as this process keeps it.

    >>> with tutti.shared_arrays():
    ...     total = comm.allreduce(numpy.ones(100000))
    >>> total[0]
    2.0
    """
    from tutti._arrays import numpy_table

    context, api = world().context, numpy_table()
    before = context._use_handler(api, context._handler())
    try:
        yield
    finally:
        context._use_handler(api, before)


def _leave() -> None:
    """Calls under way may be what others wait for. After an error others may not make them."""
    global _world
    until = time.monotonic() + (0 if hasattr(sys, "last_type") else _PATIENCE_SECONDS)
    while sum(comm._under_way for comm in Comm._open()) > 0 and time.monotonic() < until:
        time.sleep(0.001)
    for comm in Comm._open():
        comm._leave()
    _world = None
    if isinstance(getattr(sys, "last_value", None), AbortedError | PeerError):
        time.sleep(_AFTER_SECONDS)  # launchers take the exit code of the first
