#!/usr/bin/env python3
"""What calls of tutti.torch leave behind, as python_leaks.py says it of numpy's:

    LD_PRELOAD="$(cc -print-file-name=libasan.so) $(cc -print-file-name=libstdc++.so)" ASAN_OPTIONS=detect_leaks=0 \\
        python3 -m tutti.torch --nproc-per-node 2 scripts/torch_leaks.py [CALLS]

CALLS (100,000) of the common kinds, of others a part. The last rank prints: on rank 0, torch's store keeps what each new
group has written to it.
"""

import sys
import time

import leaks
import torch
import torch.distributed as dist

import tutti.torch  # noqa: F401

calls = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
dist.init_process_group("tutti")
rank, size = dist.get_rank(), dist.get_world_size()
data, blocks, out = torch.ones(8), torch.ones(size * 8), torch.zeros(8)
each, parts = [torch.zeros(8) for _ in range(size)], [torch.ones(8) for _ in range(size)]
strided = torch.ones(16)[::2]
sparse = torch.sparse_coo_tensor([[rank]], [1.0], (size,))
following, before = (rank + 1) % size, (rank - 1) % size


def settle():
    """Works with futures are complete some time after their calls."""
    future().wait()
    dist.barrier()
    time.sleep(0.1)


def dropped():
    dist.all_reduce(data, async_op=True)
    dist.all_reduce(data, async_op=True).get_future()
    dist.barrier()


def polled():
    work = dist.all_reduce(data, async_op=True)
    while not work.is_completed():
        pass


def future():
    return dist.all_reduce(data, async_op=True).get_future()


def nested():
    """The callback makes a call of its own, and waits for it."""
    future().then(lambda done: dist.all_reduce(torch.ones(8))).wait()


def message():
    receive = dist.irecv(out, before)
    dist.isend(data, following).wait()
    receive.wait()


def message_from_any():
    send = dist.isend(data, following)
    dist.recv(out)
    send.wait()


def message_future():
    receive = dist.irecv(out, before)
    dist.send(data, following)
    receive.get_future().wait()


def message_kept():
    """It has come before it is asked for."""
    sends = [dist.isend(data, following, tag=tag) for tag in (1, 2)]
    for tag in (2, 1):
        dist.recv(out, before, tag=tag)
    for send in sends:
        send.wait()


def new_group():
    group = dist.new_group(list(range(size)))
    dist.all_reduce(data, group=group, async_op=True)
    dist.destroy_process_group(group)


def wrong():
    try:
        dist.all_reduce(torch.quantize_per_tensor(torch.ones(2), 1.0, 0, torch.quint8))
    except (RuntimeError, ValueError):
        pass


def list_forms():
    dist.all_gather(each, data)
    dist.reduce_scatter(out, parts)
    dist.all_to_all(each, parts)


def of_root():
    dist.broadcast(data, 0)
    dist.reduce(data, 0)
    dist.gather(data, each if rank == 0 else None, 0)
    dist.scatter(out, parts if rank == 0 else None, 0)


KINDS = {  # how often less than `calls`, what is called
    "all_reduce": (1, lambda: dist.all_reduce(data)),
    "all_reduce, strided": (1, lambda: dist.all_reduce(strided)),
    "start and wait": (1, lambda: dist.all_reduce(data, async_op=True).wait()),
    "start and drop": (2, dropped),
    "is_completed": (2, polled),
    "future": (2, lambda: future().wait()),
    "future's then": (4, lambda: future().then(lambda done: None).wait()),
    "a call in a callback": (20, nested),
    "lists": (4, list_forms),
    "into tensors": (2, lambda: dist._all_gather_base(blocks, data)),
    "scatter into tensors": (2, lambda: dist._reduce_scatter_base(out, blocks)),
    "all_to_all_single": (2, lambda: dist.all_to_all_single(blocks.clone(), blocks)),
    "of a root": (4, of_root),
    "coalesced": (4, lambda: dist.all_reduce_coalesced([data, out])),
    "sparse": (20, lambda: dist.all_reduce(sparse.clone())),
    "send and recv": (1, message),
    "recv from any": (4, message_from_any),
    "recv's future": (4, message_future),
    "recv of what was kept": (4, message_kept),
    "an error": (4, wrong),
    "objects": (40, lambda: dist.all_gather_object([None] * size, rank)),
    "new_group, destroy": (200, new_group),
}

future().wait()  # its threads, and those of messages
message()
nested()
measured = leaks.Leaks(data, settle)
for name, (fewer, call) in KINDS.items():
    data.fill_(1), strided.fill_(1)
    measured.measure(name, max(10, calls // fewer), leaks.repeat(call))
if rank == 0:
    measured.rows.pop()  # of the store, and not the last rank's
code = measured.end(rank, rank == size - 1)
dist.barrier()
dist.destroy_process_group()
sys.exit(code)
