"""Collectives of any Python objects, as pickles. Lengths go first, so each is two calls."""

import array
import pickle
from collections.abc import Sequence
from typing import Any, TypeVar

from tutti._tutti import Comm

_Value = TypeVar("_Value")


def _lengths(comm: Comm, length: int) -> "array.array[int]":
    mine, all = array.array("q", [length]), array.array("q", bytes(8 * comm.size))
    comm.allgather(mine, out=all)
    return all


def _split(data: bytearray, lengths: "array.array[int]") -> list[Any]:
    objects, begin = [], 0
    for length in lengths:
        objects.append(pickle.loads(memoryview(data)[begin : begin + length]))
        begin += length
    return objects


def allgather_objects(comm: Comm, value: _Value) -> list[_Value]:
    """A list of the objects of all ranks, in rank order.

    As rank 0 of two sees it:

    >>> tutti.allgather_objects(comm, {"rank": comm.rank})
    [{'rank': 0}, {'rank': 1}]
    """
    mine = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    lengths = _lengths(comm, len(mine))
    data = bytearray(sum(lengths))
    comm.allgatherv(mine, data, lengths)
    return _split(data, lengths)


def gather_objects(comm: Comm, value: _Value, root: int = 0) -> list[_Value] | None:
    """A list of the objects of all ranks on the root; None on the other ranks.

    As rank 0 of two sees it:

    >>> tutti.gather_objects(comm, 5 + comm.rank)
    [5, 6]
    """
    mine = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    lengths = _lengths(comm, len(mine))
    if comm.rank != root:
        comm.gatherv(mine, None, lengths, root=root)
        return None
    data = comm.gatherv(mine, bytearray(sum(lengths)), lengths, root=root)
    return _split(data, lengths)


def broadcast_object(comm: Comm, value: Any = None, root: int = 0) -> Any:
    """The root's object; what other ranks pass does not matter.

    As rank 0 of two sees it:

    >>> tutti.broadcast_object(comm, f"from rank {comm.rank}", root=1)
    'from rank 1'
    """
    data = bytearray(pickle.dumps(value, pickle.HIGHEST_PROTOCOL) if comm.rank == root else b"")
    length = comm.broadcast(array.array("q", [len(data)]), root=root)
    if comm.rank == root:
        comm.broadcast(data, root=root)
        return value
    return pickle.loads(comm.broadcast(bytearray(length[0]), root=root))


def scatter_objects(comm: Comm, values: Sequence[Any] | None = None, root: int = 0) -> Any:
    """values[rank] of the root's list. A ValueError on the root where it has not one for each rank.

    As rank 0 of two sees it:

    >>> tutti.scatter_objects(comm, ["mine", "yours"] if comm.rank == 0 else None)
    'mine'
    """
    data, lengths = b"", array.array("q", bytes(8 * comm.size))
    if comm.rank == root:
        if values is None or len(values) != comm.size:
            raise ValueError(f"scatter_objects: {'no' if values is None else len(values)} values for {comm.size} ranks")
        parts = [pickle.dumps(value, pickle.HIGHEST_PROTOCOL) for value in values]
        data, lengths = b"".join(parts), array.array("q", map(len, parts))
    comm.broadcast(lengths, root=root)
    mine = bytearray(lengths[comm.rank])
    comm.scatterv(data if comm.rank == root else None, mine, lengths, root=root)
    return pickle.loads(mine)
