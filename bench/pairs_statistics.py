"""What pairs of times say: the statistics of bench/pairs, with no job and no clock in it.

A pair is two times of one point, of the same round; the logarithm of their ratio is one observation. Now and then a
machine holds a whole job up, so observations have far outliers: the middle is Hodges and Lehmann's (the median of the
means of every two observations), the interval that of Wilcoxon's signed ranks. docs/benchmarking.md has the method."""
import functools
import math
from typing import NamedTuple

SURE = 0.95  # of an interval
NORMAL = 1.959964  # of a normal distribution, as much lies within so many deviations
UNDECIDED, EVEN, SLOWER, FASTER = "undecided", "even", "slower", "faster"


@functools.lru_cache(maxsize=None)
def rank_sums(count):
    """Of 1 .. count, how many of the subsets have each sum: of all signs, the frequencies of the sum of positive ranks."""
    if count == 0:
        return (1,)
    fewer = (*rank_sums(count - 1), *[0] * count)
    return tuple(ways + (fewer[total - count] if total >= count else 0) for total, ways in enumerate(fewer))


@functools.lru_cache(maxsize=None)
def outside(count):
    """How many of the sorted means of two lie outside of the interval at each end: the most that leave it SURE. None of
    few observations are sure enough: then -1."""
    rest, out = (1 - SURE) / 2 * 2**count, -1
    for ways in rank_sums(count):
        rest -= ways
        if rest < 0:
            return out
        out += 1
    return out


class Interval(NamedTuple):
    count: int
    middle: float
    low: float
    high: float

    @property
    def half_width(self):
        """A share of the middle, to the farther side: 0.05 is 5 %."""
        return max(self.high / self.middle, self.middle / self.low) - 1 if self.low > 0 else math.inf


def power(log):
    return math.exp(max(-700.0, min(log, 700.0)))


def median(ordered):
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def interval_of(logs):
    """Of ratios, by their logarithms."""
    count = len(logs)
    if count == 0:
        return Interval(0, 1.0, 0.0, math.inf)
    means = sorted((logs[i] + logs[k]) / 2 for i in range(count) for k in range(i + 1))
    out = outside(count)
    low, high = (0.0, math.inf) if out < 0 else (power(means[out]), power(means[-1 - out]))
    return Interval(count, power(median(means)), low, high)


def moves(logs, interval):
    """How much each round has moved the middle: by its rank, so that an outlier moves it no farther than the next one.
    Their squares add up to the variance that the interval has."""
    deviation = math.log(interval.high / interval.low) / 2 / NORMAL
    ordered = sorted(logs, key=logs.get)
    count = len(logs)
    step = deviation * math.sqrt(12 / max(1, count * (count * count - 1)))  # ranks vary by (count^2 - 1) / 12
    return {number: step * (rank - (count - 1) / 2) for rank, number in enumerate(ordered)}


def interval_over(points):
    """Of the mean ratio over points, each a dict {round: logarithm}. What disturbs a round disturbs all its points: the
    rounds are what is independent. So what each has moved is added over the points."""
    points = [(logs, interval_of(list(logs.values()))) for logs in points if logs]
    if not points:
        return interval_of([])
    mean = math.fsum(math.log(interval.middle) for _, interval in points) / len(points)
    if any(interval.low == 0 for _, interval in points):
        return Interval(len(points), power(mean), 0.0, math.inf)
    moved = {}
    for logs, interval in points:
        for number, move in moves(logs, interval).items():
            moved[number] = moved.get(number, 0.0) + move / len(points)
    width = NORMAL * math.sqrt(math.fsum(move * move for move in moved.values()))
    return Interval(len(points), power(mean), power(mean - width), power(mean + width))


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


def verdicts(intervals, base_ns, ranks, limits):
    """Of a point's comparison, of the same against itself, of the delay. Where a point is short, 10 % may be less time
    than is worth a flag; the control asks whether they are noticed, so there the share alone counts. Even needs a
    control that would have noticed: where it is undecided, so is the comparison."""
    compared, same, delayed = (verdict(interval, time, ranks, limits)
                               for interval, time in zip(intervals, (base_ns, math.inf, math.inf)))
    return (UNDECIDED if compared == EVEN and UNDECIDED in (same, delayed) else compared), same, delayed


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
