"""Programs that say "gloo" get tutti: where torch makes a gloo process group, it makes one of tutti.

Only versions of torch that were tried are patched, and all ranks of a group take tutti, or none does.
"""

import datetime
import os
import sys
import threading
import time
from typing import Any

from tutti._join import ask_launcher

TRIED = ("1.13", "2.6")  # of torch
NOTICE_SECONDS = 30  # of silence, while ranks have not said what they can

_served = {"process": 0, "groups": 0}


def say(text: str, rank: int = 0) -> None:
    if rank == 0:
        print(f"tutti.torch: {text}", file=sys.stderr)


def _answer(store: Any, key: str, end: float) -> Any:
    """What is there under a key by the time `end`. A wait of the store that ends without it would spoil what torch 1.13's
    TCPStore says next: its answer comes late. To set a key from "?" to "?" does nothing, and returns what it is."""
    pause = 0.001
    while (value := store.compare_set(key, "?", "?")) == b"?" and time.monotonic() < end:
        time.sleep(pause)
        pause = min(2 * pause, 0.1)
    return value


def _agree(store: Any, rank: int, size: int, mine: bool, timeout: datetime.timedelta) -> bool:
    """Whether all ranks take tutti. The first that knows writes it down for all, also for those that come later. Half of
    the time limit is for gloo, where ranks that were not patched, and do not answer, wait already."""
    turn = store.add(f"tutti/asked/{rank}", 1)  # a group of the same name may have been there before
    name = f"tutti/asked/{turn}"
    store.set(f"{name}/{rank}", "1" if mine else "0")
    notice = threading.Timer(NOTICE_SECONDS, say, ("waiting for ranks to say whether they have tutti", rank))
    notice.daemon = True
    notice.start()
    end = time.monotonic() + timeout.total_seconds() / 2
    choice = "tutti" if mine and all(_answer(store, f"{name}/{r}", end) == b"1" for r in range(size)) else "gloo"
    notice.cancel()
    return bool(store.compare_set(f"{name}/choice", "", choice) == b"tutti")


def _keep_gloo_beside(c10d: Any, gloo: Any) -> None:
    """TORCH_DISTRIBUTED_DEBUG=DETAIL: beside each group torch has another one, which must be gloo's own."""
    made: Any = c10d.ProcessGroupGloo
    wrap: Any = getattr(c10d, "_create_process_group_wrapper", None)

    def wrap_with_gloo(*arguments: Any, **named: Any) -> Any:
        c10d.ProcessGroupGloo = gloo
        try:
            return wrap(*arguments, **named)
        finally:
            c10d.ProcessGroupGloo = made

    if wrap:
        c10d._create_process_group_wrapper = wrap_with_gloo


def patch(c10d: Any) -> None:
    """c10d: the module torch.distributed.distributed_c10d, as it has been loaded."""
    import torch

    version = torch.__version__.split("+")[0]
    if not version.startswith(TRIED):
        say(f"torch {version} was not tried ({', '.join(TRIED)} were): this program stays on gloo", int(os.environ.get("RANK", "0")))
        return
    ask_launcher(sys.modules["torch.distributed.rendezvous"])
    gloo: Any = getattr(c10d, "ProcessGroupGloo", None)
    if gloo is None:
        return

    def make(store: Any, rank: int, size: int, timeout: datetime.timedelta = datetime.timedelta(seconds=1800)) -> Any:
        why: ImportError | None = None
        try:
            from tutti.torch import _backend, _torch
        except ImportError as error:
            why = error
        if not _agree(store, rank, size, why is None, timeout):
            say(f"not every rank has tutti{f' ({why})' if why else ''}: this group stays on gloo", rank)
            return gloo(store, rank, size, timeout)
        if _served["process"] != os.getpid():
            _served.update(process=os.getpid(), groups=0)
            _backend.at_exit(lambda: _report(_torch.calls(), rank))
        _served["groups"] += 1
        return _backend.create(store, rank, size, timeout, "gloo")

    class Meta(type):
        def __call__(cls, *arguments: Any, **named: Any) -> Any:
            return make(*arguments, **named)

        def __instancecheck__(cls, value: object) -> bool:
            return isinstance(value, gloo) or type(value).__name__ in ("ProcessGroup", "Backend")

        def __getattr__(cls, name: str) -> Any:
            return getattr(gloo, name)

    c10d.ProcessGroupGloo = Meta("ProcessGroupGloo", (), {"__doc__": gloo.__doc__})
    _keep_gloo_beside(c10d, gloo)


def _report(calls: int, rank: int) -> None:
    groups = _served["groups"]
    say(f"{calls:,} calls of {groups} group{'s' if groups > 1 else ''} ran on tutti instead of gloo", rank)
