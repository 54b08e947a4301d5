"""tutti.torch against what each rank computes itself: operations x types x async x layouts x groups, messages, DDP.

torch_group.py RANKS: starts them itself. Ranks meet in a file.
"""

import functools
import os
import random
import sys
import tempfile

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from expect import fails

TYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int8, torch.uint8, torch.int16, torch.int32,
         torch.int64, torch.bool, torch.complex64, torch.complex128]
OPS = {"SUM": torch.add, "PRODUCT": torch.mul, "MIN": torch.minimum, "MAX": torch.maximum}


def values(seed, rank, shape, dtype):
    made = torch.randint(0, 3, shape, generator=torch.Generator().manual_seed(1000 * seed + rank))
    return made.to(dtype)


def lay(tensor, kind):
    """The same values, as `kind` says in memory."""
    if kind == "strided":
        made = torch.zeros(*tensor.shape[:-1], 2 * tensor.shape[-1], dtype=tensor.dtype)[..., ::2]
    elif kind == "transposed":
        made = torch.zeros(*tensor.shape[:-2], tensor.shape[-1], tensor.shape[-2], dtype=tensor.dtype).transpose(-1, -2)
    else:
        made = torch.zeros_like(tensor)
    return made.copy_(tensor)


def check(what, got, wanted):
    assert torch.equal(got, wanted), f"rank {dist.get_rank()}: {what}: {got} is not {wanted}"


def one_round(seed, group, me, size):
    of = random.Random(seed)
    dtype = of.choice(TYPES)
    name = "SUM" if dtype.is_complex or dtype == torch.bool else of.choice(list(OPS))
    op, shape = getattr(dist.ReduceOp, name), (of.choice([1, 5, 3000]), of.choice([1, 2, 7]))
    asynchronous, kind = of.random() < 0.5, of.choice(["plain", "strided", "transposed"])
    root = dist.distributed_c10d.get_global_rank(group, seed % size)
    all_in = [values(seed, r, shape, dtype) for r in range(size)]
    whole = functools.reduce(torch.logical_or if dtype == torch.bool else OPS[name], all_in)
    what = f"seed {seed}, {dtype}, {name}, {shape}, {kind}, async {asynchronous}, root {root}"

    def run(call, *arguments, **named):
        work = call(*arguments, group=group, async_op=asynchronous, **named)
        if asynchronous:
            work.wait()

    def mine():
        return lay(all_in[me], kind)

    def empty(*shape):
        return lay(torch.zeros(shape, dtype=dtype), kind)

    tensor = mine()
    run(dist.all_reduce, tensor, op=op)
    check(f"all_reduce, {what}", tensor, whole)
    tensor = mine()
    run(dist.broadcast, tensor, src=root)
    check(f"broadcast, {what}", tensor, all_in[seed % size])
    tensor = mine()
    run(dist.reduce, tensor, dst=root, op=op)
    check(f"reduce, {what}", tensor, whole if me == seed % size else tensor)
    outputs = [empty(*shape) for _ in range(size)]
    run(dist.all_gather, outputs, mine())
    for r in range(size):
        check(f"all_gather, {what}", outputs[r], all_in[r])
    outputs = [empty(*shape) for _ in range(size)] if me == seed % size else None
    run(dist.gather, mine(), outputs, dst=root)
    for r in range(size if outputs else 0):
        check(f"gather, {what}", outputs[r], all_in[r])
    tensor = empty(*shape)
    run(dist.scatter, tensor, [lay(t, kind) for t in all_in] if me == seed % size else None, src=root)
    check(f"scatter, {what}", tensor, all_in[me])
    tensor = empty(*shape)
    run(dist.reduce_scatter, tensor, [mine() for _ in range(size)], op=op)
    check(f"reduce_scatter, {what}", tensor, whole)
    joined = torch.cat(all_in)
    tensor = empty(size * shape[0], shape[1])
    run(dist.all_gather_into_tensor, tensor, mine())
    check(f"all_gather_into_tensor, {what}", tensor, joined)
    tensor = empty(*shape)
    run(dist.reduce_scatter_tensor, tensor, lay(torch.cat([all_in[me]] * size), kind), op=op)
    check(f"reduce_scatter_tensor, {what}", tensor, whole)
    tensor = empty(size * shape[0], shape[1])
    run(dist.all_to_all_single, tensor, lay(torch.cat([all_in[me]] * size), kind))
    check(f"all_to_all_single, {what}", tensor, joined)
    outputs = [empty(*shape) for _ in range(size)]
    run(dist.all_to_all, outputs, [mine() for _ in range(size)])
    check(f"all_to_all, {what}", torch.cat(outputs), joined)
    rows = [[(a + 2 * b + seed) % 4 for b in range(size)] for a in range(size)]
    sent = torch.cat([torch.full((rows[me][r], 2), 10 * me + r) for r in range(size)])
    wanted = torch.cat([torch.full((rows[r][me], 2), 10 * r + me) for r in range(size)])
    tensor = torch.zeros_like(wanted)
    run(dist.all_to_all_single, tensor, sent, output_split_sizes=[rows[r][me] for r in range(size)],
        input_split_sizes=rows[me])
    check(f"all_to_all_single with splits, {what}", tensor, wanted)
    run(dist.barrier)


