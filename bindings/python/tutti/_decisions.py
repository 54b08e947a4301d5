"""Which parameters a call runs with and who decides that, plans, and their predicted times.

Of a communicator, the library says it. Of ranks that are not there, the `tutti` command does: it has the simulator, the
pictures and the maps of ranks, so that Python and the command line say the same.
"""

import dataclasses
import functools
import json
import operator

from tutti._command import ask
from tutti._tutti import PlanError

_SHOWN = 64  # ranks: a picture of more is none


@dataclasses.dataclass(frozen=True)
class Opinion:
    """What one authority says of a call. `params` is None where it says nothing; `why` says why it does not count."""

    authority: str
    params: str | None
    source: str
    why: str


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Parameters that a call could run with. Times are seconds; None where they are not known."""

    params: str
    runs: bool
    predicted: float | None
    measured: float | None
    why: str


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What `explain` returns: the parameters that a call runs with, and who decides that. `str` of it is text for people.

    `nodes` is None for a communicator; `opinions` and `candidates` are empty there.
    """

    collective: str
    nbytes: int
    ranks: int
    nodes: int | None
    root: int
    params: str
    authority: str
    opinions: tuple = dataclasses.field(default=(), repr=False)
    candidates: tuple = dataclasses.field(default=(), repr=False)
    text: str = dataclasses.field(default="", repr=False)

    def __str__(self):
        return self.text

    def plan(self, nodes=None, model=None):
        """The plan that the call runs. nodes: where the ranks are, of a communicator."""
        return plan(self.collective, self.ranks, nodes or self.nodes, params=self.params, root=self.root, model=model)


class Plan:
    """What all ranks do in a collective: a list of steps for each. A notebook shows it as a picture.

    Attributes: `collective`, `ranks`, `nodes`, `root` (None where there is none), `params`, `form`, `blocks` (that the
    vector is cut into), `rounds`, `levels` (what the busiest rank sends over each), `model` (of the times).
    """

    def __init__(self, arguments):
        self._arguments = arguments
        self._times = {}
        self._take(())

    def _take(self, sizes):
        said = json.loads(ask("plan", *self._arguments, "--json", *(("--sizes", ",".join(map(str, sizes))) if sizes else ())))
        self._times.update({of["bytes"]: of["predicted_ns"] * 1e-9 for of in said.pop("sizes")})
        vars(self).update(said)

    def __repr__(self):
        where = f" on {self.nodes} nodes" if self.nodes > 1 else ""
        return f"<tutti.Plan of {self.collective}, {self.ranks} ranks{where}, '{self.params}', {self.rounds} rounds>"

    def __str__(self):
        return self.text

    @functools.cached_property
    def text(self):
        """The plans of all ranks, as `tutti plan --text` prints them."""
        return ask("plan", *self._arguments, "--text")

    @functools.cached_property
    def svg(self):
        """A picture: rounds across, ranks down. A PlanError where there are more than 64 ranks."""
        return ask("plan", *self._arguments, "--svg", "-")

    def _repr_svg_(self):
        return self.svg if self.ranks <= _SHOWN else None

    def simulate(self, nbytes):
        """Predicted seconds of a call with a vector of so many bytes, by `model`. Nothing is run."""
        nbytes = _whole("nbytes", nbytes, 1)
        if nbytes not in self._times:
            self._take((nbytes,))
        return self._times[nbytes]


def _name(collective):
    return collective.replace("_", "-")  # the methods' names are names


def _whole(name, value, least):
    number = operator.index(value)  # numpy's integers too
    if number < least:
        raise ValueError(f"{name} is {number}; it must be {least} or more")
    return number


def _subject(ranks, nodes, root, model):
    words = ["-n", _whole("ranks", ranks, 1)]
    nodes = None if nodes is None else _whole("nodes", nodes, 1)
    for option, value in (("--nodes", nodes), ("--root", _whole("root", root, 0) or None), ("--model", model)):
        words += [] if value is None else [option, value]
    return words


def plan(collective, ranks, nodes=None, *, params="[core:star]", root=0, model=None):
    """Compiles a collective as the library would, for ranks that need not be there.

    collective: "allreduce", "all-to-all" ... nodes: the ranks are on so many machines, in rank order. params: parameters
    or a preset (docs/plan.md). model: rates for `simulate`, such as "node:alpha=2us,beta=0.1". Returns a Plan.

    >>> import tutti
    >>> ring = tutti.plan("allreduce", 8, params="ring")
    >>> ring
    <tutti.Plan of allreduce, 8 ranks, 'form=split [core:chain]', 14 rounds>
    >>> halving = tutti.plan("allreduce", 8, params="rabenseifner")
    >>> halving.simulate(1000) < ring.simulate(1000)
    True
    """
    return Plan([_name(collective), *_subject(ranks, nodes, root, model), "--params", params])


def _seconds(ns):
    return None if ns is None else ns * 1e-9


def _source(of, name):
    return f"{of[name]} {of['source']}".strip()


def explain(collective, nbytes=None, ranks=1, nodes=None, *, type="float32", op="sum", root=0, params=None, model=None,
            candidates=False):  # fmt: skip
    """Which parameters a call would run with on ranks that need not be there, and who decides that.

    nbytes: of the whole vector; a barrier has none. nodes: the ranks are on so many machines, in rank order. params: the
    program has set these (`Comm.set_params`). candidates: with all that the call could run with and predicted times, the
    fastest first; that takes seconds. It asks what this machine's jobs ask: environment, wisdom, profile
    (docs/tuning.md). Returns an Explanation; a PlanError where the call would get it.

    >>> import tutti
    >>> said = tutti.explain("allreduce", 1 << 20, ranks=16, nodes=4)
    >>> said.authority.startswith("profile default.json:")
    True
    >>> said.plan().ranks
    16
    """
    words = ["explain", _name(collective), *([] if nbytes is None else [_whole("nbytes", nbytes, 0)]), *_subject(ranks, nodes, root, model)]
    words += ["--type", type, "--op", op, *([] if params is None else ["--set", params])]
    said = json.loads(ask(*words, "--json", *([] if candidates else ["--brief"])))
    if said["runs"] is None:
        raise PlanError(f"{said['authority']} says '{said['chosen']}', which makes no plan here: {said['reason']}")
    passed_over = "default; no plan from " if said["runs"] != said["chosen"] else ""
    return Explanation(
        collective=said["collective"],
        nbytes=said["bytes"],
        ranks=said["ranks"],
        nodes=said["nodes"],
        root=root,
        params=said["runs"],
        authority=passed_over + _source(said, "authority"),
        opinions=tuple(
            Opinion(of["authority"], of["params"], of["source"], of["why"] or of["reason"]) for of in said["authorities"]
        ),
        candidates=tuple(
            Candidate(of["params"], of["runs"], _seconds(of["predicted_ns"]), _seconds(of["measured_ns"]), of["why"])
            for of in said.get("candidates", ())
        ),
        text=ask(*words, "--brief").rstrip("\n"),
    )


def of_comm(ranks, collective, nbytes, root, params, authority):
    """What Comm.explain returns."""
    text = f"{collective} of {ranks} ranks, {nbytes} bytes: it runs with '{params}'; {authority} decides."
    return Explanation(collective, nbytes, ranks, None, root, params, authority, text=text)
