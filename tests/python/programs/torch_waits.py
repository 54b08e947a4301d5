"""What may not hang with tutti.torch: ranks that wait for different calls, threads that wait beside Python's lock, receivers
that were interrupted, and ranks that leave.

torch_waits.py RANKS: starts them itself. Ranks meet in a file. The last rank leaves first.
"""

import contextlib
import datetime
import faulthandler
import os
import re
import signal
import sys
import tempfile
import threading
import time
import weakref

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from expect import fails

import tutti.torch


def check(what, got, wanted):
    assert torch.equal(got, wanted), f"rank {dist.get_rank()}: {what}: {got} is not {wanted}"


def test_receive_beside_barrier(size, me):
    got = torch.zeros(1000000)
    if me == 0:
        receive = dist.irecv(got, 1)
    elif me == 1:
        time.sleep(0.2)
        dist.send(torch.ones(1000000), 0)
    dist.barrier()
    if me == 0:
        receive.wait()
        check("irecv", got, torch.ones(1000000))


def test_messages_beside_a_receive(size, me):
    """What comes while a recv of another tag is pending is kept, in order, for those that ask for it later."""
    got = torch.zeros(1)
    if me == 0:
        pending = dist.irecv(got, 1, tag=9)
        dist.barrier()
        assert not pending.is_completed()  # takes what has come
        for wanted, tag in ((1, 2), (2, 0), (3, 0)):
            received = torch.zeros(1)
            dist.recv(received, 1, tag=tag)
            check("recv beside another one", received, torch.tensor([float(wanted)]))
            dist.send(torch.ones(1), 1)
        pending.wait()
        check("irecv beside others", got, torch.ones(1))
        return
    for value, tag in ((1.0, 2), (2.0, 0)) if me == 1 else ():
        dist.send(torch.tensor([value]), 0, tag=tag)
    dist.barrier()
    if me == 1:
        dist.recv(got, 0)
        dist.recv(got, 0)
        dist.send(torch.tensor([3.0]), 0)
        dist.recv(got, 0)
        dist.send(torch.ones(1), 0, tag=9)


def test_memory_beside_a_receive(size, me):
    """While a recv or a send is pending, tensors of later calls are let go of: also of messages from other ranks."""
    pending = [dist.irecv(torch.zeros(1), 1, tag=9)] if me == 0 else []
    pending += [dist.isend(torch.zeros(1 << 20), 2, tag=9)] if me == 1 else []
    tensors = []
    for _ in range(50):
        tensor = torch.ones(100)
        dist.all_reduce(tensor)
        tensors.append(weakref.ref(tensor))
    listener = dist.irecv(torch.ones(100)) if me == 0 else None  # from any: also from rank 2, which has nothing for it
    dist.barrier()
    for _ in range(50 if me < 2 else 0):
        tensor = torch.ones(100)
        dist.send(tensor, 0) if me == 1 else dist.recv(tensor)
        tensors.append(weakref.ref(tensor))
    if me == 1:
        dist.send(tensor, 0)
    if me == 0:
        listener.wait()
    dist.barrier()
    del tensor
    alive = sum(tensor() is not None for tensor in tensors)
    assert alive < 20, f"rank {me}: {alive} tensors are kept"
    if me == 1:
        dist.send(torch.ones(1), 0, tag=9)
    if me == 2:
        dist.recv(torch.zeros(1 << 20), 1, tag=9)
    for work in pending:
        work.wait()


def sparse_sum(size, me, asynchronous):
    tensor = torch.sparse_coo_tensor([[me]], [1.0], (size,))
    return tensor, dist.all_reduce(tensor, async_op=asynchronous)


def test_sparse_beside_barrier(size, me):
    time.sleep(0.2 if me else 0)
    tensor, work = sparse_sum(size, me, me == 0)
    dist.barrier()
    if me == 0:
        work.wait()
    check("a sparse sum", tensor.to_dense(), torch.ones(size))


def test_two_threads(size, me):
    """One waits within tutti, and looks at signals now and then; the other asks without an end."""
    tensors = [torch.ones(3), torch.ones(3)]
    if me > 0:
        time.sleep(0.3)
    works = [dist.all_reduce(tensor, async_op=True) for tensor in tensors]
    thread = threading.Thread(target=works[0].wait)
    thread.start()
    while not works[1].is_completed():
        pass
    thread.join()
    check("all_reduce", tensors[1], torch.full((3,), float(size)))


