"""mpi4py and tutti.world() in one process, under `tutti mpirun`: one job, whose calls move each other on. Arguments: nothing,
"late": the package joins before MPI_Init, and has a job of its own; or "interrupted"."""

import signal
import sys
import threading
import time

import mpi4py

mpi4py.rc.initialize = False

import numpy
from mpi4py import MPI

import tutti

LONG = 1 << 20


def segments():
    """Of shared memory of tutti's; heaps have another name."""
    with open("/proc/self/maps") as maps:
        return len({line.split()[4] for line in maps if "/memfd:tutti " in line})


def expect(rank, size):
    return numpy.arange(float(LONG)) * size + size * (size - 1) / 2


def mpi_moves_while_tutti_waits(world, comm):
    """Rank 0 comes to MPI's wait only after the others, who need what only it moves on."""
    data, got = numpy.arange(float(LONG)) + comm.rank, numpy.zeros(LONG)
    request = world.Iallreduce(data, got)
    if comm.rank == 0:
        comm.barrier()
        request.Wait()
    else:
        request.Wait()
        comm.barrier()
    assert (got == expect(comm.rank, comm.size)).all()


def tutti_moves_while_mpi_waits(world, comm):
    data = numpy.arange(float(LONG)) + comm.rank
    request = comm.allreduce_start(data)
    token = bytearray(1)
    if comm.rank == 0:
        for r in range(1, comm.size):
            world.Recv([token, MPI.BYTE], source=r)
        got = request.wait()
    else:
        got = request.wait()
        world.Send([token, MPI.BYTE], dest=0)
    assert (got == expect(comm.rank, comm.size)).all()


def messages_move_while_tutti_waits(world, comm):
    data = numpy.full(LONG, float(comm.rank))
    if comm.rank == 0:
        requests = [world.Isend(data, dest=r) for r in range(1, comm.size)]
        comm.barrier()
        MPI.Request.Waitall(requests)
    else:
        world.Recv(data, source=0)
        comm.barrier()
        assert (data == 0).all()


def threads_of_both(world, comm):
    """Calls of both at once, with an operator in Python, which needs the lock of Python's that others may have."""
    operator = MPI.Op.Create(lambda a, b, of: numpy.add(numpy.frombuffer(a), numpy.frombuffer(b), out=numpy.frombuffer(b)), True)
    failed = []

    def call_mpi():
        got = numpy.zeros(4)
        for n in range(300):
            world.Allreduce(numpy.full(4, float(n)), got, op=operator if n % 10 == 0 else MPI.SUM)
            if not (got == n * comm.size).all():
                failed.append(n)

    thread = threading.Thread(target=call_mpi)
    thread.start()
    for n in range(300):
        MPI.Op.Create(lambda a, b, of: None).Free()
        assert (comm.allreduce(numpy.full(4, n)) == n * comm.size).all()
    thread.join()
    assert not failed, failed
    operator.Free()


def numbers_do_not_meet(world, comm):
    """Communicators of both, made in turns."""
    both = [(world.Dup(), comm.split(0, comm.rank)) for _ in range(20)]
    for theirs, ours in both:
        got = numpy.zeros(1)
        theirs.Allreduce(numpy.ones(1), got)
        assert got[0] == ours.allreduce(numpy.ones(1))[0] == comm.size
        theirs.Free()


def finalize_while_a_thread_waits(comm):
    """Which must not ask for Python's lock meanwhile: MPI.Finalize keeps it."""
    thread = threading.Thread(target=comm.allreduce, args=(numpy.ones(LONG),))
    if comm.rank == 0:
        thread.start()
    time.sleep(0.05 if comm.rank == 0 else 0.2)
    if comm.rank > 0:
        comm.allreduce(numpy.ones(LONG))
    MPI.Finalize()
    if comm.rank == 0:
        thread.join()


def interrupted_in_a_boot():
    """A signal comes while a function of the program, by which ranks of a job meet, waits in MPI."""
    MPI.Init_thread(MPI.THREAD_FUNNELED)
    world = MPI.COMM_WORLD
    comm = tutti.world()

    class Enough(Exception):
        pass

    def handle(*_):
        raise Enough

    def meet(mine):
        if comm.rank == 0:
            signal.setitimer(signal.ITIMER_REAL, 0.05)
        else:
            time.sleep(0.2)
        world.Barrier()
        raise Enough

    signal.signal(signal.SIGALRM, handle)
    try:
        tutti.Context(boot=(comm.rank, comm.size, meet))
    except Enough:
        world.Barrier()
    assert comm.allreduce(numpy.ones(1))[0] == comm.size
    MPI.Finalize()


def joined_before():
    alone = tutti.world()
    MPI.Init()
    world = MPI.COMM_WORLD
    assert (alone.rank, alone.size, segments()) == (world.rank, world.size, 2)
    assert alone.allreduce(numpy.ones(1))[0] == world.allreduce(1) == world.size
    MPI.Finalize()


def joined():
    MPI.Init_thread()
    world = MPI.COMM_WORLD
    comm = tutti.world()
    assert (comm.rank, comm.size) == (world.rank, world.size)
    numbers_do_not_meet(world, comm)
    mpi_moves_while_tutti_waits(world, comm)
    tutti_moves_while_mpi_waits(world, comm)
    messages_move_while_tutti_waits(world, comm)
    threads_of_both(world, comm)
    assert segments() == 1, segments()
    finalize_while_a_thread_waits(comm)
    assert comm.allreduce(numpy.ones(1))[0] == comm.size  # it is the package's as long as that likes


{"late": joined_before, "interrupted": interrupted_in_a_boot}.get("".join(sys.argv[1:]), joined)()
print("all right")
