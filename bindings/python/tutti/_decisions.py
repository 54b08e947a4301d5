"""Which parameters a call runs with and who decides that, plans, and their predicted times.

Of a communicator, the library says it. Of ranks that are not there, the `tutti` command does: it has the simulator, the
pictures and the maps of ranks, so that Python and the command line say the same.
"""

import dataclasses
import functools
import json
import operator
from collections.abc import Sequence
from typing import Any, SupportsIndex

from tutti._command import ask
from tutti._tutti import PlanError

_SHOWN = 64  # ranks: a picture of more is none


@dataclasses.dataclass(frozen=True)
class Opinion:
    """What one authority says of a call. `params` is None where it says nothing; `why` says why it does not count.

    >>> tutti.explain("allreduce", 8, ranks=4).opinions[0]
    Opinion(authority='tutti_comm_set_params', params=None, source='', why='the program has set no parameters')
    """

    authority: str
    params: str | None
    source: str
    why: str


@dataclasses.dataclass(frozen=True)
class Candidate:
    """Parameters that a call could run with. Times are seconds; None where they are not known.

    >>> said = tutti.explain("barrier", ranks=2, candidates=True)
    >>> [candidate.params for candidate in said.candidates if candidate.runs] == [said.params]
    True
    """

    params: str
    runs: bool
    predicted: float | None
    measured: float | None
    why: str


@dataclasses.dataclass(frozen=True)
class Explanation:
    """What `explain` returns: the parameters that a call runs with, and who decides that. `str` of it is text for people.

    `nodes` is None for a communicator; `opinions` and `candidates` are empty there.

    >>> said = comm.explain("allreduce", 8)
    >>> said.params == comm.explain("allreduce", 8).params, said.ranks, said.nodes
    (True, 2, None)
    """

    collective: str
    nbytes: int
    ranks: int
    nodes: int | None
    root: int
    params: str
    authority: str
    opinions: tuple[Opinion, ...] = dataclasses.field(default=(), repr=False)
    candidates: tuple[Candidate, ...] = dataclasses.field(default=(), repr=False)
    text: str = dataclasses.field(default="", repr=False)

    def __str__(self) -> str:
        return self.text

    def plan(self, nodes: int | None = None, model: str | None = None) -> "Plan":
        """The Plan that the call runs. nodes: where the ranks are, of a communicator.

        >>> tutti.explain("broadcast", 8, ranks=4).plan().rounds
        1
        """
        return plan(self.collective, self.ranks, nodes or self.nodes, params=self.params, root=self.root, model=model)


class Plan:
    """What all ranks do in a collective: a list of steps for each. A notebook shows it as a picture.

    Attributes: `collective`, `ranks`, `nodes`, `root` (None where there is none), `params`, `form`, `blocks` (that the
    vector is cut into), `rounds`, `levels` (what the busiest rank sends over each), `compiled` (the ranks that these are
    of, where there are too many to look at all; otherwise None), `model` (of the times).

    >>> tutti.plan("allreduce", 8, params="ring").blocks
    8
    """

    collective: str
    ranks: int
    nodes: int
    root: int | None
    params: str
    form: str
    blocks: int
    rounds: int
    levels: list[dict[str, Any]]
    compiled: int | None
    model: str

    def __init__(self, arguments: Sequence[object]) -> None:
        self._arguments = arguments
        self._times: dict[int, float] = {}
        self.compiled = None
        self._take(())

    def _take(self, sizes: Sequence[int]) -> None:
        said = json.loads(ask("plan", *self._arguments, "--json", *(("--sizes", ",".join(map(str, sizes))) if sizes else ())))
        self._times.update({of["bytes"]: of["predicted_ns"] * 1e-9 for of in said.pop("sizes")})
        vars(self).update(said)

    def __repr__(self) -> str:
        where = f" on {self.nodes} nodes" if self.nodes > 1 else ""
        return f"<tutti.Plan of {self.collective}, {self.ranks} ranks{where}, '{self.params}', {self.rounds} rounds>"

    def __str__(self) -> str:
        return self.text

    @functools.cached_property
    def text(self) -> str:
        """The plans of all ranks, as `tutti plan --text` prints them.

        >>> tutti.plan("allreduce", 8, params="ring").text.count("lane 0 id")
        8
        """
        return ask("plan", *self._arguments, "--text")

    @functools.cached_property
    def svg(self) -> str:
        """A picture: rounds across, ranks down. A PlanError where there are more than 64 ranks.

        >>> tutti.plan("allreduce", 8, params="ring").svg[:4]
        '<svg'
        """
        return ask("plan", *self._arguments, "--svg", "-")

    def _repr_svg_(self) -> str | None:
        return self.svg if self.ranks <= _SHOWN else None

    def simulate(self, nbytes: SupportsIndex) -> float:
        """Predicted seconds of a call with a vector of so many bytes, by `model`. Nothing is run.

        >>> round(tutti.plan("broadcast", 2, params="binomial", model="alpha=1us,beta=1").simulate(1000) * 1e6, 3)
        2.0
        """
        nbytes = _whole("nbytes", nbytes, 1)
        if nbytes not in self._times:
            self._take((nbytes,))
        return self._times[nbytes]