def averages(size, me):
    tensor = torch.full((5,), float(me))
    dist.all_reduce(tensor, op=dist.ReduceOp.AVG)
    check("average", tensor, torch.full((5,), (size - 1) / 2))
    tensor = torch.full((5,), complex(me, 1))
    dist.all_reduce(tensor, op=dist.ReduceOp.AVG)
    check("average of complex numbers", tensor, torch.full((5,), complex((size - 1) / 2, 1)))
    strided = lay(torch.zeros(1, 5, dtype=torch.complex64), "strided")
    dist.reduce_scatter_tensor(strided, torch.full((size, 5), complex(me, 1)), op=dist.ReduceOp.AVG)
    check("average of complex numbers, strided", strided, torch.full((1, 5), complex((size - 1) / 2, 1)))
    scaled = getattr(dist, "_make_nccl_premul_sum", None)
    if scaled:
        tensor = torch.full((5,), float(me + 1))
        dist.all_reduce(tensor, op=scaled(0.5))
        check("sum with a factor", tensor, torch.full((5,), size * (size + 1) / 4))


def between_elements(count):
    return torch.frombuffer(bytearray(8 * count + 8), dtype=torch.float64, count=count, offset=3).zero_()


def lists_that_meet(size, me):
    """Of lists, tensors that are one, lie in one memory backwards, between elements, or where others are read."""
    n, near = 5000, (me + 1) % size
    mine = [torch.full((n,), 10.0 * me + r, dtype=torch.float64) for r in range(size)]
    wanted = [torch.full((n,), 10.0 * r + me, dtype=torch.float64) for r in range(size)]
    mixed = torch.zeros(2 * size, n, dtype=torch.float64)
    for outputs, inputs in (
        ([t.clone() for t in mine], mine),
        (list(mixed[0::2].flip(0).unbind()), mine),
        ([mixed[2 * r + 1] for r in reversed(range(size))], [mixed[2 * r].copy_(mine[r]) for r in range(size)]),
        ([between_elements(n) for _ in range(size)], mine),
    ):
        dist.all_to_all(outputs, inputs)
        check("all_to_all", torch.stack(outputs), torch.stack(wanted))
        dist.all_gather(outputs, mine[near])
        check("all_gather", torch.stack(outputs)[:, 0], torch.tensor([10.0 * r + (r + 1) % size for r in range(size)]).double())
    same = [t.clone() for t in mine]
    dist.all_to_all(same, same)
    check("all_to_all in place", torch.stack(same), torch.stack(wanted))
    shifted = [mixed.view(-1)[r * n + 7:][:n].copy_(mine[0]) for r in range(size)]
    dist.all_gather(shifted, mixed.view(-1)[:n].copy_(mine[0]))
    check("all_gather beside its input", torch.stack(shifted)[:, 3], torch.arange(size).double() * 10)
    one = [torch.zeros(n, dtype=torch.float64)] * size
    dist.all_gather(one, mine[0])
    check("all_gather into one", one[0], torch.full((n,), 10.0 * (size - 1), dtype=torch.float64))
    for at in (me, near):  # in place, and where another's is
        outputs = [torch.zeros(n, dtype=torch.float64) for _ in range(size)]
        dist.gather(outputs[at].copy_(mine[0]), outputs if me == size - 1 else None, dst=size - 1)
        if me == size - 1:
            check("gather", torch.stack(outputs)[:, 1], torch.arange(size).double() * 10)
        inputs = [t.clone() for t in mine]
        dist.scatter(inputs[at], inputs if me == 0 else None, src=0)
        check("scatter", inputs[at], torch.full((n,), float(me), dtype=torch.float64))


