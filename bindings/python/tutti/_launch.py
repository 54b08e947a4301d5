"""The processes of `python -m tutti.torch --nproc-per-node N`, as torchrun starts them: each with its rank in its
environment. The first that fails ends the others."""

import argparse
import contextlib
import os
import signal
import subprocess
import time
from collections.abc import Sequence

from tutti._join import LAUNCHERS, own_port

Process = subprocess.Popen[bytes]
PATIENCE_SECONDS = 5  # from SIGTERM to SIGKILL


def start(command: Sequence[str], options: argparse.Namespace) -> list[Process]:
    count, nodes, node = options.nproc_per_node or 1, options.nnodes or 1, options.node_rank or 0
    port = options.master_port or (29500 if nodes > 1 else own_port())
    shared = {
        "WORLD_SIZE": count * nodes,
        "LOCAL_WORLD_SIZE": count,
        "GROUP_RANK": node,
        "MASTER_ADDR": options.master_addr or "localhost",
        "MASTER_PORT": port,
    }
    environment = {**os.environ, **{name: str(value) for name, value in shared.items()}}
    for name in (*LAUNCHERS, "TUTTI_RANK", "TUTTI_SIZE"):  # of this process, where a launcher has started it
        environment.pop(name, None)
    environment.setdefault("OMP_NUM_THREADS", "1")
    environment.setdefault("USE_LIBUV", "0")  # torch's older store, which every build has
    started: list[Process] = []
    try:
        for n in range(count):
            own = {"RANK": str(node * count + n), "LOCAL_RANK": str(n)}
            started.append(subprocess.Popen(command, env={**environment, **own}))
    except OSError:  # of processes, or memory, there are no more
        end(started, signal.SIGTERM)
        until = time.monotonic() + PATIENCE_SECONDS
        while None in [process.poll() for process in started] and time.monotonic() < until:
            time.sleep(0.02)
        end(started, signal.SIGKILL)
        raise
    return started


def end(processes: Sequence[Process], how: int) -> None:
    for process in processes:
        if process.poll() is None:
            process.send_signal(how)


def has_terminal() -> bool:
    """Whether Ctrl-C reaches this process and those that it starts."""
    try:
        with open("/dev/tty", encoding="utf-8") as terminal:
            return os.tcgetpgrp(terminal.fileno()) == os.getpgrp()
    except OSError:
        return False


def how_ended(code: int) -> str:
    if code >= 0:
        return f"exit code {code}"
    try:
        return f"signal {signal.Signals(-code).name}"
    except ValueError:  # most of the real-time ones have no name
        return f"signal {-code}"


def wait(processes: Sequence[Process], first_rank: int) -> int:
    """Until all have ended; the exit code of the first that failed."""
    code = 0
    until: float | None = None
    while None in [process.poll() for process in processes]:
        failed = [(rank, p.returncode) for rank, p in enumerate(processes, first_rank) if p.returncode]
        if failed and until is None:
            rank, code = failed[0]
            end(processes, signal.SIGTERM)
            until = time.monotonic() + PATIENCE_SECONDS
            said = f"tutti.torch: rank {rank} ended with {how_ended(code)}; the others are ended\n"
            with contextlib.suppress(OSError):  # the reader may be gone; sys.stderr would try again at the end
                os.write(2, said.encode())
        if until is not None and time.monotonic() > until:
            end(processes, signal.SIGKILL)
        time.sleep(0.02)
    code = code or next((p.returncode for p in processes if p.returncode), 0)
    return 128 - code if code < 0 else code


def run(command: Sequence[str], options: argparse.Namespace) -> int:
    processes: list[Process] = []
    told: list[int] = []

    def is_theirs(how: int) -> bool:  # Ctrl-C reaches them, too; who says it again says it to this process
        return how == signal.SIGINT and has_terminal() and told.count(how) < 2

    def passed_on(how: int, frame: object) -> None:
        told.append(how)
        if not is_theirs(how):
            end(processes, how)

    for how in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if signal.getsignal(how) is not signal.SIG_IGN:  # as nohup has it, and sh for what runs in the background
            signal.signal(how, passed_on)
    processes += start(command, options)
    for number in list(told):  # while they were started
        if not is_theirs(number):
            end(processes, number)
    return wait(processes, (options.node_rank or 0) * len(processes))
