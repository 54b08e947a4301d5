"""Waiting as Python waits: awaited requests, cancelled ones, Ctrl-C, threads beside a call."""

import asyncio
import concurrent.futures
import faulthandler
import fcntl
import gc
import os
import pathlib
import signal
import sys
import tempfile
import threading
import time
import weakref

import numpy

import tutti
from tutti import _async
from expect import fails

faulthandler.dump_traceback_later(100, exit=True)  # without the interpreter's lock, which a thread may have for ever
with concurrent.futures.ThreadPoolExecutor(4) as pool:  # threads that ask at once get the same
    comm, *others = [made.result() for made in [pool.submit(tutti.world) for _ in range(4)]]
assert all(other is comm for other in others)
rank, size = comm.rank, comm.size


async def late(seconds):
    """Ranks but 0 come later; meanwhile rank 0's loop goes on."""
    beats = 0
    if rank > 0:
        await asyncio.sleep(seconds)
    waits = [asyncio.ensure_future(one(n)) for n in range(50)]
    while not all(wait.done() for wait in waits):
        beats += 1
        await asyncio.sleep(0.001)
    assert [wait.result() for wait in waits] == [n * size for n in range(50)]
    assert rank > 0 or size == 1 or beats > 5, f"the loop went on {beats} times"


async def one(n):
    return (await comm.allreduce_start(numpy.full(10, n)))[0]


async def many_at_once():
    """More than their pipe has room for end while the loop stands; then the loop goes on between them."""
    await comm.barrier_start()
    bell, turns = _async.waiting_in(asyncio.get_running_loop()).bell, 0
    bell.room = fcntl.fcntl(bell.reads, fcntl.F_SETPIPE_SZ, 4096)
    waits = [asyncio.ensure_future(one(n)) for n in range(600)]
    await asyncio.sleep(0)
    time.sleep(0.2)
    while not all(wait.done() for wait in waits):
        turns += 1
        await asyncio.sleep(0)
    assert [wait.result() for wait in waits] == [n * size for n in range(600)]
    assert size == 1 or turns > 10, f"they ended in {turns} turns"


async def cancelled():
    """The call goes on, and its buffers stay."""
    data = numpy.full(100000, rank + 1.0)
    out = numpy.zeros_like(data)
    request = comm.allreduce_start(data, out)
    waits = asyncio.ensure_future(wait_for(request))
    await asyncio.sleep(0)
    waits.cancel()
    try:
        await waits
    except asyncio.CancelledError:
        pass
    del request, data
    comm.barrier()
    assert (out == size * (size + 1) / 2).all()


async def wait_for(request):
    return await request


async def several_await(seconds):
    """One request, in tasks of a loop, also where one of them is cancelled."""
    await asyncio.sleep(seconds if rank > 0 else 0)
    request = comm.allreduce_start(numpy.full(10, 3))
    waits = [asyncio.ensure_future(wait_for(request)) for _ in range(3)]
    await asyncio.sleep(0)
    waits.pop().cancel()
    for total in await asyncio.wait_for(asyncio.gather(*waits), 20):
        assert (total == 3 * size).all()


def several_loops():
    """Of as many threads: all of them see how the request ends."""
    time.sleep(0.1 if rank > 0 else 0)
    request = comm.barrier_start()
    beside(*[lambda: asyncio.run(asyncio.wait_for(wait_for(request), 20))] * 3)


def loop_ends():
    """Before the request, and nothing is left of it: what is opened next may have the number of the loop's descriptor, and
    nothing is written to it."""
    loops = []

    async def in_vain():
        loops.append(weakref.ref(asyncio.get_running_loop()))
        await asyncio.wait_for(wait_for(request), 0.05)

    time.sleep(0.2 if rank > 0 else 0)
    request = comm.barrier_start()
    try:
        asyncio.run(in_vain())
    except asyncio.TimeoutError:
        pass
    gc.collect()
    assert loops[0]() is None, gc.get_referrers(loops[0]())
    files = [tempfile.TemporaryFile() for _ in range(10)]
    request.wait()
    assert not any(os.fstat(file.fileno()).st_size for file in files)


