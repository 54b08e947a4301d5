"""A pool of forked workers in each rank, with mpi4py and numpy: workers have what their rank had, and memory of their
own, while calls go on. argv[1]: pools."""
import multiprocessing
import sys

import numpy
from mpi4py import MPI

world = MPI.COMM_WORLD
rank, size = world.Get_rank(), world.Get_size()
COUNT = 1 << 18
have = numpy.full(COUNT, float(rank))
total = numpy.empty(COUNT)


def worker(job):
    """What the parent had at the fork, and memory of its own."""
    have[:] = job
    mine = numpy.arange(COUNT, dtype=float) + job
    return float(total[job % COUNT]), float(have.sum() / COUNT), float(mine[-1] - job)


def call(value):
    have[:] = value + rank
    world.Allreduce(have, total)
    assert (total == size * value + size * (size - 1) / 2).all(), (value, total)


for value in range(4):
    call(value)
expected = total[0]
for turn in range(int(sys.argv[1])):
    with multiprocessing.get_context("fork").Pool(4) as pool:
        result = pool.map_async(worker, range(64))
        for value in range(10, 30):
            call(value)
        for job, (first, mine, last) in enumerate(result.get(timeout=60)):
            assert (first, mine, last) == (expected, job, COUNT - 1), (job, first, mine, last)
    expected = total[0]
if rank == 0:
    print("all is well")