def results_of_autograd(size, me):
    """Parameters and inference tensors are written to; what cannot be written is an error of its call alone."""
    def parameter():
        return torch.nn.Parameter(torch.full((3, 4), float(me)).t())

    total = torch.full((4, 3), size * (size - 1) / 2)
    broadcast, several = parameter(), [parameter(), parameter()]
    dist.broadcast(broadcast, 0)
    check("broadcast of a parameter", broadcast.data, torch.zeros(4, 3))
    dist.all_reduce_coalesced(several)
    for each in several:
        check("all_reduce_coalesced of parameters", each.data, total)
    with torch.inference_mode():
        inference = torch.full((3, 4), float(me)).t()
        future = dist.all_reduce(inference, async_op=True).get_future()
        future.wait()  # completed by another thread
        check("all_reduce of an inference tensor", inference, total)
    for _ in range(2):
        work = dist.all_reduce(torch.zeros(1).expand(4), async_op=True)
        fails(RuntimeError, "single memory location", work.wait)
        fails(RuntimeError, "single memory location", work.wait)
    fails(RuntimeError, "single memory location",
          dist.all_reduce(torch.zeros(1).expand(4), async_op=True).get_future().wait)
    dist.all_reduce(torch.zeros(1).expand(4), async_op=True)  # dropped


def lazy(size, me):
    """Tensors that are conjugated or negated when they are read, and written. Most calls torch itself resolves before."""
    for lies in (lambda tensor: tensor, torch.conj):
        outputs = [lies(torch.zeros(3, dtype=torch.complex64)) for _ in range(size)] if me == 0 else None
        dist.gather(torch.full((3,), complex(me, 2)).conj(), outputs, dst=0)
        for r in range(size if outputs else 0):
            check("gather of conjugates", outputs[r], torch.full((3,), complex(r, -2)))
    outputs = [torch._neg_view(torch.zeros(3)) for _ in range(size)]
    dist.all_gather(outputs, torch._neg_view(torch.full((3,), float(me))))
    for r in range(size):
        check("all_gather of negated ones", outputs[r], torch.full((3,), -float(r)))


def messages(size, me):
    after, before = (me + 1) % size, (me - 1) % size
    for length in (1, 100, 100000):
        sent, got = torch.full((length,), float(me)), torch.zeros(length)
        receives, sends = dist.irecv(got, before), dist.isend(sent, after)
        receives.wait()
        sends.wait()
        check("irecv", got, torch.full((length,), float(before)))
    if me == 0:
        for tag in (3, 1, 2):
            dist.send(torch.full((4,), tag), 1, tag=tag)
        sources = set()
        for _ in range(size - 1):
            got = torch.zeros(3)
            source = dist.recv(got)
            check("recv from anywhere", got, torch.full((3,), float(source)))
            sources.add(source)
        assert sources == set(range(1, size)), sources
    else:
        for tag in (1, 2, 3) if me == 1 else ():
            got = torch.zeros(4, dtype=torch.int64)
            dist.recv(got, 0, tag=tag)
            check("recv by tag", got, torch.full((4,), tag))
        dist.send(torch.full((3,), float(me)), 0)
    shared = torch.full((4,), float(me))
    if me == 0:  # broadcast, then send; the other one receives first
        work = dist.broadcast(shared, 0, async_op=True)
        dist.send(torch.ones(2), 1)
    else:
        dist.recv(torch.zeros(2), 0) if me == 1 else None
        work = dist.broadcast(shared, 0, async_op=True)
    work.wait()
    check("broadcast beside a message", shared, torch.zeros(4))


