"""Training on tutti.torch as people do it: DDP with its options, its hooks, uneven inputs, and ZeRO. The losses are those
that one process has with all data, within 1e-5.

torch_train.py RANKS [NAME...]: starts them itself. Ranks meet in a file.
"""

import faulthandler
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
from torch.distributed.optim import ZeroRedundancyOptimizer
from torch.nn.parallel import DistributedDataParallel as DDP

import tutti.torch

STEPS, ROWS = 6, 16


class Net(torch.nn.Module):
    """A part of it is not used by every batch."""

    def __init__(self, wide):
        super().__init__()
        self.first, self.side = torch.nn.Linear(8, wide), torch.nn.Linear(wide, wide)
        self.last = torch.nn.Linear(wide, 4)

    def forward(self, x, side=True):
        x = torch.tanh(self.first(x))
        return self.last(torch.tanh(self.side(x)) if side else x)


def make(wide=32):
    torch.manual_seed(1)
    return Net(wide)


def batch(step, rank):
    of = torch.Generator().manual_seed(1000 * step + rank)
    return torch.randn(ROWS, 8, generator=of), torch.randn(ROWS, 4, generator=of)


def loss_of(model, step, rank, side=True):
    data, wanted = batch(step, rank)
    return (model(data, side) - wanted).square().mean()


def sgd(parameters):
    return torch.optim.SGD(parameters, lr=0.1, momentum=0.9)


def adam(parameters):
    return torch.optim.Adam(parameters, lr=0.01)


def alone(size, optimizer=sgd, wide=32, side=lambda step, rank: True, has=lambda step, rank: True):
    """The losses of every rank's batches in each step, in one process."""
    model = make(wide)
    step_of, all_losses = optimizer(model.parameters()), []
    for step in range(STEPS):
        step_of.zero_grad()
        losses = [loss_of(model, step, r, side(step, r)) for r in range(size) if has(step, r)]
        if losses:
            (sum(losses) / size).backward()
            step_of.step()
            all_losses.append([float(loss) for loss in losses])
    return all_losses


def train(model, optimizer, me, side=lambda step, rank: True, steps=STEPS):
    losses = []
    for step in range(steps):
        optimizer.zero_grad()
        loss = loss_of(model, step, me, side(step, me))
        loss.backward()
        optimizer.step()
        losses.append(float(loss))
    return losses


def check(what, losses, wanted, within=1e-5):
    for step, (loss, of) in enumerate(zip(losses, wanted)):
        assert abs(loss - of) < within, f"{what}, step {step}: the loss is {loss}; alone it is {of}"


def check_same(what, model):
    """The same bits on all ranks."""
    mine = torch.cat([p.detach().flatten() for p in model.parameters()])
    every = [torch.empty_like(mine) for _ in range(dist.get_world_size())]
    dist.all_gather(every, mine)
    assert all(torch.equal(one, mine) for one in every), f"{what}: ranks have different parameters"


def trained(what, size, me, options=None, hook=None, wide=32, within=1e-5, **named):
    model = DDP(make(wide), **(options or {}))
    if hook:
        model.register_comm_hook(*hook)
    losses = train(model, sgd(model.parameters()), me, **named)
    check(what, losses, [step[me] for step in alone(size, wide=wide, **named)], within)
    check_same(what, model)


def test_options(size, me):
    sometimes = lambda step, rank: (step + rank) % 2 == 0
    for view in (False, True):
        for cap in (0.001, 25):
            both = {"gradient_as_bucket_view": view, "bucket_cap_mb": cap}
            trained(f"DDP, {both}", size, me, both)
            trained(f"DDP, static graph, {both}", size, me, {**both, "static_graph": True}, side=lambda step, rank: False)
            trained(f"DDP, unused parameters, {both}", size, me, {**both, "find_unused_parameters": True}, side=sometimes)
    trained("DDP, long buckets", size, me, {"bucket_cap_mb": 4}, wide=1200)


def test_accumulated(size, me):
    """Gradients of two batches, the first without communication."""
    model, twin = DDP(make()), make()
    with model.no_sync():
        loss_of(model, 0, me).backward()
    loss_of(model, 1, me).backward()
    for r in range(size):
        ((loss_of(twin, 0, r) + loss_of(twin, 1, r)) / size).backward()
    for mine, wanted in zip(model.parameters(), twin.parameters()):
        assert torch.allclose(mine.grad, wanted.grad, atol=1e-6), (mine.grad, wanted.grad)


def test_compressed(size, me):
    for name, hook in (("fp16", default_hooks.fp16_compress_hook), ("bf16", tutti.torch.bfloat16_compress_hook)):
        trained(f"hook {name}", size, me, hook=(None, hook), within=1e-2)
        trained(f"hook {name}, many buckets", size, me, {"bucket_cap_mb": 0.001}, hook=(dist.group.WORLD, hook), within=1e-2)


def test_power(size, me):
    """Its callbacks start calls and wait for them. With as many vectors as a matrix has, nothing is lost."""
    for options in ({}, {"bucket_cap_mb": 0.001}):
        state = power.PowerSGDState(None, matrix_approximation_rank=32, start_powerSGD_iter=2, min_compression_rate=1e-3)
        trained(f"PowerSGD, {options}", size, me, options, (state, power.powerSGD_hook), 32, 1e-4)
    for options in ({}, {"bucket_cap_mb": 1}):
        state = power.PowerSGDState(None, matrix_approximation_rank=4, start_powerSGD_iter=2)
        trained(f"PowerSGD with 4 vectors, {options}", size, me, options, (state, power.powerSGD_hook), 600, 1.0)


def test_join(size, me):
    """Rank r has r + 1 batches."""
    for options in ({}, {"gradient_as_bucket_view": True, "bucket_cap_mb": 0.001}):
        model = DDP(make(), **options)
        steps = min(me + 1, STEPS)
        with model.join():
            losses = train(model, sgd(model.parameters()), me, steps=steps)
        wanted = alone(size, has=lambda step, r: step <= r)
        check(f"join, {options}", losses, [wanted[step][me - step] for step in range(steps)])
        check_same(f"join, {options}", model)


def test_zero(size, me):
    for view in (False, True):
        for optimizer, inner, options in ((sgd, torch.optim.SGD, {"lr": 0.1, "momentum": 0.9}),
                                          (adam, torch.optim.Adam, {"lr": 0.01})):
            model = DDP(make())
            shards = ZeroRedundancyOptimizer(model.parameters(), inner, parameters_as_bucket_view=view, **options)
            what = f"ZeRO, {inner.__name__}, views {view}"
            check(what, train(model, shards, me), [step[me] for step in alone(size, optimizer)])
            check_same(what, model)
            shards.consolidate_state_dict(to=0)
            if me == 0:
                assert len(shards.state_dict()["state"]) == len(list(model.parameters())), what


def rank_main(rank, size, path, names):
    torch.set_num_threads(1)
    faulthandler.dump_traceback_later(100, exit=True)  # where it hangs
    dist.init_process_group("tutti", init_method=f"file://{path}", rank=rank, world_size=size)
    for name, test in list(globals().items()):
        if name.startswith("test_") and (not names or name[5:] in names):
            test(size, rank)
    dist.destroy_process_group()
    print(f"rank {rank} of {size}: all right", flush=True)


if __name__ == "__main__":
    ranks = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(rank_main, (ranks, os.path.join(folder, "store"), sys.argv[2:]), nprocs=ranks, start_method="fork")