def _name(collective: str) -> str:
    return collective.replace("_", "-")  # the methods' names are names


def _whole(name: str, value: SupportsIndex, least: int) -> int:
    number = operator.index(value)  # numpy's integers too
    if number < least:
        raise ValueError(f"{name} is {number}; it must be {least} or more")
    return number


def _subject(ranks: SupportsIndex, nodes: SupportsIndex | None, root: SupportsIndex, model: str | None) -> list[object]:
    words: list[object] = ["-n", _whole("ranks", ranks, 1)]
    nodes = None if nodes is None else _whole("nodes", nodes, 1)
    for option, value in (("--nodes", nodes), ("--root", _whole("root", root, 0) or None), ("--model", model)):
        words += [] if value is None else [option, value]
    return words


def plan(collective: str, ranks: SupportsIndex, nodes: SupportsIndex | None = None, *, params: str = "[core:star]",
         root: SupportsIndex = 0, model: str | None = None) -> Plan:  # fmt: skip
    """Compiles a collective as the library would, for ranks that need not be there.

    collective: "allreduce", "all-to-all" ... nodes: the ranks are on so many machines, in rank order. params: parameters
    or a preset (docs/plan.md). model: rates for `simulate`, such as "node:alpha=2us,beta=0.1". Returns a Plan.

    >>> ring = tutti.plan("allreduce", 8, params="ring")
    >>> ring
    <tutti.Plan of allreduce, 8 ranks, 'form=split [core:chain]', 14 rounds>
    >>> halving = tutti.plan("allreduce", 8, params="rabenseifner")
    >>> halving.simulate(1000) < ring.simulate(1000)
    True
    """
    return Plan([_name(collective), *_subject(ranks, nodes, root, model), "--params", params])


def _seconds(ns: float | None) -> float | None:
    return None if ns is None else ns * 1e-9


def _source(of: dict[str, Any], name: str) -> str:
    return f"{of[name]} {of['source']}".strip()


def explain(collective: str, nbytes: SupportsIndex | None = None, ranks: SupportsIndex = 1,
            nodes: SupportsIndex | None = None, *, type: str = "float32", op: str = "sum", root: int = 0,
            params: str | None = None, model: str | None = None, candidates: bool = False) -> Explanation:  # fmt: skip
    """Which parameters a call would run with on ranks that need not be there, and who decides that.

    nbytes: of the whole vector; a barrier has none. nodes: the ranks are on so many machines, in rank order. params: the
    program has set these (`Comm.set_params`). candidates: with all that the call could run with and predicted times, the
    fastest first; that takes seconds. It asks what this machine's jobs ask: environment, wisdom, profile
    (docs/tuning.md). Returns an Explanation; a PlanError where the call would get it.

    >>> said = tutti.explain("allreduce", 1 << 20, ranks=16, nodes=4)
    >>> said.authority.startswith("profile default.json:")
    True
    >>> said.plan().ranks
    16
    """
    words: list[object] = ["explain", _name(collective), *([] if nbytes is None else [_whole("nbytes", nbytes, 0)]), *_subject(ranks, nodes, root, model)]
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


def of_comm(ranks: int, collective: str, nbytes: int, root: int, params: str, authority: str) -> Explanation:
    """What Comm.explain returns."""
    text = f"{collective} of {ranks} ranks, {nbytes} bytes: it runs with '{params}'; {authority} decides."
    return Explanation(collective, nbytes, ranks, None, root, params, authority, text=text)
