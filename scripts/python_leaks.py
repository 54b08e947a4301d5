#!/usr/bin/env python3
"""What calls from Python leave behind: slopes over 10^5 calls of each kind, as text.

    LD_PRELOAD=$(cc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 PYTHONMALLOC=malloc \\
        tutti run -n 2 /usr/bin/python3 scripts/python_leaks.py [CALLS]

Prints for each kind of call what grows with each one: bytes that the allocator has given out, blocks of Python, references
to an argument, and, over all calls, descriptors and threads. The first tenth is not counted: caches fill. Ends with 1
where a kind leaves 1 byte or more a call, and more than caches take. With the address sanitizer before all libraries, what is used after it was
freed ends the program too.
"""

import asyncio
import ctypes
import gc
import os
import sys
import threading

import numpy

import tutti

CACHES = 1 << 18  # bytes; up to 64 dropped requests are kept until the next sweep
calls = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
comm = tutti.world()
graph = comm.graph([comm.rank], [comm.rank])
data, out = numpy.ones(8), numpy.zeros(8)
strided = numpy.ones(16)[::2]
again = comm.allreduce_init(data, out)
process = ctypes.CDLL(None)
heap = getattr(process, "__sanitizer_get_current_allocated_bytes", None)
if heap is not None:
    heap.restype = ctypes.c_size_t


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]  # fmt: skip


process.mallinfo2.restype = _Mallinfo2


def allocated():
    if heap is not None:
        return heap()
    info = process.mallinfo2()
    return info.uordblks + info.hblkhd


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


def slope(count, run):
    """Of each thing, per call, behind the first tenth."""
    run(max(1, count // 10))
    gc.collect()
    before = allocated(), sys.getallocatedblocks(), sys.getrefcount(data)
    run(count)
    gc.collect()
    after = allocated(), sys.getallocatedblocks(), sys.getrefcount(data)
    return [(b - a) / count for a, b in zip(before, after, strict=True)]


def repeat(call):
    def run(count):
        for _ in range(count):
            call()

    return run


def open_now():
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), threading.active_count()


rows = []
begin = None
for name, (parts, call) in KINDS.items():
    rows.append((name, max(10, calls // parts), slope(max(10, calls // parts), repeat(call))))
    begin = begin or open_now()
loop = asyncio.new_event_loop()
loop.run_until_complete(awaited(10))
begin = open_now()[0], max(begin[1], open_now()[1]), begin[2]
rows.append(("await", calls, slope(calls, lambda count: loop.run_until_complete(awaited(count)))))
end = open_now()
if comm.rank == 0:
    print(f"{'per call':<26}{'calls':>8}{'bytes':>10}{'blocks':>10}{'references':>12}")
    for name, count, (bytes_, blocks, references) in rows:
        print(f"{name:<26}{count:>8}{bytes_:>10.3f}{blocks:>10.4f}{references:>12.5f}")
    for what, a, b in zip(("descriptors", "threads", "Python's threads"), begin, end, strict=True):
        print(f"{what}: {b - a:+d}")
leaks = [name for name, count, (bytes_, _, references) in rows if bytes_ >= 1 and bytes_ * count > CACHES or references >= 0.01]
if leaks:
    print(f"rank {comm.rank}: grows with each call: {', '.join(leaks)}")
sys.exit(1 if leaks or any(b > a for a, b in zip(begin, end, strict=True)) else 0)
