"""What a communicator says before a call is what it says after it; the command's answers as objects."""

import xml.dom.minidom

import numpy

import tutti
from expect import fails

comm = tutti.world()
rank, size = comm.rank, comm.size


def before_and_after():
    for count in (1, 1000, 100_000, 1_000_000):
        data = numpy.ones(count, "f4")
        said = comm.explain("allreduce", data.nbytes)
        comm.allreduce(data)
        assert (said.params, said.authority) == (comm.last_params, comm.last_authority), said
        assert said.ranks == size and said.nbytes == data.nbytes and said.nodes is None
        assert said.params in str(said) and said.authority in str(said)
        part = numpy.ones((size, count), "f4")
        said = comm.explain("all_to_all", part.nbytes)
        comm.all_to_all(part)
        assert (said.collective, said.params, said.authority) == ("all-to-all", comm.last_params, comm.last_authority), said
    said = comm.explain("barrier")
    comm.barrier()
    assert said.params == comm.last_params


def set_parameters():
    half = comm.split(rank % 2)
    half.set_params("all_to_all", "linear")
    half.set_params("allreduce", "recursive-doubling")
    said = half.explain("allreduce", 8, commutes=False)
    assert (said.params, said.authority) == ("recursive-doubling", "tutti_comm_set_params")
    assert half.explain("all_to_all", 8).authority == "tutti_comm_set_params"
    plan = said.plan(nodes=1)
    assert plan.ranks == half.size and plan.collective == "allreduce"
    half.close()


def errors():
    cases = [
        (ValueError, "unknown collective 'allspeak'", lambda: comm.explain("allspeak", 8)),
        (ValueError, "-1 bytes", lambda: comm.explain("allreduce", -1)),
        (ValueError, f"root is {size}", lambda: comm.explain("reduce", 8, root=size)),
        (tutti.UnsupportedError, "depends on its graph", lambda: comm.explain("neighbor_allgather", 8)),
        (ValueError, "unknown collective 'allspeak'", lambda: tutti.plan("allspeak", 4)),
        (tutti.PlanError, "spiral", lambda: tutti.plan("allreduce", 4, params="[core:spiral]")),
        (ValueError, "ranks is 0; it must be 1 or more", lambda: tutti.plan("allreduce", 0)),
        (ValueError, "--nodes 5 exceeds the 4 ranks", lambda: tutti.plan("allreduce", 4, 5)),
        (ValueError, "nbytes is -5; it must be 1 or more", lambda: tutti.plan("allreduce", 4).simulate(-5)),
        (ValueError, "length is missing", lambda: tutti.explain("allreduce", ranks=4)),
        (tutti.PlanError, "makes no plan here", lambda: tutti.explain("allreduce", 8, 4, params="[spiral:star]")),
        (tutti.PlanError, "of 65 ranks", lambda: tutti.plan("broadcast", 65).svg),
    ]
    for kind, text, call in cases:
        fails(kind, text, call)


def plans():
    ring = tutti.plan("allreduce", 4, params="ring", model="alpha=1us,beta=1;gamma=0")
    assert (ring.rounds, ring.blocks, ring.ranks, ring.nodes, ring.root) == (6, 4, 4, 1, None), vars(ring)
    assert ring.levels == [{"name": "core", "messages": 6, "blocks": 6}]
    assert abs(ring.simulate(4000) - 6 * (1e-6 + 1000e-9)) < 1e-12, ring.simulate(4000)  # Hockney's: alpha + n/p beta, a round
    assert ring.simulate(8000) > ring.simulate(4000)
    assert ring.text.count("lane 0 id ") == 4 and str(ring) == ring.text
    picture = xml.dom.minidom.parseString(ring._repr_svg_())
    assert picture.documentElement.tagName == "svg" and "allreduce of 4 ranks" in ring.svg
    two = tutti.plan("reduce-scatter", 8, 2, params="two-level-ring")
    assert two.nodes == 2 and "on 2 nodes" in repr(two)
    assert tutti.plan("broadcast", 65)._repr_svg_() is None
    assert tutti.plan("broadcast", 8, root=3).root == 3


def explained():
    said = tutti.explain("allreduce", 4096, 4, 2, candidates=True)
    assert said.ranks == 4 and said.nodes == 2 and said.plan().nodes == 2
    assert [opinion.authority for opinion in said.opinions][:2] == ["tutti_comm_set_params", "TUTTI_PARAMS"]
    assert said.opinions[0].params is None and said.opinions[0].why == "the program has set no parameters"
    running = [candidate for candidate in said.candidates if candidate.runs]
    assert [candidate.params for candidate in running] == [said.params]
    times = [candidate.predicted for candidate in said.candidates if candidate.predicted is not None]
    assert times == sorted(times) and 0 < times[0] < 1
    assert said.text == str(said) and said.params in said.text
    assert tutti.explain("allreduce", 4096, 4, params="ring").authority == "tutti_comm_set_params"
    assert tutti.explain("barrier", ranks=4).params


before_and_after()
set_parameters()
if rank == 0:
    errors()
    plans()
    explained()
comm.barrier()
print(f"rank {rank} of {size}: all right")