def threads():
    """Another thread goes on while this one waits in a call: the call does not hold the interpreter. The others come to the
    call only when that thread says so."""
    folder = tempfile.mkdtemp() if rank == 0 else ""
    word = pathlib.Path(tutti.broadcast_object(comm, folder)) / "come"

    def go_on():
        for _ in range(50):
            time.sleep(0.001)  # each time it wants the interpreter back
        word.touch()

    thread = threading.Thread(target=go_on)
    if rank == 0:
        thread.start()
    while rank > 0 and not word.exists():
        time.sleep(0.01)
    comm.barrier()
    if rank == 0:
        thread.join()
        word.unlink()
        os.rmdir(folder)


def beside(*calls):
    """Each in a thread."""
    with concurrent.futures.ThreadPoolExecutor(len(calls)) as threads:
        for done in [threads.submit(call) for call in calls]:
            done.result()


def several_wait():
    """For one request; all of them see how it ends."""
    ends = []
    time.sleep(0.1 if rank > 0 else 0)
    request = comm.allreduce_start(numpy.full(9, 2.0), numpy.zeros((9, 2))[:, 0])  # its result is brought there at the end
    waits = [lambda: ends.append(request.wait().sum())] * 3
    beside(*waits, lambda: poll(request), lambda: ends.append(asyncio.run(wait_for(request)).sum()))
    assert ends == [18.0 * size] * 4, ends


def poll(request):
    while not request.test():
        time.sleep(0.001)


def calls_beside_a_wait():
    """The thread that waits wants the interpreter now and then; whoever has it never waits for that thread."""
    time.sleep(0.3 if rank > 0 else 0)
    first, second = comm.barrier_start(), comm.barrier_start()
    again = comm.allreduce_init(numpy.ones(1), numpy.zeros(1))

    def call():
        while not second.test():
            comm.context.alloc(64)
            comm.set_params("scan", None)
            assert comm.last_authority and comm.explain("scan", 8)
        again.start().wait()

    beside(first.wait, call)


def several_see_the_error():
    """Of one request: that another rank gives up, or that another thread closes the communicator."""
    for text in ("enough", "the communicator was closed"):
        part = comm.split(0)
        if rank == 0:
            request = part.barrier_start()
            fail = [lambda: fails(tutti.AbortedError, text, request.wait)] * 2
            beside(*fail, lambda: (time.sleep(0.1), part.close() if "closed" in text else fail[0]()))
            fails(tutti.AbortedError, text, request.test)
        elif text == "enough":
            time.sleep(0.1)
            part.abort(text)
        comm.barrier()


def closed_in_a_call():
    """Of another thread, which goes on: the communicator stays open."""
    part = comm.split(0)
    if rank == 0:
        closes = lambda: fails(ValueError, "a thread is in a call of the communicator", part.close)
        beside(part.barrier, lambda: (time.sleep(0.1), closes(), comm.barrier()))
    else:
        comm.barrier()
        part.barrier()
    part.close()


def without_a_thread():
    """Of tutti's, nobody ends another thread's call, or starts that thread: both would be in tutti."""
    part, entered, other = comm.split(0), threading.Event(), comm.split(0)
    request = other.barrier_start() if rank == 0 else None
    refused = pathlib.Path(tempfile.gettempdir()) / f"tutti-refused-{os.getppid()}"

    def end():
        entered.wait()
        for ends in (part.close, lambda: part.abort("enough")):
            fails(ValueError, "set TUTTI_PROGRESS=thread", ends)
        fails(ValueError, "awaited only with a thread of tutti's", lambda: asyncio.run(wait_for(request)))
        refused.touch()

    if rank == 0:
        usual = sys.getswitchinterval()
        sys.setswitchinterval(1000)  # the other thread runs when the one that waits lets it, in the call
        beside(lambda: (entered.set(), part.barrier()), end)
        sys.setswitchinterval(usual)
        refused.unlink()
    else:
        while not refused.exists():
            time.sleep(0.01)
        part.barrier()
    request.wait() if rank == 0 else other.barrier()
    part.close()


