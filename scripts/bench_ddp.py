#!/usr/bin/python3
"""bench_ddp.py [--ranks N] [--turns N] [--tokens N] [--view] [--floor] [--share] - what communication costs a training
step with gloo and with tutti.

A transformer of 25 million parameters trains by DistributedDataParallel, once for each backend, in one job. A turn has, in
random order, for each backend a step (forward and backward) and the same step under no_sync, which does not communicate.
Exposed time is the first less the second, of the slowest rank. The optimizer runs in between, untimed. Prints medians, the
mean of the exposed times with its 95 % interval (2,000 samples of turns), CPU seconds of a step, and how far losses differ.
--floor: also DDP with a hook that communicates nothing, whose exposed time is that of DDP's own copies, and with one that
sums a single number for each bucket, which adds the time in which ranks wait for each other. --share: tensors are where
the ranks read each other's. PYTHONPATH has the package (build/lib/python)."""
import argparse
import datetime
import os
import random
import resource
import statistics
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

import tutti.torch

WIDTH, LAYERS, WORDS = 512, 8, 256
SAMPLES = 2000
BACKENDS = ("gloo", "tutti")


class Network(torch.nn.Module):
    """The encoder of a transformer, with words in and out."""

    def __init__(self):
        super().__init__()
        block = torch.nn.TransformerEncoderLayer(WIDTH, 8, 4 * WIDTH, dropout=0, batch_first=True)
        self.words = torch.nn.Embedding(WORDS, WIDTH)
        self.blocks = torch.nn.TransformerEncoder(block, LAYERS)
        self.out = torch.nn.Linear(WIDTH, WORDS)

    def forward(self, words):
        return self.out(self.blocks(self.words(words)))


def cpu_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


def nothing(_, bucket):
    done = torch.futures.Future()
    done.set_result(bucket.buffer())
    return done


def one_number(group, bucket):
    return dist.all_reduce(torch.ones(1), group=group, async_op=True).get_future().then(lambda _: bucket.buffer())


class Trainer:
    def __init__(self, group, view, hook=None):
        torch.manual_seed(1)
        self.model = DistributedDataParallel(Network(), process_group=group, gradient_as_bucket_view=view)
        if hook:
            self.model.register_comm_hook(group, hook)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=0.01)
        self.losses = []

    def backward(self, words):
        loss = torch.nn.functional.cross_entropy(self.model(words[:, :-1]).flatten(0, 1), words[:, 1:].flatten())
        loss.backward()
        return loss.item()

    def step(self, words, alone):
        """(seconds, CPU seconds)"""
        dist.barrier()
        begin, used = time.perf_counter(), cpu_seconds()
        if alone:
            with self.model.no_sync():
                self.backward(words)
        else:
            self.losses.append(self.backward(words))
        took = time.perf_counter() - begin, cpu_seconds() - used
        if not alone:
            self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=False)
        return took


def show(turns, losses, ranks):
    """turns: of {(backend, alone): (seconds, CPU seconds)}"""
    print(f"{ranks} processes, {len(turns)} turns, torch {torch.__version__}\n")
    print("| | step | under no_sync | exposed: mean | 95 % interval | CPU seconds a step |\n|---|---|---|---|---|---|")
    random.seed(1)
    samples = [random.choices(range(len(turns)), k=len(turns)) for _ in range(SAMPLES)]
    exposed = {of: [turn[of, False][0] - turn[of, True][0] for turn in turns] for of, alone in turns[0] if alone}
    means = {of: [sum(exposed[of][n] for n in sample) / len(sample) for sample in samples] for of in exposed}

    def interval(values):
        values = sorted(values)
        return values[SAMPLES // 40], values[-SAMPLES // 40]

    for of in exposed:
        step, alone = (statistics.median(turn[of, way][0] for turn in turns) for way in (False, True))
        cpu = statistics.mean(turn[of, False][1] for turn in turns)
        low, high = interval(means[of])
        print(f"| {of} | {1000 * step:.1f} ms | {1000 * alone:.1f} ms | {1000 * statistics.mean(exposed[of]):.1f} ms | "
              f"{1000 * low:.1f} to {1000 * high:.1f} ms | {cpu:.3f} |")
    low, high = interval([a / b for a, b in zip(means["tutti"], means["gloo"])])
    print(f"\nexposed, tutti / gloo: {statistics.mean(exposed['tutti']) / statistics.mean(exposed['gloo']):.2f} ({low:.2f} to {high:.2f})")
    steps = [turn["tutti", False][0] / turn["gloo", False][0] for turn in turns]
    print(f"step, tutti / gloo: {statistics.median(steps):.3f}")
    print(f"losses differ by {max(abs(a - b) for a, b in zip(*losses)):.1e} at most; the last is {losses[0][-1]:.4f}")


def rank_main(rank, options, path):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{path}", rank=rank, world_size=options.ranks,
                            timeout=datetime.timedelta(seconds=120))
    group = dist.new_group(backend="tutti")
    if options.share:
        tutti.torch.share_tensors()
    trainers = {"gloo": Trainer(dist.group.WORLD, options.view), "tutti": Trainer(group, options.view)}
    if options.floor:
        trainers["nothing"] = Trainer(group, options.view, nothing)
        trainers["one number"] = Trainer(group, options.view, one_number)
    order, turns = random.Random(7), []
    for turn in range(-2, options.turns):
        of = torch.Generator().manual_seed(1000 * (turn + 2) + rank)
        words = torch.randint(0, WORDS, (2, options.tokens // 2 + 1), generator=of)
        steps = [(backend, alone) for backend in trainers for alone in (False, True)]
        order.shuffle(steps)
        took = {step: trainers[step[0]].step(words, step[1]) for step in steps}
        slowest = torch.tensor([took[step] for step in sorted(took)])
        dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
        if turn >= 0:
            turns.append(dict(zip(sorted(took), slowest.tolist())))
    if rank == 0:
        show(turns, [trainers[of].losses for of in BACKENDS], options.ranks)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="bench_ddp.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--turns", type=int, default=200)
    parser.add_argument("--view", action="store_true", help="gradients are views of buckets: no copies to them and back")
    parser.add_argument("--floor", action="store_true", help="also what DDP takes without communication")
    parser.add_argument("--share", action="store_true", help="long tensors by tutti.torch.share_tensors(), for all backends")
    parser.add_argument("--tokens", type=int, default=64, help="of a step of a rank (default %(default)s)")
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(rank_main, (parser.parse_args(), os.path.join(folder, "store")),
                 nprocs=parser.parse_args().ranks)
