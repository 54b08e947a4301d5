#!/usr/bin/env python3
"""What calls from Python leave behind: slopes over 10^5 calls of each kind, as text.

    LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \\
        tutti run -n 2 /usr/bin/python3 scripts/python_leaks.py [CALLS]

Prints for each kind of call what grows with each one: bytes that the allocator has given out, blocks of Python, references
to an argument, and, over all calls, descriptors and threads. The first tenth is not counted: caches fill. Ends with 1
where a kind leaves 1 byte or more a call, and more than caches take. With the address sanitizer before all libraries,
what is used after it was freed ends the program too.
"""

import asyncio
import sys

import leaks
import numpy

import tutti

calls = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
comm = tutti.world()
graph = comm.graph([comm.rank], [comm.rank])
data, out = numpy.ones(8), numpy.zeros(8)
strided = numpy.ones(16)[::2]
again = comm.allreduce_init(data, out)


def wrong():
    try:
        comm.allreduce(data, op="most")
    except ValueError:
        pass


async def awaited(count):
    for _ in range(count):
        await comm.allreduce_start(data, out)


def dropped():
    comm.allreduce_start(data, out)
    comm.barrier()


def split():
    comm.split(0).close()


KINDS = {  # how often less than `calls`, what is called
    "allreduce": (1, lambda: comm.allreduce(data, out)),
    "allreduce, a new result": (1, lambda: comm.allreduce(data)),
    "allreduce, strided": (1, lambda: comm.allreduce(strided)),
    "allgatherv": (1, lambda: comm.allgatherv(data[:4], numpy.zeros(4 * comm.size), [4] * comm.size)),
    "start and wait": (1, lambda: comm.allreduce_start(data, out).wait()),
    "start and drop": (1, dropped),
    "persistent": (1, lambda: again.start().wait()),
    "init": (10, lambda: comm.allreduce_init(data, out).start().wait()),
    "graph's call": (1, lambda: graph.neighbor_allgather(data)),
    "an error": (1, wrong),
    "objects": (10, lambda: tutti.allgather_objects(comm, {"rank": comm.rank})),
    "explain": (1, lambda: comm.explain("allreduce", 64)),
    "memory": (10, lambda: tutti.empty(64)),
    "split": (100, split),
}


measured = leaks.Leaks(data)
for name, (parts, call) in KINDS.items():
    measured.measure(name, max(10, calls // parts), leaks.repeat(call))
loop = asyncio.new_event_loop()
loop.run_until_complete(awaited(10))
measured.now_open()
measured.measure("await", calls, lambda count: loop.run_until_complete(awaited(count)))
sys.exit(measured.end(comm.rank, comm.rank == 0))
