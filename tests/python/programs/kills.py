"""Ranks that are killed at a random moment, among calls of all kinds: the others learn within two seconds who it was.

kills.py plain|torch|await ROUNDS RANKS [SEED]: all is loaded once, and each round forks the ranks, which meet in files.
Prints how long the last of the others took to end its call with the error.
"""

import asyncio
import gc
import os
import pathlib
import random
import shutil
import signal
import sys
import tempfile
import time

import numpy

import tutti

KIND = sys.argv[1]
ROUNDS, RANKS = int(sys.argv[2]), int(sys.argv[3])
SEED = int(sys.argv[4]) if len(sys.argv) > 4 else int(os.environ.get("TUTTI_TEST_SEED") or random.randrange(10**6))
HANG_SECONDS = 30
COUNTS = (1, 100, 5000, 100000)

if KIND == "torch":
    import torch
    import torch.distributed as dist

    import tutti.torch


# ---- calls: all ranks draw the same ones ----


def make_comm(rank, folder):
    times = 0

    def allgather(mine):
        nonlocal times
        times += 1
        (folder / f"new{rank}").write_bytes(mine)
        (folder / f"new{rank}").rename(folder / f"{times}.{rank}")
        for other in range(RANKS):
            while not (folder / f"{times}.{other}").exists():
                time.sleep(0.001)
        return b"".join((folder / f"{times}.{other}").read_bytes() for other in range(RANKS))

    return tutti.Context(boot=(rank, RANKS, allgather)).comm()


def draw_plain(comm, of):
    """A call, as a method's name and its arguments."""
    data, root = numpy.ones(of.choice(COUNTS)), of.randrange(RANKS)
    parts = numpy.ones((RANKS, of.choice(COUNTS)))
    return of.choice([
        ("allreduce", data), ("allreduce", data, data), ("broadcast", data, root), ("reduce", data, None, "max", root),
        ("allgather", data), ("gather", data, None, root), ("all_to_all", parts), ("reduce_scatter", parts), ("scan", data),
        ("scatter", parts if comm.rank == root else None, parts[0].copy(), root), ("barrier",)])  # fmt: skip


def call_plain(comm, of):
    way, calls = of.randrange(3), [draw_plain(comm, of) for _ in range(of.randrange(1, 6))]
    if way == 0:
        for name, *arguments in calls:
            getattr(comm, name)(*arguments)
    else:
        requests = [getattr(comm, name + ("_start" if way == 1 else "_init"))(*arguments) for name, *arguments in calls]
        for request in requests if way == 2 else ():
            request.start()
        for request in requests:
            request.wait()


async def call_awaited(comm, of):
    calls = [draw_plain(comm, of) for _ in range(of.randrange(1, 6))]
    requests = [getattr(comm, f"{name}_start")(*arguments) for name, *arguments in calls]
    await asyncio.gather(*(wait_for(request) for request in requests))


async def wait_for(request):
    await request


def draw_torch(of):
    rank, root = dist.get_rank(), of.randrange(RANKS)
    tensor = torch.ones(of.choice(COUNTS))
    each = [torch.ones_like(tensor) for _ in range(RANKS)]
    return of.choice([
        (dist.all_reduce, tensor), (dist.broadcast, tensor, root), (dist.reduce, tensor, root), (dist.all_gather, each, tensor),
        (dist.gather, tensor, each if rank == root else None, root), (dist.reduce_scatter, tensor, each),
        (dist.scatter, tensor, each if rank == root else None, root), (dist.all_to_all_single, torch.ones(8 * RANKS), torch.ones(8 * RANKS)),
        (dist.barrier,), (pass_on, tensor)])  # fmt: skip


def pass_on(tensor, async_op):
    """A message around the ring."""
    rank = dist.get_rank()
    sent = dist.isend(tensor, (rank + 1) % RANKS)
    received = dist.irecv(torch.empty_like(tensor), (rank - 1) % RANKS)
    if async_op:
        sent.wait()
        return received
    received.wait()
    sent.wait()
    return None


