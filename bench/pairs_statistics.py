"""What pairs of times say: the statistics of bench/pairs, with no job and no clock in it.

A pair is two times of one point, of the same round; its logarithm of the ratio is one observation. Their mean is that
of the ratio (geometric), with the 95 % interval of Student. docs/benchmarking.md has the method."""
import functools
import math
from typing import NamedTuple

SURE = 0.95  # of an interval
UNDECIDED, EVEN, SLOWER, FASTER = "undecided", "even", "slower", "faster"


def t_share(t, freedom):
    """The share of Student's distribution between -t and t, exact for whole degrees of freedom (Abramowitz and Stegun,
    26.7.3 and 26.7.4)."""
    angle = math.atan(t / math.sqrt(freedom))
    sine, cosine = math.sin(angle), math.cos(angle)
    odd = freedom % 2
    term, total = (cosine, 0.0) if odd else (1.0, 0.0)
    for k in range(1 + odd, freedom, 2):  # freedom // 2 terms
        total += term
        term *= cosine * cosine * k / (k + 1)
    return 2 / math.pi * (angle + sine * total) if odd else sine * total


@functools.lru_cache(maxsize=None)
def t_quantile(freedom):
    """Between -t and t lie 95 %."""
    low, high = 0.0, 16.0
    while high - low > 1e-12 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if t_share(middle, freedom) < SURE else (low, middle)
    return high


class Interval(NamedTuple):
    count: int
    middle: float
    low: float
    high: float

    @property
    def half_width(self):
        """A share of the middle: 0.05 is 5 %."""
        return self.high / self.middle - 1


def interval_around(mean, error, count, freedom):
    if freedom < 1:
        return Interval(count, math.exp(mean), 0.0, math.inf)
    width = t_quantile(freedom) * error
    return Interval(count, math.exp(mean), math.exp(mean - width), math.exp(min(mean + width, 700)))


def interval_of(logs):
    """Of ratios, by their logarithms."""
    count = len(logs)
    if count == 0:
        return Interval(0, 1.0, 0.0, math.inf)
    mean = math.fsum(logs) / count
    squares = math.fsum((log - mean) ** 2 for log in logs)
    return interval_around(mean, math.sqrt(squares / max(count - 1, 1) / count), count, count - 1)


def interval_over(points):
    """Of the mean ratio over points, each a dict {round: logarithm}. What disturbs a round disturbs all its points: the
    rounds are what is independent, and as many are counted as the point with the fewest has."""
    points = [logs for logs in points if logs]
    if not points:
        return interval_of([])
    off = {}  # of each round, how much it has moved the mean
    means = [math.fsum(logs.values()) / len(logs) for logs in points]
    for logs, mean in zip(points, means):
        for number, log in logs.items():
            off[number] = off.get(number, 0.0) + (log - mean) / len(logs) / len(points)
    rounds = len(off)
    variance = math.fsum(value * value for value in off.values()) * rounds / max(rounds - 1, 1)
    fewest = min(len(logs) for logs in points)
    return interval_around(math.fsum(means) / len(means), math.sqrt(variance), len(points), fewest - 1)


class Limits(NamedTuple):
    beyond: float = 0.05  # a point is flagged if its interval lies wholly beyond this share,
    beyond_ns: float = 15.0  # and beyond this time
    width: float = 0.05  # decided: an interval that is no wider to either side
    width_many: float = 0.10  # the same with many ranks
    goal: float = 0.025  # no more pairs are needed
    least: int = 10  # pairs
    most: int = 60
    many: int = 8  # ranks
    seen: float = 0.9  # of the points must show the delay


def is_done(intervals, limits):
    """Whether a point needs no more pairs. It is asked about widths alone, never about where the intervals lie."""
    count = min(interval.count for interval in intervals)
    narrow = all(interval.half_width <= limits.goal for interval in intervals)
    return count >= limits.most or (count >= limits.least and narrow)


def verdict(interval, base_ns, ranks, limits):
    """base_ns: the time that the ratio refers to; math.inf: the share alone decides."""
    width = limits.width_many if ranks >= limits.many else limits.width
    beyond = max(limits.beyond, limits.beyond_ns / base_ns)
    if interval.count < limits.least or interval.half_width > width:
        return UNDECIDED
    return SLOWER if interval.low > 1 + beyond else FASTER if interval.high < 1 - beyond else EVEN


class Control(NamedTuple):
    points: int  # whose comparison is decided
    wrong: int  # flagged, of all the points of the same against the same
    seen: int  # of `points`: the delay was flagged

    def holds(self, limits):
        return self.points > 0 and self.wrong == 0 and self.seen >= limits.seen * self.points


def control_of(verdicts):
    """verdicts: of each point, those of the comparison, of the same against itself, of the delay."""
    decided = [delay for compared, _, delay in verdicts if compared != UNDECIDED]
    wrong = sum(same in (SLOWER, FASTER) for _, same, _ in verdicts)
    return Control(len(decided), wrong, decided.count(SLOWER))
