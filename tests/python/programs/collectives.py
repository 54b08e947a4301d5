"""Every collective, in every form, on arrays of every kind, against what numpy computes from all ranks' input."""

import random
import sys

import numpy

import tutti

comm = tutti.world()
rank, size = comm.rank, comm.size
FORMS = ["blocking", "start", "init"]
KINDS = ["plain", "strided", "fortran", "reversed", "unaligned", "alloc"]
TYPES = ["f4", "f8", "f2", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "c8", "c16", "g", "?"]
ROUNDS = int(sys.argv[1]) if len(sys.argv) > 1 else 60


def call(form, name, *arguments, **named):
    if form == "blocking":
        return getattr(comm, name)(*arguments, **named)
    request = getattr(comm, f"{name}_{form}")(*arguments, **named)
    if form == "init":
        request.start()
        request.wait()
        request.start()
    return request.wait()


def place(kind, shape, dtype):
    """An array of that shape that lies in memory as `kind` says."""
    if kind == "alloc":
        return tutti.empty(shape, dtype)
    if kind == "strided":
        return numpy.zeros((*shape[:-1], 3 * shape[-1]), dtype)[..., ::3]
    if kind == "fortran":
        return numpy.zeros(shape, dtype, order="F")
    if kind == "reversed":
        return numpy.zeros(shape, dtype)[::-1]
    if kind == "unaligned":
        count = int(numpy.prod(shape))
        data = numpy.zeros(count * numpy.dtype(dtype).itemsize + 1, "u1")
        return numpy.frombuffer(data, dtype, count, offset=1).reshape(shape)
    return numpy.zeros(shape, dtype)


def values(seed, of, shape, dtype):
    """What rank `of` has: small whole numbers, so that sums are exact in every type."""
    made = numpy.random.default_rng((seed, of)).integers(0, 3, shape)
    return made.astype(dtype)


def filled(kind, array):
    made = place(kind, array.shape, array.dtype)
    made[...] = array
    return made


def check(what, got, wanted):
    assert got is not None and numpy.array_equal(got, wanted), f"rank {rank}: {what}: {got} is not {wanted}"


def combine(op, arrays):
    if arrays[0].dtype == bool:
        return {"logical-or": numpy.any, "logical-and": numpy.all}[op](arrays, axis=0)
    return {"sum": sum, "max": lambda of: numpy.max(of, axis=0), "min": lambda of: numpy.min(of, axis=0)}[op](arrays)


def one_round(seed):
    of = random.Random(seed)
    dtype = of.choice(TYPES)
    op = of.choice(["logical-or", "logical-and"] if dtype == "?" else ["sum"] if dtype[0] == "c" else ["sum", "max", "min"])
    shape = (size, of.choice([1, 2, 7, 300]), of.choice([1, 3, 50]))
    root, form, kinds = of.randrange(size), of.choice(FORMS), [of.choice(KINDS), of.choice(KINDS)]
    all_in = [values(seed, r, shape, dtype) for r in range(size)]
    whole = combine(op, all_in).astype(dtype)
    what = f"seed {seed}, {dtype}, {op}, {shape}, root {root}, {form}, {kinds}"

    def mine():
        return filled(kinds[0], all_in[rank])

    def out(shape):
        return place(kinds[1], shape, dtype)

    check(f"allreduce, {what}", call(form, "allreduce", mine(), out(shape), op), whole)
    check(f"allreduce in place, {what}", call("blocking", "allreduce", *[mine()] * 2, op), whole)
    check(f"allreduce without out, {what}", comm.allreduce(mine(), op=op), whole)
    got = call(form, "reduce", mine(), out(shape) if rank == root else None, op, root)
    check(f"reduce, {what}", got, whole) if rank == root else None
    check(f"reduce_scatter, {what}", call(form, "reduce_scatter", mine(), out(shape[1:]), op), whole[rank])
    check(f"reduce_scatter without out, {what}", comm.reduce_scatter(mine(), op=op), whole[rank])
    check(f"scan, {what}", call(form, "scan", mine(), out(shape), op), combine(op, all_in[: rank + 1]).astype(dtype))
    got = call(form, "exscan", mine(), out(shape), op)
    check(f"exscan, {what}", got, combine(op, all_in[:rank]).astype(dtype)) if rank > 0 else None
    check(f"broadcast, {what}", call(form, "broadcast", mine(), root), all_in[root])
    got = call(form, "gather", mine(), out((size, *shape)) if rank == root else None, root)
    check(f"gather, {what}", got, numpy.stack(all_in)) if rank == root else None
    check(f"scatter, {what}", call(form, "scatter", mine() if rank == root else None, out(shape[1:]), root), all_in[root][rank])
    check(f"allgather, {what}", call(form, "allgather", mine(), out((size, *shape))), numpy.stack(all_in))
    check(f"allgather without out, {what}", comm.allgather(mine()), numpy.stack(all_in))
    check(f"all_to_all, {what}", call(form, "all_to_all", mine(), out(shape)), numpy.stack([a[rank] for a in all_in]))
    call(form, "barrier")


