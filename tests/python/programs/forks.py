"""Data loaders in forks beside a job, as torch's and multiprocessing's are: 4 of them make arrays, the rank sums them.

The forks end before, between and after calls; what tutti has is the rank's alone, and a fork that calls it gets an error."""

import multiprocessing
import os
import sys
import threading
import time

import numpy

import tutti
from expect import fails

comm = tutti.world()
rank, size = comm.rank, comm.size
shared = tutti.empty(1000)


def load(n):
    return numpy.full(1000, n, "f8")


def call_it(_):
    try:
        comm.allreduce(numpy.ones(1))
    except tutti.UnsupportedError as error:
        return f"rank {rank} of the job" in str(error)
    return False


fork = multiprocessing.get_context("fork")
comm.barrier()
for start in range(2):
    with fork.Pool(4) as loaders:
        request = comm.allreduce_init(shared, shared)
        for batch in loaders.imap(load, range(20)):
            shared[:] = batch
            request.start()
            request.wait()
            assert (shared == batch * size).all()
        del request
        assert all(loaders.map(call_it, range(8))), "a fork called tutti without its error"
        loaders.close()
        loaders.join()
    assert (comm.allreduce(numpy.ones(10)) == size).all()

if size > 1:  # a fork while a thread waits has not that thread
    if rank == 0:
        request = comm.barrier_start()
        waits = threading.Thread(target=request.wait)
        waits.start()
        time.sleep(0.1)
        child = os.fork()
        if child == 0:
            fails(tutti.UnsupportedError, "is a fork", request.test)
            comm.close()
            sys.exit(3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 3
        waits.join()
    else:
        time.sleep(0.5)
        comm.barrier()

try:
    import torch.utils.data
except ImportError:
    print("no torch here")
else:
    loader = torch.utils.data.DataLoader(torch.arange(64.0), batch_size=8, num_workers=4, multiprocessing_context="fork")
    for epoch in range(2):
        total = sum(comm.allreduce(batch) for batch in loader)
        assert float(total.sum()) == size * 64 * 63 / 2, total
print(f"rank {rank} of {size}: all right")
