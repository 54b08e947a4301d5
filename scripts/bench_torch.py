#!/usr/bin/python3
"""bench_torch.py [SLICE...] - torch's gloo beside tutti: all collectives that gloo has, 1 KB to 64 MB, blocking and
asynchronous, with 2 and 4 processes. Prints a table in Markdown with medians and minima in microseconds, and the geometric
means of gloo / tutti.

A slice is RANKS-WAY, such as 2-blocking or 8-asynchronous; without one, those of 2 and 4. Each takes 100 s at most, or
what BENCH_SECONDS says. launched-WAY: this is one of the ranks that a launcher has started, on several machines too.
BENCH_BYTES: the longest. PYTHONPATH has the package (build/lib/python). Both backends are groups of one job and take turns, round after round, so that both meet the same
machine. A time is that of the slowest rank. Asynchronous: up to eight calls are started, then waited for.
"""
import datetime
import math
import os
import statistics
import sys
import tempfile
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

import tutti.torch

SIZES = [1 << bits for bits in (10, 14, 18, 22, 24, 26) if bits != 24 or "BENCH_BYTES" in os.environ]
SIZES = [size for size in SIZES if size <= int(os.environ.get("BENCH_BYTES", SIZES[-1]))]
SLICES = ["2-blocking", "2-asynchronous", "4-blocking", "4-asynchronous"]
ROUNDS, SHARE_SECONDS = 9, 1.2
SECONDS = float(os.environ.get("BENCH_SECONDS", 85))  # of a slice
IN_FLIGHT, IN_FLIGHT_BYTES = 8, 1 << 25  # the smaller of both counts


def has(name):
    return hasattr(dist, name) and not torch.__version__.startswith("1.")


def calls(count, size):
    """Each collective as a function of the group and of further arguments. count: elements of the larger buffer."""
    part = max(count // size, 1)
    whole, small = torch.ones(part * size), torch.ones(part)
    parts, rank = list(whole.split(part)), dist.get_rank()
    out = torch.empty(part * size)
    outs = list(out.split(part))
    made = {
        "all_reduce": lambda **on: dist.all_reduce(whole, **on),
        "broadcast": lambda **on: dist.broadcast(whole, 0, **on),
        "reduce": lambda **on: dist.reduce(whole, 0, **on),
        "all_gather": lambda **on: dist.all_gather(outs, small, **on),
        "gather": lambda **on: dist.gather(small, outs if rank == 0 else None, 0, **on),
        "scatter": lambda **on: dist.scatter(small, parts if rank == 0 else None, 0, **on),
        "all_to_all_single": lambda **on: dist.all_to_all_single(out, whole, **on),
    }
    if has("all_gather_into_tensor"):
        made["all_gather_into_tensor"] = lambda **on: dist.all_gather_into_tensor(out, small, **on)
        made["reduce_scatter_tensor"] = lambda **on: dist.reduce_scatter_tensor(small, whole, **on)
    made["barrier"] = lambda **on: dist.barrier(**on)
    return made


def time_calls(call, group, in_flight, repeats):
    """Nanoseconds of a call, of the slowest rank. in_flight: 0 is blocking."""
    dist.barrier(group)
    begin = time.perf_counter_ns()
    for _ in range(repeats):
        if in_flight:
            for work in [call(group=group, async_op=True) for _ in range(in_flight)]:
                work.wait()
        else:
            call(group=group)
    took = torch.tensor([(time.perf_counter_ns() - begin) / repeats / max(in_flight, 1)])
    dist.all_reduce(took, op=dist.ReduceOp.MAX, group=group)
    return float(took)


def repeats_for(call, group, in_flight, seconds):
    once = min(time_calls(call, group, in_flight, n) for n in (1, 2)) * max(in_flight, 1)
    return max(1, min(200, int(seconds * 1e9 / once)))


def run_slice(groups, asynchronous, size):
    rows, until = [], time.monotonic() + SECONDS
    names = list(calls(size, size))
    points = [(name, bytes_of) for bytes_of in SIZES for name in names if name != "barrier" or bytes_of == SIZES[0]]
    for n, (name, bytes_of) in enumerate(points):
        call = calls(bytes_of // 4, size)[name]
        left = torch.tensor([(until - time.monotonic()) / (len(points) - n)], dtype=torch.float64)
        dist.broadcast(left, 0, group=groups["gloo"])
        if left <= 0:
            break
        share = min(float(left), SHARE_SECONDS) / (2 * ROUNDS + 4)
        in_flight = max(1, min(IN_FLIGHT, IN_FLIGHT_BYTES // bytes_of)) if asynchronous else 0
        repeats = {of: repeats_for(call, group, in_flight, share) for of, group in groups.items()}
        times = {of: [] for of in groups}
        for _ in range(ROUNDS):
            for of, group in groups.items():
                times[of].append(time_calls(call, group, in_flight, repeats[of]) / 1000)
        rows.append((name, bytes_of, times))
    return rows


def show(rows, ranks, way):
    def words(of):
        return f"{statistics.median(of):.1f} / {min(of):.1f}"

    print(f"\n{ranks} processes, {way}: microseconds, median / minimum of {ROUNDS} rounds\n")
    print("| collective | bytes | gloo | tutti | gloo / tutti |\n|---|---|---|---|---|")
    ratios = {}
    for name, bytes_of, times in rows:
        ratio = statistics.median(times["gloo"]) / statistics.median(times["tutti"])
        ratios.setdefault(name, []).append(ratio)
        print(f"| {name} | {bytes_of if name != 'barrier' else ''} | {words(times['gloo'])} | {words(times['tutti'])} | {ratio:.2f} |")
    print("\n| collective | geometric mean of gloo / tutti |\n|---|---|")
    every = [ratio for of in ratios.values() for ratio in of]
    for name, of in [*ratios.items(), ("all", every)]:
        print(f"| {name} | {math.exp(sum(map(math.log, of)) / len(of)):.2f} |")
    sys.stdout.flush()


def run(way):
    limit, size = datetime.timedelta(seconds=60), dist.get_world_size()
    groups = {"gloo": dist.group.WORLD, "tutti": dist.new_group(list(range(size)), backend="tutti", timeout=limit)}
    rows = run_slice(groups, way == "asynchronous", size)
    if dist.get_rank() == 0:
        show(rows, size, way)


def rank_main(rank, size, way, path):
    torch.set_num_threads(1)
    where = {"init_method": f"file://{path}", "rank": rank, "world_size": size} if path else {}
    dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=60), **where)
    run(way)
    dist.destroy_process_group()


if __name__ == "__main__":
    for chosen in sys.argv[1:] or SLICES:
        ranks, _, way = chosen.partition("-")
        launched = ranks == "launched"
        if not launched and (not ranks.isdecimal() or int(ranks) < 2) or way not in ("blocking", "asynchronous"):
            sys.exit(f"bench_torch.py: '{chosen}' is no RANKS-WAY, such as {SLICES[0]}")
        if launched:
            rank_main(None, None, way, None)
            continue
        with tempfile.TemporaryDirectory() as folder:
            mp.spawn(rank_main, (int(ranks), way, os.path.join(folder, "store")), nprocs=int(ranks))