def test_destroy(size, me):
    """A group that goes waits for its calls, and lets threads run meanwhile."""
    group, ticks, ends = dist.new_group(list(range(size))), [], threading.Event()

    def tick():
        while not ends.wait(0.01):
            ticks.append(time.monotonic())

    if me > 0:
        time.sleep(0.3)
    dist.all_reduce(torch.ones(3), group=group, async_op=True)
    thread = threading.Thread(target=tick)
    thread.start()
    began = time.monotonic()
    dist.destroy_process_group(group)
    del group
    took = time.monotonic() - began
    ends.set()
    thread.join()
    assert me > 0 or took < 0.1 or len(ticks) > 5, f"{len(ticks)} ticks in {took} s"


def test_receive_in_destroy(size, me):
    """A group that goes ends recvs for which nothing comes, and lets go of them."""
    groups = [dist.new_group(list(range(size)))]
    tensors = [torch.zeros(3) for _ in range(3)]
    works = [dist.irecv(tensors[0], (me + 1) % size, groups[0], tag=9), dist.irecv(tensors[1], None, groups[0], tag=9),
             dist.irecv(tensors[2], (me + 1) % size, groups[0], tag=9)]
    future = works[2].get_future()
    dist.destroy_process_group(groups.pop())
    for wait in (works[0].wait, works[1].wait, future.wait, works[2].wait):
        fails(RuntimeError, "its group was destroyed", wait)
    alive = [weakref.ref(tensor) for tensor in tensors]
    del tensors, works, future, wait
    while any(tensor() is not None for tensor in alive):
        time.sleep(0.01)


def interrupt(call):
    """By a handler of a signal that comes in the middle."""
    def stop(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, 0.1)
    try:
        call()
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("no KeyboardInterrupt")
    signal.signal(signal.SIGALRM, before)


def test_interrupted(size, me):
    """Who was interrupted takes no message, and hears the reason when it waits again."""
    got, group = torch.zeros(2, 3), dist.new_group(list(range(size)))
    if me == 0:
        for work in (dist.irecv(torch.zeros(3, 2).t(), 1), dist.all_reduce(torch.ones(3), group=group, async_op=True)):
            interrupt(work.wait)
            fails(RuntimeError, "interrupted", work.wait)
    dist.barrier()
    if me == 0:
        dist.recv(got, 1)
        check("recv after another one", got, torch.ones(2, 3))
    elif me == 1:
        dist.send(torch.ones(2, 3), 0)


def test_handlers(size, me):
    """While a call waits below it, a handler of a signal may send, wait for a thread that makes a call, and destroy the
    group. It cannot wait for that call."""
    groups, beside = [dist.new_group(list(range(size)))], dist.new_group(list(range(size)))
    total, got, errors = torch.ones(3), torch.zeros(1), []

    def handle(*_):
        try:
            work.wait(datetime.timedelta(seconds=0.001))
        except RuntimeError as error:
            if "timed out" in str(error):  # nobody waits for it yet
                signal.setitimer(signal.ITIMER_REAL, 0.05)
                return
        try:
            fails(RuntimeError, "a handler of a signal cannot wait", work.wait)
            assert not work.is_completed()
            thread = threading.Thread(target=dist.barrier, args=(beside,))
            thread.start()
            thread.join()
            if groups:
                dist.destroy_process_group(groups.pop())
            for rank in range(1, size):
                dist.send(torch.ones(1), rank)
        except BaseException as error:
            errors.append(error)
            raise

    before = signal.signal(signal.SIGALRM, handle)
    for call in (lambda: dist.all_reduce(total, group=groups[0], async_op=True), lambda: dist.irecv(got, 1, tag=8)):
        if me == 0:
            work = call()
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            work.wait()
            continue
        dist.barrier(beside)
        dist.recv(torch.zeros(1), 0)
        if groups:
            dist.all_reduce(total, group=groups[0])
            dist.destroy_process_group(groups.pop())
        elif me == 1:
            dist.send(torch.ones(1), 0, tag=8)
    signal.signal(signal.SIGALRM, before)
    assert not errors, errors
    check("a sum above which a handler ran", total, torch.full((3,), float(size)))
    check("a recv above which a handler ran", got, torch.full((1,), float(me == 0)))


