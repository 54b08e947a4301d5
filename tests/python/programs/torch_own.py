"""What torch keeps for backends of its own, on tutti.torch: sums of sparse tensors, a barrier that names who is missing,
groups that are split; and the examples of docstrings.

torch_own.py RANKS: starts them itself. Ranks meet in a file.
"""

import datetime
import faulthandler
import os
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

import docstrings
import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import tutti.torch
from expect import fails
from torch_train import check


def sparse_of(rank, dense=(), dtype=torch.float64):
    """rank elements, of which some have the index of others' and of each other's."""
    of = torch.Generator().manual_seed(rank)
    indices = torch.randint(0, 7, (2, 3 * rank), generator=of)
    values = torch.randint(-9, 9, (3 * rank, *dense), generator=of).to(dtype)
    return torch.sparse_coo_tensor(indices, values, (7, 7, *dense))


def test_sparse(size, me):
    for dense in ((), (5,), (2, 3)):
        for dtype in (torch.float64, torch.float32, torch.int64, torch.bfloat16):
            wanted = sum(sparse_of(r, dense, dtype).to_dense() for r in range(size))
            tensors = [sparse_of(me, dense, dtype) for _ in range(3)]
            dist.all_reduce(tensors[0])
            dist.all_reduce(tensors[1], async_op=True).wait()
            future = dist.all_reduce(tensors[2], async_op=True).get_future()
            between = torch.full((3,), me)
            dist.all_reduce(between)  # another call between its two parts
            future.wait()
            assert torch.equal(between, torch.full((3,), size * (size - 1) // 2))
            for tensor in tensors:
                assert torch.equal(tensor.to_dense(), wanted), (dense, dtype, tensor)
    average = sparse_of(me)
    dist.all_reduce(average, op=dist.ReduceOp.AVG)
    assert torch.allclose(average.to_dense(), sum(sparse_of(r).to_dense() for r in range(size)) / size)
    dist.all_reduce(sparse_of(me), async_op=True)  # dropped
    if size > 1:
        shape = (7, 7) if me == 0 else (7, 8)
        try:
            dist.all_reduce(torch.sparse_coo_tensor([[0], [0]], [1.0], shape))
        except RuntimeError as error:
            assert "another shape" in str(error), error
        else:
            raise AssertionError("no error where shapes differ")


def test_embedding(size, me):
    """DDP sums sparse gradients."""
    def make():
        torch.manual_seed(1)
        return torch.nn.Sequential(torch.nn.Embedding(50, 8, sparse=True), torch.nn.Linear(8, 1))

    def words(step, rank):
        return torch.randint(0, 50, (6,), generator=torch.Generator().manual_seed(100 * step + rank))

    model, twin = torch.nn.parallel.DistributedDataParallel(make()), make()
    steps = [torch.optim.SGD(of.parameters(), lr=0.5) for of in (model, twin)]
    for step in range(4):
        for optimizer in steps:
            optimizer.zero_grad()
        loss = model(words(step, me)).square().mean()
        loss.backward()
        of_all = [twin(words(step, r)).square().mean() for r in range(size)]
        (sum(of_all) / size).backward()
        check("an embedding", [float(loss)], [float(of_all[me])])
        for optimizer in steps:
            optimizer.step()


def test_monitored_barrier(size, me):
    tutti.torch.monitored_barrier()
    tutti.torch.monitored_barrier(timeout=datetime.timedelta(seconds=100))
    if size < 3:
        return
    group = dist.new_group(list(range(size)))
    if me in (0, 2):
        try:
            tutti.torch.monitored_barrier(group, datetime.timedelta(milliseconds=300))
        except RuntimeError as error:
            named = [r for r in range(size) if f"rank {r} has not come" in str(error)]
            assert named == [r for r in range(size) if r not in (0, 2)], error
        else:
            raise AssertionError("no error though ranks are missing")


def test_split(size, me):
    parts = [list(range(size))[n::2] for n in range(min(2, size))]
    for _ in range(3):  # with the same ranks again
        group = tutti.torch.split_group(split_ranks=parts)
        assert dist.get_world_size(group) == len(parts[me % 2]), parts
        tensor = torch.ones(4)
        dist.all_reduce(tensor, group=group)
        assert tensor[0] == len(parts[me % 2]), tensor
        if me % 2 == 0 and size > 2 and not torch.__version__.startswith("1."):
            inner = tutti.torch.split_group(group, [[dist.get_world_size(group) - 1], [0]])
            if inner is not None:
                dist.all_reduce(tensor, group=inner)
                dist.destroy_process_group(inner)
        dist.destroy_process_group(group)
    for wrong, text in (([[0, size]], "is none of"), ([[0], [0]], "twice"), ([], "lists of ranks")):
        try:
            tutti.torch.split_group(split_ranks=wrong)
        except ValueError as error:
            assert text in str(error), error
        else:
            raise AssertionError(f"no error for {wrong}")


def test_shared_tensors(size, me):
    """Long and short ones, that grow, that are views, that threads and forks make; they outlive the switch."""
    tutti.torch.share_tensors()
    tutti.torch.share_tensors()
    kept = []
    for elements in (1, 1000, 1 << 14, (1 << 14) + 1, 1 << 18):
        tensor = torch.full((elements,), float(me))
        assert tensor.data_ptr() % 64 == 0
        dist.all_reduce(tensor)
        assert (tensor == size * (size - 1) / 2).all(), elements
        kept.append(tensor)
    grown = torch.full((1000,), 3.0)
    grown.resize_(1 << 18)[1000:] = 4
    assert (grown[:1000] == 3).all() and (grown[1000:] == 4).all()
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(300, 300))
    model(torch.full((8, 300), float(me))).sum().backward()
    weight = model.module.weight.grad
    assert torch.allclose(weight, torch.full_like(weight, 8 * (size - 1) / 2)), weight
    with ThreadPoolExecutor(2) as threads:
        kept += threads.map(lambda n: torch.full((1 << 16,), float(n)), range(20))
    loader = torch.utils.data.DataLoader(torch.ones(40, 1 << 14), batch_size=4, num_workers=2, multiprocessing_context="fork")
    assert sum(float(batch.sum()) for batch in loader) == 40 * (1 << 14)
    fails(RuntimeError, "", lambda: torch.UntypedStorage(-1))
    tutti.torch.share_tensors(False)
    assert all((tensor == n).all() for n, tensor in enumerate(kept[5:]))
    kept.append(torch.ones(1 << 18))


def test_docstrings(size, me):
    """As rank 0 of two sees them."""
    if size == 2:
        docstrings.check(tutti.torch, me, {"datetime": datetime, "dist": dist, "torch": torch, "tutti": tutti})


def rank_main(rank, size, path):
    torch.set_num_threads(1)
    faulthandler.dump_traceback_later(100, exit=True)  # where it hangs
    dist.init_process_group("tutti", init_method=f"file://{path}", rank=rank, world_size=size)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test(size, rank)
    print(f"rank {rank} of {size}: all right", flush=True)


if __name__ == "__main__":
    ranks = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(rank_main, (ranks, os.path.join(folder, "store")), nprocs=ranks, start_method="fork")
