"""What torch keeps for backends of its own, by their names: here under tutti.torch's."""

import datetime
import inspect
from collections.abc import Sequence
from typing import Any

import torch.distributed as dist

from tutti.torch import _torch


def monitored_barrier(group: Any = None, timeout: datetime.timedelta | None = None) -> None:
    """A barrier that names the ranks of `group` (None: all) which have not come within `timeout`, a timedelta.

    Its error is a RuntimeError on every rank that has come. timeout: None is the group's.

    >>> tutti.torch.monitored_barrier(timeout=datetime.timedelta(seconds=60))
    """
    options = dist.BarrierOptions()
    if timeout is not None:
        options.timeout = timeout
    (dist.group.WORLD if group is None else group).barrier(opts=options).wait()


def share_tensors(on: bool = True) -> None:
    """From now on CPU tensors of 64 KiB and more that this process makes lie in memory which the ranks of this machine
    read where it is: calls on them are faster. Tensors keep theirs, and with it the job. on: False: from now on they do
    not. A fork sees such a tensor only as long as this process keeps it. Where shared memory is exhausted, tensors are
    ordinary ones. After init_process_group; with the shared heap there is no need for it.

    >>> tutti.torch.share_tensors()
    >>> total = torch.ones(100000)
    >>> dist.all_reduce(total)
    >>> total[0]
    tensor(2.)
    >>> tutti.torch.share_tensors(False)
    """
    _torch.share_tensors(on)


def split_group(parent: Any = None, split_ranks: Sequence[Sequence[int]] | None = None, **options: Any) -> Any:
    """New groups of ranks of `parent` (None: all): split_ranks has a list of the parent's ranks for each. Collective over
    the parent. Returns the group that this rank is in, or None.

    options: those of torch.distributed.new_group, such as timeout. torch 1.13 splits only the group of all ranks.

    >>> alone = tutti.torch.split_group(split_ranks=[[0], [1]])
    >>> dist.get_world_size(alone)
    1
    """
    if not split_ranks:
        raise ValueError("split_group: split_ranks must be lists of ranks, such as [[0, 1], [2, 3]]")
    size, seen = dist.get_world_size(parent), set[int]()
    for rank in (rank for ranks in split_ranks for rank in ranks):
        if not 0 <= rank < size or rank in seen:
            raise ValueError(f"split_group: rank {rank} {'is given twice' if rank in seen else f'is none of {size}'}")
        seen.add(rank)
    alone = "use_local_synchronization" in inspect.signature(dist.new_group).parameters
    if not alone and size < dist.get_world_size():
        raise RuntimeError("split_group: torch 1.13 splits only the group of all ranks; call new_group on all of them")
    parent = dist.group.WORLD if parent is None else parent
    mine = None
    for ranks in split_ranks:
        if not alone:
            group = dist.new_group(ranks, **options)
        elif dist.get_rank(parent) in ranks:
            of_all = [dist.get_global_rank(parent, rank) for rank in ranks]
            group = dist.new_group(of_all, use_local_synchronization=True, **options)
        if dist.get_rank(parent) in ranks:
            mine = group
    return mine
