"""A job, however it was started: `joined.py RANKS` uses tutti.world(), `joined.py RANKS mpi4py` communicators of mpi4py."""

import importlib.util
import sys
import tempfile

import numpy

import tutti

ranks = int(sys.argv[1])


def check(comm, rank, size):
    assert (comm.rank, comm.size) == (rank, size), f"rank {comm.rank} of {comm.size}, not {rank} of {size}"
    assert (comm.allreduce(numpy.full(1000, rank + 1)) == size * (size + 1) // 2).all()
    assert comm.allgather(numpy.array([rank])).ravel().tolist() == list(range(size))
    assert tutti.broadcast_object(comm, ("from", rank), root=size - 1) == ("from", size - 1)


def with_torch(world, comm):
    """A tensor in a communicator of MPI's ranks; then torch's own groups, with calls of all three under way at once."""
    import torch
    import torch.distributed as dist

    rank, size = world.rank, world.size
    tensor = torch.full((100,), float(rank))
    comm.allreduce(tensor, out=tensor)
    assert (tensor == size * (size - 1) / 2).all()
    if importlib.util.find_spec("tutti.torch._torch") is None:
        return
    import tutti.torch

    folder = world.bcast(tempfile.mkdtemp() if rank == 0 else None)
    dist.init_process_group("tutti", init_method=f"file://{folder}/store", rank=rank, world_size=size)
    for count in (5, 100000):
        data, got = numpy.arange(float(count)) + rank, numpy.zeros(count)
        tensor = torch.from_numpy(data.copy())
        calls = [world.Iallreduce(data, got).Wait, dist.all_reduce(tensor, async_op=True).wait, comm.allreduce_start(data).wait]
        results = [call() for call in calls]
        assert numpy.array_equal(got, results[2]) and numpy.array_equal(got, tensor.numpy())
    dist.barrier()


def with_mpi4py():
    """Communicators of any of MPI's; calls of both libraries in between, and torch in the same process."""
    from mpi4py import MPI

    world = MPI.COMM_WORLD
    rank, size = world.rank, world.size
    comms = [(tutti.Comm.from_mpi4py(world), world)]
    part = world.Split(rank % 2, -rank)
    comms.append((tutti.Comm.from_mpi4py(part), part))
    comms.append((tutti.Comm.from_mpi4py(MPI.COMM_SELF), MPI.COMM_SELF))
    comms.append((tutti.world(), world))  # joined by the launcher, without MPI
    for _ in range(3):
        for ours, theirs in comms:
            check(ours, theirs.rank, theirs.size)
            data = numpy.arange(5.0) + theirs.rank
            got = numpy.zeros(5)
            theirs.Allreduce(data, got)
            assert numpy.array_equal(got, ours.allreduce(data)), got
    try:
        with_torch(world, comms[0][0])
    except ModuleNotFoundError as error:
        print("no torch here:", error)
    for wrong in (None, MPI.COMM_NULL):
        try:
            tutti.Comm.from_mpi4py(wrong)
        except TypeError as error:
            assert "no communicator of one group" in str(error), error
        else:
            raise AssertionError(f"{wrong} is no error")
    return rank, size


if sys.argv[2:] == ["mpi4py"]:
    rank, size = with_mpi4py()
else:
    comm = tutti.world()
    rank, size = comm.rank, comm.size
    check(comm, rank, size)
assert size == ranks, f"{size} ranks, not {ranks}"
print(f"rank {rank} of {size}: all right")