def lists(seed):
    """The collectives whose blocks differ in length."""
    of = random.Random(seed)
    form, root = of.choice(FORMS), of.randrange(size)
    counts = [of.choice([0, 1, 5, 2000]) for _ in range(size)]
    matrix = [[of.choice([0, 1, 5, 700]) for _ in range(size)] for _ in range(size)]
    parts = [values(seed, r, (counts[r],), "i4") for r in range(size)]
    joined = numpy.concatenate(parts)
    what = f"seed {seed}, counts {counts}, root {root}, {form}"
    check(f"allgatherv, {what}", call(form, "allgatherv", parts[rank], numpy.zeros_like(joined), counts), joined)
    offsets = [sum(counts[r + 1 :]) for r in range(size)]
    got = call(form, "allgatherv", parts[rank], numpy.zeros_like(joined), counts, offsets)
    check(f"allgatherv with offsets, {what}", got, numpy.concatenate(parts[::-1]))
    got = call(form, "gatherv", parts[rank], numpy.zeros_like(joined) if rank == root else None, counts, root=root)
    check(f"gatherv, {what}", got, joined) if rank == root else None
    got = call(form, "scatterv", joined if rank == root else None, numpy.zeros_like(parts[rank]), counts, root=root)
    check(f"scatterv, {what}", got, parts[rank])
    got = call(form, "reduce_scatterv", joined, numpy.zeros_like(parts[rank]), counts)
    check(f"reduce_scatterv, {what}", got, size * parts[rank])
    sent = [numpy.full(matrix[rank][r], 100 * rank + r) for r in range(size)]
    back = [matrix[r][rank] for r in range(size)]
    wanted = numpy.concatenate([numpy.full(back[r], 100 * r + rank) for r in range(size)])
    got = call(form, "all_to_allv", numpy.concatenate(sent), matrix[rank], numpy.zeros_like(wanted), back)
    check(f"all_to_allv, {what}", got, wanted)


def neighbors(seed):
    """A ring with edges of different kinds, and a rank without any."""
    of = random.Random(seed)
    form, length = of.choice(FORMS), of.choice([1, 30, 4000])
    edges = [(r, (r + 1) % size) for r in range(size)] + [(a, b) for a in range(size) for b in range(size) if of.random() < 0.3]
    if size > 2:
        edges = [(a, b) for a, b in edges if size - 1 not in (a, b)]
    sources = [a for a, b in edges if b == rank]
    destinations = [b for a, b in edges if a == rank]
    graph = comm.graph(sources, destinations)

    def run(name, *arguments):
        if form == "blocking":
            return getattr(graph, name)(*arguments)
        request = getattr(graph, f"{name}_{form}")(*arguments)
        return (request.start() if form == "init" else request).wait()

    what = f"seed {seed}, {form}, {length}, edges {edges}"
    mine = values(seed, rank, (length,), "i4")
    wanted = numpy.array([values(seed, a, (length,), "i4") for a in sources], "i4").reshape(len(sources), length)
    check(f"neighbor_allgather, {what}", run("neighbor_allgather", mine), wanted)
    sent = numpy.array([mine + 10 * b for b in destinations], "i4").reshape(len(destinations), length)
    check(f"neighbor_all_to_all, {what}", run("neighbor_all_to_all", sent), wanted + 10 * rank)
    counts, back = [length % (b + 2) for b in destinations], [length % (rank + 2)] * len(sources)
    got = numpy.zeros(sum(back), "i4")
    run("neighbor_all_to_allv", numpy.concatenate([mine[:n] for n in counts] + [mine[:0]]), counts, got, back)
    check(f"neighbor_all_to_allv, {what}", got, wanted[:, : length % (rank + 2)].ravel())
    graph.close()


def many_at_once(seed):
    """Requests of several communicators under way, dropped or waited for in another order."""
    of = random.Random(seed)
    half = comm.split(rank % 2)
    started = []
    for n in range(20):
        on = half if n % 3 == 0 else comm
        data = numpy.full(of.choice([1, 1000, 100000]), n, "f4")
        started.append((on, n, on.allreduce_start(data)))
    random.Random(seed + rank).shuffle(started)
    for on, n, request in started[5:]:
        check(f"allreduce {n}", request.wait()[:1], [n * on.size])
    del started, request
    comm.barrier()
    half.barrier()
    half.close()


def objects():
    assert tutti.allgather_objects(comm, {"rank": rank, "text": "x" * rank}) == [{"rank": r, "text": "x" * r} for r in range(size)]
    assert tutti.broadcast_object(comm, ["from", rank], root=size - 1) == ["from", size - 1]
    got = tutti.gather_objects(comm, (rank,), root=0)
    assert got == ([(r,) for r in range(size)] if rank == 0 else None)
    assert tutti.scatter_objects(comm, [f"for {r}" for r in range(size)] if rank == 0 else None) == f"for {rank}"


for n in range(ROUNDS):
    one_round(n)
    lists(n)
    neighbors(n)
many_at_once(7)
objects()
print(f"rank {rank} of {size}: all right")
