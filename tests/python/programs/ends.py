"""How a rank ends: `ends.py WAY FILE`, with package tutti, or with tutti.torch where torchrun's variables are set.

Rank 0 ends so, and the other one makes calls until it is told or done. FILE gets the time when rank 0 began to end,
FILE.told that when the other one read its error.
"""

import atexit
import os
import pathlib
import signal
import sys
import threading
import time

way, file = sys.argv[1], pathlib.Path(sys.argv[2])
if "RANK" in os.environ:
    import torch
    import torch.distributed as dist

    import tutti.torch

    dist.init_process_group("tutti")
    rank = dist.get_rank()

    def start():
        return dist.all_reduce(torch.ones(1000), async_op=True)
else:
    import numpy

    import tutti

    def look():
        """Behind the package's own handler: who has left has nothing in its lists that is gone."""
        if any(other is not comm for other in tutti.Comm._open()):
            os._exit(9)

    atexit.register(look)
    comm = tutti.world()
    rank, length = comm.rank, 1000
    if way == "outstanding_in_part":
        comm, length, way = comm.split(0), 1000000, "outstanding"
    if way == "daemon":
        comm = comm.split(0)
        more = [comm.barrier_init(), comm.graph([], [])]  # which end when the program's modules do

    def start():
        return comm.allreduce_start(numpy.ones(length))


def call_on():
    while True:
        start().wait()


def call_on_blocking():
    while True:
        comm.allreduce(numpy.ones(1000))


def ends():
    file.write_text(str(time.monotonic()))


def told(*error):
    sys.__excepthook__(*error)
    pathlib.Path(f"{file}.told").write_text(str(time.monotonic()))


def stop(number, frame):
    ends()
    if way == "raises_in_call":
        raise ValueError("stopped")
    sys.exit(3)


def fork(leave):
    """A child that ends while its parent goes on."""
    child = os.fork()
    if child == 0:
        leave(3)
    return child


def end_in_call():
    signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    start().wait()


if rank == 1:
    sys.excepthook = told
start().wait()
begun = start()
children = [fork(leave) for leave in (os._exit, sys.exit)] if way == "forks" else []
begun.wait()
for _ in range(1000 if children else 0):
    start().wait()
codes = [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
assert all(code == 3 for code in codes), codes
if way.endswith("in_call"):
    if rank == 0:
        end_in_call()
    time.sleep(0.2)
    call_on()
elif rank == 0:
    ends()
    if way == "daemon":
        threading.Thread(target=call_on_blocking, daemon=True).start()
        time.sleep(0.1)
        sys.exit(3)
    kept = [start() for _ in range(3)] if way in ("outstanding", "raises") else None
    if way == "raises":
        raise ValueError("this program has a mistake")
    if way == "exits":
        sys.exit(3)
    if way == "terminated":
        os.kill(os.getpid(), signal.SIGTERM)
elif way == "outstanding":
    for _ in range(2):  # of three: rank 0 has begun them, and waits for none
        start().wait()
elif way not in ("leave", "forks"):
    call_on()
