#!/usr/bin/env python3
"""What a thousand awaited requests do to an event loop and to a core:

    tutti run -n 2 python3 scripts/python_await.py [REQUESTS [SECONDS]]

Rank 0 awaits that many requests, which the others start SECONDS later. Meanwhile a heartbeat asks to be woken every
10 ms. Prints how late it came at worst, and how much of a core the process used while it waited and while the requests
completed. Goals: 10 ms late at most, 5 % of a core while nothing happens.
"""

import asyncio
import sys
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


async def one(n):
    return (await comm.allreduce_start(numpy.full(16, n)))[0]


async def body():
    late = []
    beat = asyncio.ensure_future(heart(late))
    if comm.rank > 0:
        await asyncio.sleep(seconds)
    waits = [asyncio.ensure_future(one(n)) for n in range(requests)]
    await asyncio.sleep(0.5)  # they have all been started
    idle_at, cpu_at, begun = time.perf_counter(), time.process_time(), len(late)
    if comm.rank == 0:
        await asyncio.sleep(max(0.1, seconds - 1.5))
    idle = (time.process_time() - cpu_at) / (time.perf_counter() - idle_at)
    idle_late = max(late[begun:], default=0)
    got = await asyncio.gather(*waits)
    assert got == [n * comm.size for n in range(requests)]
    beat.cancel()
    if comm.rank == 0:
        print(f"{requests} requests of {comm.size} ranks: {100 * idle:.1f} % of a core while they wait")
        print(f"heartbeat late at most {1e3 * idle_late:.1f} ms while they wait, {1e3 * max(late):.1f} ms in all")


asyncio.run(body())
