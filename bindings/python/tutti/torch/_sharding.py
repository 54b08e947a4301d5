"""What torch's fully_shard lacks on CPUs."""

from collections.abc import Sequence
from typing import Any

import torch


def set_versions(tensors: Sequence[Any], versions: Sequence[int]) -> None:
    set_version = torch._C._autograd._unsafe_set_version_counter
    try:
        set_version(tensors, versions)
    except TypeError:  # of torch 2.6: one at a time
        for tensor, version in zip(tensors, versions):
            set_version(tensor, version)


def enable_fully_shard() -> None:
    """Lets torch.distributed.fsdp.fully_shard of torch 2.6 and later train on the CPU. Once, before the first step.

    It gives streams of the CPU the two methods that they lack, which have nothing to wait for. And parameters that are
    gathered again keep their version: to autograd they are what they were in the forward pass, as in later versions of torch.

    >>> try:
    ...     tutti.torch.enable_fully_shard()
    ... except RuntimeError as older:
    ...     assert "2.6 and later" in str(older)
    """
    try:
        from torch.distributed.fsdp._fully_shard import _fsdp_param_group as groups
    except (ImportError, ValueError):  # that of torch 1.13 does not load in Python 3.11
        raise RuntimeError(f"enable_fully_shard is for torch 2.6 and later; this is torch {torch.__version__}") from None
    stream = torch.cpu.Stream
    if not hasattr(stream, "record_event"):
        stream.record_event = lambda self, event=None: event or torch.cpu.Event()
        stream.wait_event = lambda self, event: None
    copy_out = groups.foreach_all_gather_copy_out
    if hasattr(copy_out, "keeps_versions"):
        return

    def keep_versions(result: Any, parameters: Sequence[Any], group: Any) -> None:
        gathered = [t for p in parameters for t in getattr(p, "all_gather_outputs", [])]
        versions = [t._version for t in gathered]
        copy_out(result, parameters, group)
        set_versions(gathered, versions)

    kept: Any = keep_versions
    kept.keeps_versions = True
    groups.foreach_all_gather_copy_out = kept
