"""What is wrong is an exception that names the argument, and nothing is left broken by it."""

import array

import numpy

import tutti
from expect import fails

comm = tutti.world()
rank, size = comm.rank, comm.size
data = numpy.ones(10)

CASES = [
    (ValueError, "op is 'most'; there are sum", lambda: comm.allreduce(data, op="most")),
    (TypeError, "op is 3; it must be a string", lambda: comm.allreduce(data, op=3)),
    (ValueError, "out must have 10", lambda: comm.allreduce(data, out=numpy.zeros(4))),
    (TypeError, "data has elements of type float64, out of type float32", lambda: comm.allreduce(data, out=numpy.zeros(10, "f4"))),
    (TypeError, "other byte order ('>d')", lambda: comm.allreduce(numpy.ones(3, ">f8"))),
    (TypeError, "format 'O'", lambda: comm.allreduce(numpy.array([None, 1]))),
    (TypeError, "no result like a list", lambda: comm.allreduce([1, 2])),
    (TypeError, "must have the buffer protocol or DLPack", lambda: comm.allreduce([1], out=numpy.zeros(1))),
    (ValueError, "out is read-only", lambda: comm.allreduce(data, out=data.tobytes())),
    (ValueError, "its first axis must be that of", lambda: comm.reduce_scatter(numpy.ones(size + 1))),
    (ValueError, "cannot share evenly", lambda: comm.reduce_scatter(numpy.ones(size + 1), out=numpy.ones(1))) if size > 1 else None,
    (ValueError, "root is -1", lambda: comm.broadcast(data, root=-1)),
    (ValueError, f"root is {size}", lambda: comm.reduce(data, root=size)),
    (TypeError, "has no argument 'into'", lambda: comm.allreduce(data, into=data)),
    (TypeError, "takes 3 arguments; there are 4", lambda: comm.allreduce(data, None, "sum", 0)),
    (TypeError, "needs data on this rank", lambda: comm.allreduce(None)),
    (ValueError, "counts of out are 1", lambda: comm.allgatherv(data, data.copy(), [10])) if size > 1 else None,
    (ValueError, "is 11 elements from 0 on; there are 10", lambda: comm.allgatherv(data, data.copy(), [11] * size)),
    (ValueError, "is -1 elements", lambda: comm.allgatherv(data, data.copy(), [-1] * size)),
    (ValueError, "out has 1 elements, and counts has 10 for", lambda: comm.reduce_scatterv(numpy.ones(10 * size), numpy.zeros(1), [10] * size)),
    (ValueError, "data has 1 elements, and counts has 10 for", lambda: comm.allgatherv(numpy.ones(1), numpy.zeros(10 * size), [10] * size)),
    (ValueError, "data has 10 elements, and counts has 9 for", lambda: comm.gatherv(data, numpy.zeros(9 * size), [9] * size, root=rank)),
    (ValueError, "out has 10 elements, and counts has 9 for", lambda: comm.scatterv(numpy.zeros(9 * size), data.copy(), [9] * size, root=rank)),
    (tutti.ArgumentError, "float64", lambda: comm.allreduce(data, op="bit-and")),
    (tutti.PlanError, "", lambda: comm.set_params("allreduce", "[core:spiral]")),
    (ValueError, "collective", lambda: comm.set_params("allspeak", "linear")),
    (ValueError, "is running", lambda: started.start()),
    (ValueError, "not of an _init method", lambda: ended.start()),
]

ended = comm.allreduce_start(data)
ended.wait()
started = comm.allreduce_init(data, data.copy())
started.start()
for kind, text, call in filter(None, CASES):
    fails(kind, text, call)
started.wait()
assert (comm.allreduce(data) == size).all()

odd = rank == size - 1
DIFFER = {
    "count 11": lambda part: part.allreduce(numpy.ones(10 + odd)),
    "int64": lambda part: part.allreduce(numpy.ones(10, "i8" if odd else "f8")),
    "max": lambda part: part.allreduce(data, op="max" if odd else "sum"),
    "root 1": lambda part: part.broadcast(data.copy(), root=int(odd)),
    "barrier()": lambda part: part.barrier() if odd else part.allreduce(data),
}
for text, call in DIFFER.items() if size > 1 else ():  # all ranks read who called what, in that call or the next one
    fails(tutti.MismatchError, text, lambda part=comm.split(0), call=call: (call(part), part.barrier()))

for before in ("", "."):  # a text that is cut amid a letter
    part = comm.split(0)
    if rank == 0:
        part.abort(before + "\u00e9" * 800)
    fails(tutti.AbortedError, "\u00e9" * 400, lambda part=part: (part.barrier(), part.barrier()))

held = bytearray(8)
request = comm.broadcast_init(held)
try:
    held.append(1)
    raise AssertionError("a buffer of a request was resized")
except BufferError:
    pass
del request
held.append(1)

opened = len(tutti.Comm._open())
for _ in range(3):  # its call is dropped, too
    comm.split(0).barrier_start()
for _ in range(1000):
    comm.split(0).close()
    if comm.allreduce(numpy.array([len(tutti.Comm._open())]), op="max")[0] == opened:
        break
else:
    raise AssertionError("a communicator is kept that nobody has")

comm.close()
for call in (lambda: comm.allreduce(data), comm.barrier, lambda: comm.last_params):
    try:
        call()
        raise AssertionError("a closed communicator went on")
    except ValueError as error:
        assert str(error) == "the communicator is closed", error
print(f"rank {rank} of {size}: all right")
