"""What programs write, as mypy sees it: it is checked, and it runs with two ranks."""

import asyncio

import numpy as np
import numpy.typing as npt

import tutti

Floats = npt.NDArray[np.float64]

comm: tutti.Comm = tutti.world()
data: Floats = np.ones(3)
total: Floats = comm.allreduce(data)
same: Floats = comm.allreduce(data, out=data, op="max")
root_only: Floats | None = comm.reduce(data, root=1)
started: tutti.Request[Floats] = comm.allreduce_start(data)
awaited: Floats = started.wait()
memory: bytearray = comm.broadcast(bytearray(8))
part: tutti.Comm | None = comm.split(0)
everything: bytearray = comm.allgatherv(bytearray(comm.rank), bytearray(sum(range(comm.size))), range(comm.size))
names: list[str] = tutti.allgather_objects(comm, str(comm.rank))
ring: tutti.Graph = comm.graph([comm.rank], [comm.rank])
around: Floats = ring.neighbor_allgather(data)
decided: str = comm.explain("allreduce", data.nbytes).params
plan: tutti.Plan = tutti.plan("allreduce", ranks=8, params="ring")
seconds: float = plan.simulate(data.nbytes)
shared: Floats = tutti.empty((2, 3))


async def later() -> Floats:
    return await comm.allreduce_start(data)


assert asyncio.run(later()).shape == data.shape
assert part is not None and part.size == comm.size

try:
    comm.allreduce(np.ones(3), np.ones(4))
except (tutti.ArgumentError, ValueError) as error:
    text: str = str(error)

print(f"rank {comm.rank} of {comm.size}: all right")
