"""Registers the backend."""

import datetime
import inspect
import os
import sys
import time
from collections.abc import Callable
from multiprocessing import util
from typing import Any

import torch
import torch.distributed as dist

from tutti._join import ask_launcher
from tutti.torch import _torch
from tutti.torch._groups import monitored_barrier, share_tensors, split_group
from tutti.torch._hooks import bfloat16_compress_hook
from tutti.torch._sharding import enable_fully_shard

__all__ = [
    "at_exit",
    "bfloat16_compress_hook",
    "create",
    "enable_fully_shard",
    "monitored_barrier",
    "share_tensors",
    "split_group",
]

if _torch.torch_version.split(".")[:2] != torch.__version__.split("+")[0].split(".")[:2]:
    raise ImportError(
        f"tutti.torch was built for torch {_torch.torch_version}, and this is torch {torch.__version__}: build it again"
    )


_AFTER_SECONDS = 0.5  # at exit, behind a rank that fails: torch takes some time to end


def leave() -> None:
    """At exit. After an error other ranks may not make the calls that are under way: they are not waited for."""
    _torch.leave(datetime.timedelta(seconds=0 if hasattr(sys, "last_type") else 1))
    if str(getattr(sys, "last_value", "")).startswith("tutti: "):
        time.sleep(_AFTER_SECONDS)  # it may be another one's; launchers take the exit code of the first


_process: int | None = None  # whose end is looked after


def at_exit(call: Callable[[], None]) -> None:
    """Of this process. Those that multiprocessing has forked end without what atexit knows."""
    util.Finalize(None, call, exitpriority=10)


def create(store: Any, rank: int, size: int, timeout: datetime.timedelta, name: str = "tutti") -> Any:
    """The process group of these ranks. name: what torch and its profiler call it."""
    global _process
    if _process != os.getpid():
        _process = os.getpid()
        at_exit(leave)
    return _torch.create(store, rank, size, timeout, name)


_named = {"devices": ["cpu"]} if "devices" in inspect.signature(dist.Backend.register_backend).parameters else {}
dist.Backend.register_backend("tutti", create, **_named)
ask_launcher(sys.modules["torch.distributed.rendezvous"])
