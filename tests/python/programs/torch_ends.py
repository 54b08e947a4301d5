"""How processes with tutti.torch end: each way, so many times. Prints the slowest end of each.

torch_ends.py ROUNDS [WAY...]: torch is loaded once, and each round forks two ranks, which end by themselves or by a signal.
"""

import os
import pathlib
import shutil
import signal
import sys
import tempfile
import threading
import time
import warnings

import torch
import torch.distributed as dist

import tutti.torch

HANG_SECONDS = 60
warnings.filterwarnings("ignore", "This process .* is multi-threaded", DeprecationWarning)  # Python 3.12 warns of forks


def start():
    return dist.all_reduce(torch.ones(1000), async_op=True)


# ---- the ways: rank 0 ends so, and rank 1 is told or is done, too ----


def way_leave(rank):
    start().wait()


def way_outstanding(rank):
    """Calls that the other rank does not make."""
    if rank == 0:
        for _ in range(3):
            start()
        dist.isend(torch.ones(100000), 1)


def way_gives_up(rank):
    """On a call that the other rank makes too late."""
    if rank == 0:
        start()
        return
    time.sleep(1.5)
    while True:
        start().wait()


def way_futures(rank):
    """Callbacks that may run at the end."""
    for _ in range(50):
        start().get_future().then(lambda future: torch.ones(10).sum())


def way_raises(rank):
    start().wait()
    if rank == 0:
        start()
        raise ValueError("this program has a mistake")
    start().wait()
    start().wait()


def way_exits(rank):
    start().wait()
    if rank == 0:
        sys.exit(3)
    start().wait()


def way_raises_in_call(rank):
    """By a handler of a signal that comes in the middle of a wait."""

    def stop(*_):
        raise ValueError("stopped")

    waits_for_signal(rank, stop)


def way_exits_in_call(rank):
    waits_for_signal(rank, lambda *_: sys.exit(7))


def waits_for_signal(rank, stop):
    start().wait()
    if rank == 0:
        signal.signal(signal.SIGALRM, stop)
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        dist.recv(torch.zeros(1), 1)
    dist.recv(torch.zeros(1), 0)


def way_terminated(rank):
    start().wait()
    if rank == 0:
        os.kill(os.getpid(), signal.SIGTERM)
    start().wait()


def way_killed(rank):
    start().wait()
    if rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    start().wait()


def way_killed_before_message(rank):
    start().wait()
    if rank == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    dist.recv(torch.zeros(1), 0)


def way_forks(rank):
    """Children that end as every Python does, or at once, while their parent goes on, disturb nothing."""
    work, children = start(), []
    for leave in (os._exit, sys.exit):
        children.append(os.fork())
        if children[-1] == 0:
            leave(3)
    work.wait()
    for _ in range(100):
        start().wait()
    assert [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children] == [3, 3]
    start().wait()


def way_daemon_in_recv(rank):
    ends_beside_thread(rank, lambda: dist.irecv(torch.zeros(1), 1, tag=9))


def way_daemon_in_call(rank):
    """Which the other rank makes too late."""
    ends_beside_thread(rank, start)


def ends_beside_thread(rank, begin):
    if rank == 1:
        dist.recv(torch.zeros(1), 0)  # until it has left
    begun = threading.Event()

    def wait():
        work = begin()
        begun.set()
        try:
            work.wait()
        except RuntimeError:
            pass

    threading.Thread(target=wait, daemon=True).start()
    begun.wait()
    time.sleep(0.05)


# exit codes of both ranks; where rank 1's is 1, its error names rank 0
CODES = {
    "leave": (0, 0),
    "outstanding": (0, 0),
    "gives_up": (0, 1),
    "futures": (0, 0),
    "raises": (1, 1),
    "exits": (3, 1),
    "raises_in_call": (1, 1),
    "exits_in_call": (7, 1),
    "terminated": (-signal.SIGTERM, 1),
    "killed": (-signal.SIGKILL, 1),
    "killed_before_message": (-signal.SIGKILL, 1),
    "forks": (0, 0),
    "daemon_in_recv": (0, 1),
    "daemon_in_call": (0, 1),
}


def run_rank(way, rank, folder):
    """Returns to the end of the program, as a program does."""
    os.dup2(os.open(f"{folder}/said{rank}", os.O_WRONLY | os.O_CREAT), 2)
    torch.set_num_threads(1)
    dist.init_process_group("tutti", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    globals()[f"way_{way}"](rank)


def wait_for(children):
    """Exit codes, and how long the second took after the first."""
    codes, ended, began = {}, [], time.monotonic()
    while len(codes) < 2:
        for rank, child in enumerate(children):
            if rank not in codes and (got := os.waitpid(child, os.WNOHANG))[0]:
                codes[rank] = os.waitstatus_to_exitcode(got[1])
                ended.append(time.monotonic())
        if time.monotonic() - began > HANG_SECONDS:
            for rank, child in enumerate(children):
                if rank not in codes:
                    os.kill(child, signal.SIGKILL)
        time.sleep(0.002)
    return (codes[0], codes[1]), ended[1] - ended[0]


def one_round(way):
    """None in the ranks; else the seconds between their ends."""
    folder, children = tempfile.mkdtemp(), []
    for rank in range(2):
        child = os.fork()
        if child == 0:
            run_rank(way, rank, folder)
            return None
        children.append(child)
    codes, seconds = wait_for(children)
    said = [pathlib.Path(folder, f"said{rank}").read_text(encoding="utf-8") for rank in range(2)]
    shutil.rmtree(folder)
    assert codes == CODES[way], f"{way}: the ranks ended with {codes}, not {CODES[way]}\n" + "\n".join(said)
    assert codes != (0, 0) or not any(said), f"{way}:\n" + "\n".join(said)
    assert codes[1] == 0 or "rank 0" in said[1], f"{way}: rank 1 does not name rank 0:\n{said[1]}"
    return seconds


def main():
    rounds, ways = int(sys.argv[1]), sys.argv[2:] or list(CODES)
    for way in ways:
        slowest = 0
        for _ in range(rounds):
            seconds = one_round(way)
            if seconds is None:
                return
            slowest = max(slowest, seconds)
        print(f"{way}: {rounds} times, all right; the ranks ended at most {slowest:.2f} s apart", flush=True)
    print("all right")


main()