def call_torch(of):
    asynchronous = of.random() < 0.5
    works = [call(*arguments, async_op=asynchronous) for call, *arguments in (draw_torch(of) for _ in range(of.randrange(1, 6)))]
    if asynchronous:
        done = works[0].get_future().then(lambda future: future.value()) if hasattr(works[0], "get_future") else None
        for work in works:
            work.wait()
        if done:
            done.wait()


# ---- ranks ----


def prepare(rank, folder):
    """What makes the next calls."""
    of = random.Random(f"{SEED}{folder.suffix}")
    if KIND == "torch":
        torch.set_num_threads(1)
        dist.init_process_group("tutti", init_method=f"file://{folder}/store", rank=rank, world_size=RANKS)
        return lambda: call_torch(of)
    comm = make_comm(rank, folder)
    if KIND == "await":
        loop = asyncio.new_event_loop()
        return lambda: loop.run_until_complete(call_awaited(comm, of))
    return lambda: call_plain(comm, of)


def run_rank(rank, folder, ready):
    """Returns to the end of the program, as a program does."""
    call = prepare(rank, folder)
    call()
    os.write(ready, b".")
    try:
        while True:
            call()
    except (RuntimeError, tutti.Error) as error:
        when = time.monotonic()
        (folder / f"said{rank}").write_text(f"{when} {type(error).__name__}: {error}", encoding="utf-8")


# ---- rounds ----


def reap(children, victim):
    """How the others ended, as far as they did in time; the rest is killed."""
    ended, until = {}, time.monotonic() + HANG_SECONDS
    while len(ended) < len(children):
        for rank, child in children.items():
            if rank not in ended and (got := os.waitpid(child, os.WNOHANG))[0]:
                ended[rank] = os.waitstatus_to_exitcode(got[1])
            elif rank not in ended and time.monotonic() > until:
                os.kill(child, signal.SIGKILL)
        time.sleep(0.001)
    assert ended.pop(victim) == -signal.SIGKILL
    return ended


def check(folder, victim, ended):
    """Returns when the last one knew. Who waits for a message of another rank hears that this one has ended, having heard."""
    said = {}
    for rank, code in ended.items():
        assert code == 0, f"rank {rank} ended with {code}"
        when, text = (folder / f"said{rank}").read_text(encoding="utf-8").split(" ", 1)
        said[float(when)] = text
        assert KIND == "torch" or text.startswith("PeerError"), f"rank {rank}: {text}"
    for when, text in said.items():
        follows = KIND == "torch" and when > min(said) and "of the job)" in text
        assert f"rank {victim} " in text or follows, f"rank {victim} is not named: {text}"
    return max(said)


def one_round(number):
    """None in the ranks; else how long the others took."""
    folder, children = pathlib.Path(tempfile.gettempdir(), f"tutti-kills.{os.getpid()}.{number}"), {}
    folder.mkdir()
    of, (reads, writes) = random.Random(SEED + number), os.pipe()
    for rank in range(RANKS):
        child = os.fork()
        if child == 0:
            run_rank(rank, folder, writes)
            return None
        children[rank] = child
    ready = 0
    while ready < RANKS:
        ready += len(os.read(reads, RANKS))
    time.sleep(of.random() * 0.02)
    victim, killed_at = of.randrange(RANKS), time.monotonic()
    os.kill(children[victim], signal.SIGKILL)
    ended = reap(children, victim)
    try:
        return check(folder, victim, ended) - killed_at
    except (AssertionError, OSError) as error:
        raise AssertionError(f"round {number} of seed {SEED}: {error}") from None
    finally:
        shutil.rmtree(folder)
        os.close(reads)
        os.close(writes)


def main():
    took = []
    gc.freeze()  # the ends of ranks need not look through what they share
    for number in range(ROUNDS):
        seconds = one_round(number)
        if seconds is None:
            return
        took.append(seconds)
    took.sort()
    print(f"{KIND}, {RANKS} ranks: {ROUNDS} killed; the others knew after {took[len(took) // 2]:.3f} s, at most {took[-1]:.3f} s")


main()