def dropped_beside_a_call():
    """Of another thread, where tutti has none: what the program has no more stays in tutti until the call is over."""
    part, own = comm.split(0), comm.split(0)
    kept, entered, dropped = [comm.split(0), own.barrier_init(), own.graph([], [])], threading.Event(), []
    word = pathlib.Path(tempfile.gettempdir()) / f"tutti-dropped-{os.getppid()}"

    def there():
        """Communicators that are open, and what holds one of them."""
        try:
            comm.context.close()
        except ValueError as error:
            return str(error).split()[3], sys.getrefcount(own)

    def drop():
        entered.wait()
        dropped.append(there())
        kept.clear()
        dropped.append(there())
        word.touch()

    if rank == 0:
        usual = sys.getswitchinterval()
        sys.setswitchinterval(1000)
        beside(lambda: (entered.set(), part.barrier()), drop)
        sys.setswitchinterval(usual)
        word.unlink()
        communicators, holders = dropped[0]
        assert dropped[1] == dropped[0] and there() == (str(int(communicators) - 1), holders - 2), (dropped, there())
    else:
        while not word.exists():
            time.sleep(0.01)
        part.barrier()


async def told_that_another_gives_up():
    """Nobody but the loop waits."""
    part = comm.split(0)
    if rank == 1:
        part.abort("that will do")
    else:
        try:
            await asyncio.wait_for(wait_for(part.barrier_start()), 20)
            raise AssertionError("the call came to its end")
        except tutti.AbortedError as error:
            assert "that will do" in str(error), error
    comm.barrier()


def handlers(has_thread):
    """Of signals cannot take away what the call below them uses, nor use it: tutti does one call of a communicator at a time,
    but with a thread it has them all in a queue, except those that make something."""
    part, ran = comm.split(0), []
    again, ring = part.barrier_init(), part.graph([(rank - 1) % size], [(rank + 1) % size])
    starts = (part.barrier, part.barrier_start, lambda: part.split(0), lambda: part.graph([], []), lambda: part.set_params("scan", None))

    def handle(*_):
        fails(ValueError, "a handler of a signal cannot close", part.close)
        fails(ValueError, "a handler of a signal cannot make a communicator", comm.context.comm)
        if len(ran) == 0:
            fails(ValueError, "a handler of a signal cannot wait", again.wait)
        if len(ran) == 2:
            fails(ValueError, "the graph has 1 requests or calls", ring.close)
        for start in starts if len(ran) >= (3 if has_thread else 1) else ():
            fails(ValueError, "a handler of a signal cannot make a call", start)
        ran.append(True)

    signal.signal(signal.SIGUSR1, handle)
    for call in (lambda: again.start().wait(), part.barrier, lambda: ring.neighbor_allgather(numpy.ones(1)),
                 lambda: part.split(0), lambda: part.graph([], [])):
        if rank == 0:
            threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGUSR1)).start()
        else:
            time.sleep(0.2)
        call()
    assert rank > 0 or len(ran) == 5
    part.close()


def interrupted():
    """Ctrl-C on the last rank, which waits for rank 0: it leaves, and rank 0 reads who did it."""
    if rank == size - 1:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            comm.allreduce(numpy.ones(1000))
            raise AssertionError("the call came to its end")
        except KeyboardInterrupt:
            return
    if rank == 0:
        time.sleep(0.5)
    try:
        for _ in range(2):  # from another machine the data may come first, and the error with the next call
            comm.allreduce(numpy.ones(1000))
        raise AssertionError("the calls came to their end")
    except tutti.AbortedError as error:
        assert f"rank {size - 1} was interrupted" in str(error), error


if size > 1:
    without_a_thread()  # an await starts one
    handlers(False)
    dropped_beside_a_call()
asyncio.run(late(0.2))
asyncio.run(many_at_once())
asyncio.run(cancelled())
asyncio.run(several_await(0.1))
several_loops()
loop_ends()
threads()
calls_beside_a_wait()
several_wait()
if size > 1:
    several_see_the_error()
    closed_in_a_call()
    handlers(True)
    asyncio.run(told_that_another_gives_up())
    interrupted()
print(f"rank {rank} of {size}: all right")
sys.exit(0)
