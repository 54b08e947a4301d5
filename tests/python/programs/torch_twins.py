"""Ranks on several machines, whose group has two communicators: a barrier is behind all calls before it, and an error ends
both. Started by a launcher."""

import sys

import torch
import torch.distributed as dist

import tutti.torch  # noqa: F401

dist.init_process_group("tutti")
me, size = dist.get_rank(), dist.get_world_size()

tensors = [torch.full((50000,), float(me)) for _ in range(31)]
for tensor in tensors:
    dist.all_reduce(tensor, async_op=True)
dist.barrier()
for tensor in tensors:
    if not torch.equal(tensor, torch.full((50000,), size * (size - 1) / 2)):
        sys.exit(f"rank {me}: a call before a barrier was not complete behind it")

works = []
for n in range(20):
    out = torch.empty(4 * size)
    works.append((out, dist.all_gather(list(out.split(4)), torch.full((4,), float(n * me)), async_op=True)))
for n, (out, work) in reversed(list(enumerate(works))):
    work.wait()
    if not torch.equal(out, torch.arange(size).repeat_interleave(4) * float(n)):
        sys.exit(f"rank {me}: an all_gather is wrong")

for call in range(3):
    try:
        dist.all_reduce(torch.zeros(10 if me or call else 11))  # the first one differs
    except RuntimeError as error:
        if call == 0 and "rank" not in str(error):
            sys.exit(f"rank {me}: an error that names nobody: {error}")
        continue
    sys.exit(f"rank {me}: call {call} had no error")
if me == 0:
    print("twins: right")