def test_interrupted_in_destroy(size, me):
    """A group that goes waits for its calls; what a handler raises meanwhile is not lost."""
    groups = [dist.new_group(list(range(size)))]

    def destroy():
        dist.destroy_process_group(groups[0])
        groups.clear()
        time.sleep(0.01)  # code of Python goes on

    if me == 0:
        dist.all_reduce(torch.ones(3), group=groups[0], async_op=True)
        interrupt(destroy)
    dist.barrier()
    with contextlib.suppress(RuntimeError):  # rank 0 has given it up, unless it was interrupted before
        dist.all_reduce(torch.ones(3), group=groups[0]) if me > 0 else None


def test_time_limits(size, me):
    """One that passes says who was waited for; one that never does is none."""
    brief, endless = [dist.new_group(timeout=limit) for limit in (datetime.timedelta(seconds=0.1), datetime.timedelta(days=200000))]
    if me == 0:
        fails(RuntimeError, "recv with tag 7 waited 0.1", lambda: dist.recv(torch.zeros(1), 1, brief, tag=7))
        fails(RuntimeError, "for a message of rank 1", lambda: dist.recv(torch.zeros(1), 1, brief, tag=7))
        fails(RuntimeError, f"of any of {size - 1} ranks", lambda: dist.recv(torch.zeros(1), None, brief))
    total = torch.ones(3)
    dist.all_reduce(total, group=endless)
    check("a sum without a time limit", total, torch.full((3,), float(size)))
    got = torch.zeros(1)
    if me == 0:  # nobody waits for it yet
        work = dist.irecv(got, 1, brief)
        time.sleep(0.2)
        assert not work.is_completed()
    dist.barrier()
    if me == 1:
        dist.send(torch.ones(1), 0, brief)
    dist.barrier()
    if me == 0:
        work.wait()
        check("a late message", got, torch.ones(1))


def test_limit_of_a_late_call(size, me):
    """Its error says how long the call has waited, also where nobody waits for it within tutti."""
    brief = dist.new_group(timeout=datetime.timedelta(seconds=0.5))
    if me == 0:
        future = dist.all_reduce(torch.ones(3), group=brief, async_op=True).get_future()
        try:
            future.wait()
            raise AssertionError("the call came to its end")
        except RuntimeError as error:
            waited = float(re.search(r"waited ([\d.]+) s", str(error)).group(1))
            assert waited > 0.1, error
    dist.barrier()


def test_stopped(size, me):
    """A stop (Ctrl-Z) is no part of a time limit."""
    brief, pid = dist.new_group(timeout=datetime.timedelta(seconds=5)), torch.tensor([os.getpid()])
    total, got = torch.ones(3), torch.zeros(1)
    dist.broadcast(pid, 0)
    if me == 0:
        future = dist.all_reduce(total, group=brief, async_op=True).get_future()
        dist.recv(got, 1, brief)
        future.wait()
    elif me == 1:
        time.sleep(0.2)  # rank 0 waits for both
        os.kill(pid.item(), signal.SIGSTOP)
        time.sleep(6.5)
        os.kill(pid.item(), signal.SIGCONT)
        dist.send(torch.ones(1), 0, brief)
        for rank in range(2, size):
            dist.send(torch.ones(1), rank)
    else:
        dist.recv(torch.zeros(1), 1)
    if me > 0:
        dist.all_reduce(total, group=brief)
    check("a sum over a stop", total, torch.full((3,), float(size)))
    dist.barrier()


def test_brief_wait(size, me):
    """The call goes on where it is over."""
    total, got, limit = torch.ones(3), torch.zeros(3), datetime.timedelta(seconds=0.05)
    if me == 0:
        for work in (dist.irecv(got, 1), dist.all_reduce(total, async_op=True)):
            fails(RuntimeError, "timed out", lambda: work.wait(limit))
            for rank in range(1, size):
                dist.send(torch.ones(1), rank)
            work.wait()
        check("a message after a brief wait", got, torch.ones(3))
    else:
        dist.recv(torch.zeros(1), 0)
        if me == 1:
            dist.send(torch.ones(3), 0)
        dist.recv(torch.zeros(1), 0)
        dist.all_reduce(total)
    check("a sum after a brief wait", total, torch.full((3,), float(size)))


