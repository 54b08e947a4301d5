"""Collectives of mpi4py: of buffers and of pickled objects, on communicators of several makings, blocking and not, with
an operator in Python. Prints what rank 0 gathered: whole numbers and texts only, the same in every order of sums."""
import array
import sys

from mpi4py import MPI

world = MPI.COMM_WORLD


def numbers(count, factor=1):
    return array.array("d", [factor * (n + 1) for n in range(count)])


def room(count):
    return array.array("d", [0] * count)


def buffers(comm):
    """Uppercase methods: arrays go to MPI as they are."""
    rank, size = comm.rank, comm.size
    mine = numbers(6, rank + 1)
    total, least, before, upto, part = room(6), room(6), room(6), room(6), room(6)
    comm.Allreduce(mine, total)
    comm.Reduce(mine, least, MPI.MIN, root=size - 1)
    comm.Scan(mine, upto)
    comm.Exscan(mine, before)
    comm.Reduce_scatter_block(numbers(6 * size, rank), part)
    yield total, least if rank == size - 1 else None, upto, before if rank else None, part
    everyone, turned, told = room(6 * size), room(6 * size), mine[:]
    comm.Allgather(mine, everyone)
    comm.Alltoall(everyone, turned)
    comm.Bcast(told, root=size // 2)
    comm.Barrier()
    yield everyone, turned, told
    counts = [n + 1 for n in range(size)]
    ragged, back = room(sum(counts)), room(rank + 1)
    comm.Gatherv(numbers(rank + 1, rank), [ragged, counts] if rank == 0 else None)
    comm.Scatterv([ragged, counts] if rank == 0 else None, back)
    comm.Allgatherv(numbers(rank + 1), [ragged, counts])
    yield ragged, back
    swapped = room(2 * size)
    comm.Alltoallv([numbers(2 * size, rank + 1), [2] * size], [swapped, [2] * size])
    column = MPI.DOUBLE.Create_vector(3, 1, 2).Commit()
    comm.Bcast([total, 1, column], root=0)
    column.Free()
    yield swapped, total


def objects(comm):
    """Lowercase methods: objects are pickled, their lengths differ."""
    rank, size = comm.rank, comm.size
    mine = {"rank": rank, "text": "x" * (50 * rank), "list": list(range(rank))}
    yield comm.bcast(mine, root=size - 1)
    yield comm.gather(mine, root=0)
    yield comm.scatter([[n, "to", n * rank] for n in range(size)] if rank == 0 else None, root=0)
    yield comm.allgather((rank, "é" * rank)), comm.alltoall([f"{rank} to {n}" for n in range(size)])
    yield comm.allreduce(rank + 1), comm.allreduce([rank]), comm.reduce(rank, op=MPI.MAX), comm.scan(rank + 1), comm.exscan(1)


def outstanding(comm):
    """Several calls at once, waited for in another order, with messages between them."""
    rank, size = comm.rank, comm.size
    mine, total, least, told, turned = numbers(500, rank + 1), room(500), room(500), numbers(3, rank), room(4 * size)
    requests = [comm.Iallreduce(mine, total), comm.Iallreduce(mine, least, MPI.MIN), comm.Ibcast(told, root=0),
                comm.Ialltoall(numbers(4 * size, rank), turned), comm.Ibarrier()]
    message = comm.sendrecv({"from": rank}, dest=(rank + 1) % size, source=(rank - 1) % size)
    requests[3].Wait()
    done = MPI.Request.Waitany(requests[:2])
    MPI.Request.Waitall(requests)
    yield message, done in (0, 1), total[-3:], least[-3:], told, turned


def compose(left, right, datatype):
    """left after right, as maps x -> a x + b modulo 10007: associative, not commutative."""
    first, then = memoryview(left).cast("q"), memoryview(right).cast("q")
    for n in range(0, len(first), 2):
        a, b = first[n], first[n + 1]
        then[n], then[n + 1] = a * then[n] % 10007, (b * then[n] + then[n + 1]) % 10007


def operator(comm):
    op = MPI.Op.Create(compose, commute=False)
    mine = array.array("q", [comm.rank + 2, comm.rank + 3] * 8)
    total, upto = array.array("q", [0] * 16), array.array("q", [0] * 16)
    pair = MPI.INT64_T.Create_contiguous(2).Commit()
    comm.Allreduce([mine, 8, pair], [total, 8, pair], op)
    comm.Scan([mine, 8, pair], [upto, 8, pair], op)
    pair.Free()
    op.Free()
    yield total[:2], upto[-2:]


def neighbors():
    line = world.Create_cart([world.size], periods=[False])
    got = room(4)
    line.Neighbor_allgather(numbers(2, line.rank + 1), got)
    yield got, line.neighbor_alltoall([(line.rank, "down"), (line.rank, "up")])
    line.Free()


def plain(value):
    return list(value) if isinstance(value, array.array) else value


def show(name, comm, results):
    """Prints every rank's results in the order of ranks of the world."""
    here = [[plain(value) for value in result] if isinstance(result, tuple) else result for result in results]
    everything = world.gather(here, root=0)
    if world.rank == 0:
        for rank, result in enumerate(everything):
            print(f"{name} {rank}: {result}")


def main(rounds):
    half = world.Split(world.rank % 2, -world.rank)
    copy = world.Dup()
    for _ in range(rounds):
        for name, comm in (("world", world), ("half", half), ("dup", copy)):
            for calls in buffers, objects, outstanding, operator:
                show(f"{calls.__name__} {name}", comm, calls(comm))
        show("neighbors", world, neighbors())
    half.Free()
    copy.Free()


main(int(sys.argv[1]) if len(sys.argv) > 1 else 1)
