"""Arrays that numpy makes in shared memory: where they lie, what they hold, who frees them, and forks."""

import gc
import os
import random
import sys
import threading

import numpy

import tutti
from expect import fails

comm = tutti.world()
rank, size = comm.rank, comm.size
LONG, SHORT = 1 << 17, 100


def handler_of(array):
    """Its name, as numpy says it."""
    try:
        from numpy._core.multiarray import get_handler_name
    except ImportError:  # before numpy 2
        from numpy.core.multiarray import get_handler_name
    return get_handler_name(array)


def media_with(make):
    """The media of a broadcast from what `make` makes."""
    array = make()
    comm.set_params("broadcast", "linear")
    assert (comm.broadcast(array, root=0) == 0).all()
    comm.set_params("broadcast", None)
    return comm.last_media


def test_where():
    outside = numpy.zeros(LONG)
    with tutti.shared_arrays():
        inside, short, sum_of = numpy.zeros(LONG), numpy.ones(SHORT), outside + 1
    assert handler_of(inside) == handler_of(short) == handler_of(sum_of) == "tutti"
    assert handler_of(outside) == handler_of(numpy.zeros(LONG)) != "tutti"
    assert (inside == 0).all() and (sum_of == 1).all() and inside.ctypes.data % 64 == 0
    if size > 1:
        assert media_with(lambda: inside) == media_with(lambda: tutti_zeros()), comm.last_media


def tutti_zeros():
    array = tutti.empty(numpy.int64(LONG))
    array[:] = 0
    return array


def test_contents():
    """Arrays come, grow and go in any order; none changes another one."""
    chance, kept = random.Random(rank), {}
    with tutti.shared_arrays():
        for n in range(400):
            length = chance.choice([1, SHORT, 8191, 8192, LONG + chance.randrange(99)])
            kept[n] = numpy.full(length, n, "f8") if chance.random() < 0.7 else numpy.zeros(length) + n
            if chance.random() < 0.5:
                kept[n].resize(chance.choice([1, 10000, 2 * length]), refcheck=False)
            if len(kept) > 20:
                del kept[chance.choice(sorted(kept))]
            some = chance.choice(sorted(kept))
            assert kept[some][0] == some and set(numpy.unique(kept[some])) <= {0, some}
    total = comm.allreduce(numpy.full(LONG, rank + 1.0))
    assert (total == size * (size + 1) / 2).all()


def test_threads():
    """Another thread makes arrays as ever, and may free those from here."""
    found = []
    with tutti.shared_arrays():
        arrays = [numpy.ones(LONG) for _ in range(8)]

        def other():
            found.append(handler_of(numpy.ones(LONG)))
            arrays.clear()

        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
    assert found and found[0] != "tutti"


def test_returned():
    """The memory is given back."""
    with tutti.shared_arrays():
        for n in range(300):
            assert numpy.full(1 << 20, n, "f8")[-1] == n
            gc.collect(0)


def test_fork():
    """A fork's own arrays are ordinary ones; that it frees the rank's changes nothing."""
    with tutti.shared_arrays():
        mine = numpy.full(LONG, 7.0)
        child = os.fork()
        if child == 0:
            own = numpy.full(LONG, 9.0)
            ok = (own == 9).all() and (mine == 7).all()
            del own
            os._exit(0 if ok else 1)
        assert os.waitpid(child, 0)[1] == 0
        again = numpy.full(LONG, 8.0)
    assert (mine == 7).all() and (again == 8).all()


def test_without_the_gil():
    """numpy reads text without it, and lets the array grow meanwhile."""
    with tutti.shared_arrays():
        for count in (5000, 100000):
            read = numpy.fromstring("1 " * count, sep=" ")
            assert read.size == count and (read == 1).all()
        assert numpy.fromstring("1 2 3", sep=" ", dtype="c16").sum() == 6


def test_exhausted():
    """What is longer than all memory is refused; an array of that length is an ordinary one, whose pages nobody touches."""
    with open("/proc/meminfo", encoding="utf-8") as lines:
        bytes_ = 1024 * int(lines.readline().split()[1]) + (1 << 30)
    fails(tutti.OutOfMemoryError, "left for this process", lambda: comm.context.alloc(bytes_))
    with tutti.shared_arrays():
        for make in (numpy.empty, numpy.zeros):
            try:
                large = make(bytes_, "u1")
            except MemoryError:
                continue  # the system promises no more than there is
            large[-1] = 1
            assert large[-1] == 1


def test_error():
    try:
        with tutti.shared_arrays():
            raise KeyError
    except KeyError:
        pass
    assert handler_of(numpy.ones(LONG)) != "tutti"


for name, test in sorted(globals().items()):
    if name.startswith("test_"):
        comm.barrier()
        try:
            test()
        except BaseException:
            print(f"rank {rank}: {name}", file=sys.stderr)
            raise
print(f"rank {rank} of {size}: all right")
