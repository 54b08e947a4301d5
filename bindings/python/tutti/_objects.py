"""Collectives of any Python objects, as pickles. Lengths go first, so each is two calls."""

import array
import pickle


def _lengths(comm, length):
    mine, all = array.array("q", [length]), array.array("q", bytes(8 * comm.size))
    comm.allgather(mine, out=all)
    return all


def _split(data, lengths):
    objects, begin = [], 0
    for length in lengths:
        objects.append(pickle.loads(memoryview(data)[begin : begin + length]))
        begin += length
    return objects


def allgather_objects(comm, value):
    """A list of the objects of all ranks.

    >>> import tutti
    >>> tutti.allgather_objects(tutti.world(), {"rank": 0})
    [{'rank': 0}]
    """
    mine = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    lengths = _lengths(comm, len(mine))
    data = bytearray(sum(lengths))
    comm.allgatherv(mine, data, lengths)
    return _split(data, lengths)


def gather_objects(comm, value, root=0):
    """The same on the root; None on the other ranks.

    >>> import tutti
    >>> tutti.gather_objects(tutti.world(), 5)
    [5]
    """
    mine = pickle.dumps(value, pickle.HIGHEST_PROTOCOL)
    lengths = _lengths(comm, len(mine))
    data = bytearray(sum(lengths)) if comm.rank == root else None
    comm.gatherv(mine, data, lengths, root=root)
    return _split(data, lengths) if comm.rank == root else None


def broadcast_object(comm, value=None, root=0):
    """The root's object.

    >>> import tutti
    >>> tutti.broadcast_object(tutti.world(), "hello")
    'hello'
    """
    data = bytearray(pickle.dumps(value, pickle.HIGHEST_PROTOCOL)) if comm.rank == root else None
    length = array.array("q", [len(data) if comm.rank == root else 0])
    comm.broadcast(length, root=root)
    if comm.rank != root:
        data = bytearray(length[0])
    comm.broadcast(data, root=root)
    return value if comm.rank == root else pickle.loads(data)


def scatter_objects(comm, values=None, root=0):
    """values[rank] of the root's list.

    >>> import tutti
    >>> tutti.scatter_objects(tutti.world(), ["mine"])
    'mine'
    """
    data, lengths = None, array.array("q", bytes(8 * comm.size))
    if comm.rank == root:
        if len(values) != comm.size:
            raise ValueError(f"scatter_objects: {len(values)} values for {comm.size} ranks")
        parts = [pickle.dumps(value, pickle.HIGHEST_PROTOCOL) for value in values]
        data, lengths = b"".join(parts), array.array("q", map(len, parts))
    comm.broadcast(lengths, root=root)
    mine = bytearray(lengths[comm.rank])
    comm.scatterv(data, mine, lengths, root=root)
    return pickle.loads(mine)
