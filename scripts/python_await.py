#!/usr/bin/env python3
"""What a thousand awaited requests do to an event loop and to a core:

    tutti run -n 2 python3 scripts/python_await.py [REQUESTS [SECONDS]]

Rank 0 awaits that many requests, which the others start SECONDS later. Meanwhile a heartbeat asks to be woken every
10 ms. Prints how late it came at worst, and how much of a core the process used while it waited and while the requests
completed. Before that the same with as many futures in place of the requests, which a thread completes all at once: what
asyncio takes itself. Goals: 10 ms late at most, 5 % of a core while nothing happens.
"""

import asyncio
import sys
import threading
import time

import numpy

import tutti

BEAT = 0.010
requests = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 3.0
comm = tutti.world()


async def heart(late):
    while True:
        due = time.perf_counter() + BEAT
        await asyncio.sleep(BEAT)
        late.append(time.perf_counter() - due)


async def of_request(n):
    return (await comm.allreduce_start(numpy.full(16, n)))[0]


def of_futures():
    loop, made = asyncio.get_running_loop(), []

    def complete():
        for n, future in enumerate(made):
            future.set_result(n * comm.size)

    async def of_future(_):
        made.append(loop.create_future())
        return await made[-1]

    threading.Timer(seconds, lambda: loop.call_soon_threadsafe(complete)).start()
    return of_future


async def body(one, name):
    """Prints, on rank 0."""
    late = []
    beat = asyncio.ensure_future(heart(late))
    await asyncio.sleep(2 * BEAT)
    cpu_begun = time.thread_time()
    waits = [asyncio.ensure_future(one(n)) for n in range(requests)]
    await asyncio.sleep(0)  # they have all been started
    started = time.thread_time() - cpu_begun
    await asyncio.sleep(0.5)
    started_late = max(late)
    idle_at, cpu_at, begun = time.perf_counter(), time.process_time(), len(late)
    if comm.rank == 0:
        await asyncio.sleep(max(0.1, seconds - 1.5))
    idle = (time.process_time() - cpu_at) / (time.perf_counter() - idle_at)
    idle_late, begun = max(late[begun:], default=0), len(late)
    got = await asyncio.gather(*waits)
    assert got == [n * comm.size for n in range(requests)]
    await asyncio.sleep(2 * BEAT)
    beat.cancel()
    if comm.rank == 0:
        print(f"{requests} {name}: {100 * idle:.1f} % of a core while they wait, "
              f"{1e6 * started / requests:.1f} us of it to start each")
        print(f"  heartbeat late at most {1e3 * started_late:.1f} ms as they start, {1e3 * idle_late:.1f} while they wait, "
              f"{1e3 * max(late[begun:]):.1f} as they end")


async def both():
    await body(of_futures(), "futures of asyncio")
    comm.barrier()
    if comm.rank > 0:
        await asyncio.sleep(seconds)
    await body(of_request, f"requests of {comm.size} ranks")


asyncio.run(both())
