"""What may not hang with tutti.torch: threads that wait beside Python's lock.

torch_waits.py RANKS: starts them itself. Ranks meet in a file.
"""

import faulthandler
import os
import sys
import tempfile
import threading
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import tutti.torch


def check(what, got, wanted):
    assert torch.equal(got, wanted), f"rank {dist.get_rank()}: {what}: {got} is not {wanted}"


def test_two_threads(size, me):
    """One waits within tutti, and looks at signals now and then; the other asks without an end."""
    tensors = [torch.ones(3), torch.ones(3)]
    if me > 0:
        time.sleep(0.3)
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    thread = threading.Thread(target=works[0].wait)
    thread.start()
    while not works[1].is_completed():
        pass
    thread.join()
    check("all_reduce", tensors[1], torch.full((3,), float(size)))


def test_destroy(size, me):
    """A group that goes waits for its calls, and lets threads run meanwhile."""
    group, ticks, ends = dist.new_group(list(range(size))), [], threading.Event()

    def tick():
        while not ends.wait(0.01):
            ticks.append(time.monotonic())

    if me > 0:
        time.sleep(0.3)
    dist.all_reduce(torch.ones(3), group=group, async_op=True)
    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    dist.destroy_process_group(group)
    del group
    took = time.monotonic() - began
    ends.set()
    thread.join()
    assert me > 0 or took < 0.1 or len(ticks) > 5, f"{len(ticks)} ticks in {took} s"


def rank_main(rank, size, path):
    torch.set_num_threads(1)
    faulthandler.dump_traceback_later(60, exit=True)  # where it hangs
    dist.init_process_group("tutti", init_method=f"file://{path}", rank=rank, world_size=size)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test(size, rank)
    print(f"rank {rank} of {size}: all right", flush=True)


if __name__ == "__main__":
    ranks = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(rank_main, (ranks, os.path.join(folder, "store")), nprocs=ranks)