def test_failed_call(size, me):
    """A call that one rank could not start does not count: what belongs to later ones meets."""
    if me == 0:
        fails(RuntimeError, "must have", lambda: dist.gather(torch.ones(3), [torch.zeros(9)] * size, dst=0))
    dist.gather(torch.ones(3), [torch.zeros(3) for _ in range(size)] if me == 0 else None, dst=0)
    tensor, _ = sparse_sum(size, me, False)
    check("a sparse sum", tensor.to_dense(), torch.ones(size))


def test_callbacks_of_sparse(size, me):
    """Calls of callbacks are matched by the call they belong to, in whichever order they run."""
    sums, begun = [sparse_sum(size, me, True)[1] for _ in range(2)], {}

    def again(number):
        def callback(_):
            tensor = torch.full((2,), float(number))
            begun[number] = tensor, dist.all_reduce(tensor, async_op=True)

        return callback

    for number in (1, 2) if me == 0 else (2, 1):
        sums[number - 1].get_future().then(again(number)).wait()
    for number, (tensor, work) in begun.items():
        work.wait()
        check("a call in a callback", tensor, torch.full((2,), float(size * number)))


def test_callbacks_of_callbacks(size, me):
    """Two deep, a call is matched by the call it belongs to, too."""
    tensors = [torch.full((2,), 10.0**n) for n in range(4)]
    inner_called, beside_started, works = threading.Event(), threading.Event(), []

    def start(n):
        return dist.all_reduce(tensors[n], async_op=True)

    def inner(_):
        if me > 0:
            beside_started.wait()
        works.append(start(2))
        inner_called.set()

    first = start(0)
    outer = threading.Thread(target=lambda: first.get_future().then(lambda _: start(1).get_future().then(inner)))
    outer.start()
    if me == 0:
        inner_called.wait()
    works.append(start(3))
    beside_started.set()
    outer.join()
    inner_called.wait()
    for work in works:
        work.wait()
    for n, tensor in enumerate(tensors):
        check(f"call {n}", tensor, torch.full((2,), size * 10.0**n))


def test_several_calls(size, me):
    """One of which is wrong: none starts."""
    several = getattr(dist.group.WORLD, "allgather_into_tensor_coalesced", None)
    if not several:
        return  # torch 1.13
    first = torch.zeros(4 * size)
    fails(RuntimeError, "must have", lambda: several([first, torch.zeros(3)], [torch.ones(4), torch.ones(4)]))
    dist.barrier()
    check("a call beside a wrong one", first, torch.zeros(4 * size))
    several([first], [torch.ones(4)]).wait()
    check("all_gather_into_tensor", first, torch.ones(4 * size))


def last_messages(size, me):
    """To rank 0, from any: the last rank leaves, then the one before it, and so on."""
    if me > 0:
        if me < size - 1:
            fails(RuntimeError, "left the job", lambda: dist.recv(torch.zeros(1), me + 1))
        dist.send(torch.full((3,), float(me)), 0)
        return
    for rank in reversed(range(1, size)):
        got = torch.zeros(3)
        assert dist.recv(got) == rank
        check("recv from anywhere", got, torch.full((3,), float(rank)))
    fails(RuntimeError, "left the job", lambda: dist.recv(torch.zeros(3)))


def rank_main(rank, size, path):
    torch.set_num_threads(1)
    faulthandler.dump_traceback_later(60, exit=True)  # where it hangs
    dist.init_process_group("tutti", init_method=f"file://{path}", rank=rank, world_size=size)
    for name, test in list(globals().items()):
        if name.startswith("test_"):
            test(size, rank)
    last_messages(size, rank)
    print(f"rank {rank} of {size}: all right", flush=True)


if __name__ == "__main__":
    ranks = int(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        mp.spawn(rank_main, (ranks, os.path.join(folder, "store")), nprocs=ranks)