def dropped(size, me):
    """Works that nobody waits for, and futures whose callbacks make calls."""
    tensors = [torch.full((5000,), float(me)) for _ in range(30)]
    for tensor in tensors:
        dist.all_reduce(tensor, async_op=True)
    dist.barrier()
    for tensor in tensors:
        check("a dropped all_reduce", tensor, torch.full((5000,), size * (size - 1) / 2))

    def again(future):
        tensor = future.value()[0]
        dist.all_reduce(tensor)
        return tensor

    tensor = torch.ones(1000)
    first = dist.all_reduce(tensor, async_op=True).get_future()
    check("a call in a callback", first.then(again).wait(), torch.full((1000,), float(size * size)))


def train(size, me):
    """The same loss as one process has with all data."""
    torch.manual_seed(1)
    make = lambda: torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.Tanh(), torch.nn.Linear(32, 4)).double()
    model, twin = make(), make()
    twin.load_state_dict(model.state_dict())
    model = torch.nn.parallel.DistributedDataParallel(model)
    data = torch.randn(8 * size, 16, generator=torch.Generator().manual_seed(2)).double()
    for _ in range(5):
        for of, rows in ((model, data[8 * me : 8 * me + 8]), (twin, data)):
            of.zero_grad()
            of(rows).square().mean().backward()
            with torch.no_grad():
                for parameter in of.parameters():
                    parameter -= 0.1 * parameter.grad
    for a, b in zip(model.parameters(), twin.parameters()):
        assert torch.allclose(a, b, rtol=1e-9), (a, b)


def errors(size, me):
    fails(RuntimeError, "has 3 elements; it must have", lambda: dist.all_gather_into_tensor(torch.zeros(3), torch.zeros(4)))
    fails(RuntimeError, "input has elements of type Float, output of type Double",
          lambda: dist.all_gather_into_tensor(torch.zeros(4 * size, dtype=torch.float64), torch.zeros(4)))
    mixed = torch.ones(4, dtype=torch.int64), torch.ones(4)
    gathered = [[torch.zeros(4, dtype=torch.int64) for _ in mixed] for _ in range(size)]
    fails(RuntimeError, "has elements of type Float", lambda: dist.group.WORLD.allgather_coalesced(gathered, list(mixed)).wait())
    fails(RuntimeError, "bit-and", lambda: dist.all_reduce(torch.zeros(3), op=dist.ReduceOp.BAND))
    part = dist.new_group(list(range(size)))
    if size > 1:  # ranks that differ
        tensor = torch.zeros(4 if me == 0 else 5)
        fails(RuntimeError, "rank 0 called allreduce(count 4", lambda: dist.all_reduce(tensor, group=part))
    dist.all_reduce(torch.zeros(1))


def rank_main(rank, size, path):
    torch.set_num_threads(1)
    backend = os.environ.get("BACKEND", "tutti")
    if backend == "tutti":
        import tutti.torch  # registers it

    dist.init_process_group(backend, init_method=f"file://{path}", rank=rank, world_size=size)
    halves = [dist.new_group(list(range(size))[n::2]) for n in range(min(2, size))]
    half = halves[rank % 2]
    for seed in range(25):
        one_round(seed, dist.group.WORLD, rank, size)
        if size == 1 or dist.get_world_size(half) > 0:
            one_round(100 + seed, half, dist.get_rank(half), dist.get_world_size(half))
    averages(size, rank)
    lists_that_meet(size, rank)
    results_of_autograd(size, rank)
    lazy(size, rank)
    if size > 1:
        messages(size, rank)
    dropped(size, rank)
    train(size, rank)
    errors(size, rank)
    for _ in range(20):
        dist.barrier(dist.new_group(list(range(size))))
    if rank == 0:
        dist.destroy_process_group()  # the others leave it to the exit
    print(f"rank {rank} of {size}: all right", flush=True)


if __name__ == "__main__":
    ranks = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        mp.start_processes(rank_main, (ranks, os.path.join(folder, "store")), nprocs=ranks, start_method="fork")
