"""Programs that say "gloo" get tutti: where torch makes a gloo process group, it makes one of tutti.

Only versions of torch that were tried are patched, and all ranks of a group take tutti, or none does.
"""

import datetime
import os
import sys

TRIED = ("1.13", "2.6")  # of torch
AGREE_SECONDS = 30

_served = {"process": None, "groups": 0}


def say(text, rank=0):
    if rank == 0:
        print(f"tutti.torch: {text}", file=sys.stderr)


def _agree(store, rank, size, mine):
    """Whether all ranks can: none goes ahead alone. One that was not patched does not answer."""
    store.set(f"tutti/can/{rank}", "1" if mine else "0")
    keys = [f"tutti/can/{r}" for r in range(size)]
    try:
        store.wait(keys, datetime.timedelta(seconds=AGREE_SECONDS))
    except RuntimeError:
        return False
    return all(store.get(key) == b"1" for key in keys)


def patch(c10d):
    """c10d: the module torch.distributed.distributed_c10d, as it has been loaded."""
    import torch

    version = torch.__version__.split("+")[0]
    if not version.startswith(TRIED):
        say(f"torch {version} was not tried ({', '.join(TRIED)} were): this program stays on gloo", int(os.environ.get("RANK", "0")))
        return
    gloo = getattr(c10d, "ProcessGroupGloo", None)
    if gloo is None:
        return

    def make(store, rank, size, timeout=datetime.timedelta(seconds=1800)):
        why = None
        try:
            from tutti.torch import _backend, _torch
        except ImportError as error:
            why = error
        if not _agree(store, rank, size, why is None):
            say(f"not every rank has tutti{f' ({why})' if why else ''}: this group stays on gloo", rank)
            return gloo(store, rank, size, timeout)
        if _served["process"] != os.getpid():
            _served.update(process=os.getpid(), groups=0)
            _backend.at_exit(lambda: _report(_torch.calls(), rank))
        _served["groups"] += 1
        return _backend.create(store, rank, size, timeout, "gloo")

    class Meta(type):
        def __call__(cls, *arguments, **named):
            return make(*arguments, **named)

        def __instancecheck__(cls, value):
            return isinstance(value, gloo) or type(value).__name__ in ("ProcessGroup", "Backend")

        def __getattr__(cls, name):
            return getattr(gloo, name)

    c10d.ProcessGroupGloo = Meta("ProcessGroupGloo", (), {"__doc__": gloo.__doc__})


def _report(calls, rank):
    groups = _served["groups"]
    say(f"{calls:,} calls of {groups} group{'s' if groups > 1 else ''} ran on tutti instead of gloo", rank)
