"""Parameters in shards on tutti.torch, for torch 2.6: FSDP, fully_shard, DTensor, tensor parallel, pipelines, functional
collectives in compiled code, checkpoints. The losses are those that one process has with all data, within 1e-5.

torch_sharded.py RANKS [NAME...]: starts them itself; with COMPILE=1, compiled code, too. Ranks meet in a file.
"""

import faulthandler
import os
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
import torch.distributed.checkpoint as checkpoint
import torch.multiprocessing as mp
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, ShardingStrategy, fully_shard
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe
from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import tutti.torch
from torch_train import adam, alone, check, loss_of, make, sgd, train


def wanted(size, me, optimizer=sgd):
    return [step[me] for step in alone(size, optimizer)]


def test_fsdp(size, me):
    for strategy in (ShardingStrategy.FULL_SHARD, ShardingStrategy.SHARD_GRAD_OP, ShardingStrategy.NO_SHARD):
        for optimizer in (sgd, adam):
            model = FullyShardedDataParallel(make(), sharding_strategy=strategy, device_id=torch.device("cpu"))
            check(f"FSDP, {strategy}", train(model, optimizer(model.parameters()), me), wanted(size, me, optimizer))


def test_fully_shard(size, me):
    tutti.torch.enable_fully_shard()
    tutti.torch.enable_fully_shard()  # twice is once
    meshes = [init_device_mesh("cpu", (size,))]
    if size % 2 == 0:
        meshes.append(init_device_mesh("cpu", (2, size // 2), mesh_dim_names=("copies", "shards")))
    for mesh in meshes:
        for again in (True, False):
            model = make()
            for part in (model.first, model.side, model.last):
                fully_shard(part, mesh=mesh, reshard_after_forward=again)
            fully_shard(model, mesh=mesh, reshard_after_forward=again)
            check(f"fully_shard, {mesh}, {again}", train(model, adam(model.parameters()), me), wanted(size, me, adam))


def test_dtensor(size, me):
    mesh = init_device_mesh("cpu", (size,))
    whole = torch.arange(8.0 * size).reshape(2 * size, 4)
    rows = distribute_tensor(whole, mesh, [Shard(0)])
    assert rows.to_local().shape == (2, 4)
    assert torch.equal(rows.full_tensor(), whole)
    columns = distribute_tensor(torch.ones(size, 4 * size), mesh, [Shard(1)])
    assert torch.equal(columns.redistribute(mesh, [Shard(0)]).to_local(), torch.ones(1, 4 * size))
    product = distribute_tensor(whole, mesh, [Replicate()]) @ distribute_tensor(torch.eye(4), mesh, [Replicate()])
    assert torch.equal(product.full_tensor(), whole)
    assert float(rows.sum().full_tensor()) == float(whole.sum())


def test_tensor_parallel(size, me):
    """All ranks have the same batch, and a part of each matrix."""
    model, twin = make(12 * size), make(12 * size)
    plan = {"first": ColwiseParallel(), "side": RowwiseParallel(), "last": ColwiseParallel(output_layouts=Replicate())}
    model = parallelize_module(model, init_device_mesh("cpu", (size,)), plan)
    assert isinstance(model.first.weight, DTensor)
    steps = [torch.optim.SGD(of.parameters(), lr=0.1) for of in (model, twin)]
    for step in range(4):
        losses = []
        for of, optimizer in zip((model, twin), steps):
            optimizer.zero_grad()
            loss = loss_of(of, step, 0)
            loss.backward()
            optimizer.step()
            losses.append(loss)
        check("tensor parallel", losses[:1], losses[1:])


def test_pipeline(size, me):
    for schedule in (ScheduleGPipe, Schedule1F1B):
        torch.manual_seed(3)
        layers = [torch.nn.Sequential(torch.nn.Linear(8, 8), torch.nn.Tanh()) for _ in range(size)]
        data, target = torch.randn(16, 8), torch.randn(16, 8)
        loss = torch.nn.functional.mse_loss
        whole = torch.nn.Sequential(*layers)
        parts = [loss(whole(d), t) for d, t in zip(data.chunk(4), target.chunk(4))]
        sum(parts).backward()
        grads = [p.grad.clone() for p in layers[me].parameters()]
        whole.zero_grad()
        stage = PipelineStage(layers[me], me, size, torch.device("cpu"))
        runs = schedule(stage, n_microbatches=4, loss_fn=loss)
        losses = []
        runs.step(*([data] if me == 0 else []), **({"target": target, "losses": losses} if me == size - 1 else {}))
        check("pipeline", losses, [float(part) for part in parts] if losses else [])
        for p, grad in zip(layers[me].parameters(), grads):
            assert torch.allclose(p.grad, grad, atol=1e-6), (p.grad, grad)


def of_all(x):
    total = functional.all_reduce(x, "sum", dist.group.WORLD)
    every = functional.all_gather_tensor(total + dist.get_rank(), 0, dist.group.WORLD)
    return functional.reduce_scatter_tensor(every, "sum", 0, dist.group.WORLD) * 2


def test_functional(size, me):
    expected = torch.full((4,), 2.0 * size * (size * (size + 1) / 2 + me))
    for function in [of_all] + ([torch.compile(of_all, fullgraph=True)] if os.environ.get("COMPILE") else []):
        got = function(torch.full((4,), me + 1.0))
        assert torch.equal(torch.as_tensor(got), expected), (got, expected)


def test_compiled_ddp(size, me):
    if os.environ.get("COMPILE"):
        model = torch.compile(torch.nn.parallel.DistributedDataParallel(make()))
        check("compiled DDP", train(model, sgd(model.parameters()), me), wanted(size, me))


def test_checkpoint(size, me):
    """A model that was saved in shards goes on as if it had not been."""
    tutti.torch.enable_fully_shard()
    folder = os.environ["CHECKPOINTS"]
    model = make()
    fully_shard(model)
    train(model, sgd(model.parameters()), me, steps=2)
    checkpoint.save(model.state_dict(), checkpoint_id=f"{folder}/one")
    checkpoint.async_save(model.state_dict(), checkpoint_id=f"{folder}/two").result()
    dist.barrier()
    for name in ("one", "two"):
        again = make()
        with torch.no_grad():
            for parameter in again.parameters():
                parameter.zero_()
        fully_shard(again)
        state = again.state_dict()
        checkpoint.load(state, checkpoint_id=f"{folder}/{name}")
        for parameter, saved in zip(again.parameters(), model.parameters()):
            assert torch.equal(parameter.full_tensor(), saved.full_tensor()), name


def rank_main(rank, size, path, names):
    torch.set_num_threads(1)
    faulthandler.dump_traceback_later(200, exit=True)  # where it hangs
    dist.init_process_group("cpu:tutti", init_method=f"file://{path}", rank=rank, world_size=size)
    for name, test in list(globals().items()):
        if name.startswith("test_") and (not names or name[5:] in names):
            test(size, rank)
    dist.barrier()
    dist.destroy_process_group()
    print(f"rank {rank} of {size}: all right", flush=True)


if __name__ == "__main__":
    ranks = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.environ["CHECKPOINTS"] = folder
        mp.start_processes(rank_main, (ranks, os.path.join(folder, "store"), sys.argv[2:]), nprocs=ranks, start_method="fork")
