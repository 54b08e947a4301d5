"""The statistics of bench/pairs, on made-up times with and without far outliers: ranks and intervals are right, equal
distributions are flagged about never and 10 % nearly always, and more pairs are asked for because of widths alone. Jobs
have just the points that are left."""
import itertools
import math
import os
import pathlib
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(os.environ["TUTTI_SOURCE"]) / "bench"))
import pairs_jobs
from pairs_statistics import (EVEN, FASTER, SLOWER, UNDECIDED, Interval, Limits, control_of, interval_of, interval_over,
                              is_done, outside, rank_sums, verdict, verdicts)

LIMITS = Limits()
SHARE_ALONE = math.inf
# Of printed tables of signed ranks, 5 % at both ends together: from 6 observations on.
TABLE = [0, 2, 3, 5, 8, 10, 13, 17, 21, 25, 29, 34, 40, 46, 52, 58, 65, 73, 81, 89]


class Ranks(unittest.TestCase):
    def test_are_those_of_printed_tables(self):
        self.assertEqual([outside(count) for count in range(6)], [-1] * 6)
        self.assertEqual([outside(count) for count in range(6, 26)], TABLE)
        self.assertEqual(outside(50), 434)

    def test_sums_are_those_of_all_subsets(self):
        for count in range(10):
            sums = [sum(rank for rank, sign in enumerate(signs, 1) if sign)
                    for signs in itertools.product((0, 1), repeat=count)]
            self.assertEqual(list(rank_sums(count)), [sums.count(total) for total in range(count * (count + 1) // 2 + 1)])


def noise_of(rng, width, outliers):
    """A job's; with outliers, one of ten is ten times as far off."""
    return rng.gauss(0, width * (10 if outliers and rng.random() < 0.1 else 1))


class Intervals(unittest.TestCase):
    def test_is_hodges_lehmanns_and_wilcoxons(self):
        """Of six observations the interval is all of their means of two; the middle is the 11th of 21."""
        interval = interval_of([0, 1, 3, 7, 15, 31])
        self.assertEqual(interval.count, 6)
        self.assertAlmostEqual(math.log(interval.low), 0)
        self.assertAlmostEqual(math.log(interval.high), 31)
        means = sorted([0, 1, 3, 7, 15, 31, .5, 1.5, 3.5, 7.5, 15.5, 2, 4, 8, 16, 5, 9, 17, 11, 19, 23])
        self.assertAlmostEqual(math.log(interval.middle), means[10])

    def test_width_is_of_the_farther_side(self):
        self.assertAlmostEqual(Interval(10, 1, 0.8, 1.1).half_width, 0.25)
        self.assertAlmostEqual(Interval(10, 1, 0.9, 1.2).half_width, 0.2)

    def test_an_outlier_is_an_outlier_however_far(self):
        logs = [0.01 * n for n in range(20)]
        self.assertEqual(interval_of([*logs, 0.5]), interval_of([*logs, 100]))
        over = [{n: log for n, log in enumerate([*logs, far])} for far in (0.5, 100)]
        self.assertEqual(interval_over(over[:1]), interval_over(over[1:]))

    def test_of_few_pairs_is_everything(self):
        for logs in ([], [0.3], [0.3] * 5):
            self.assertEqual((interval_of(logs).low, interval_of(logs).high), (0, math.inf))
            self.assertEqual(interval_of(logs).half_width, math.inf)
        self.assertEqual(interval_over([]).high, math.inf)
        self.assertEqual(interval_over([{1: 0.1}, {}]).high, math.inf)

    def test_over_points_knows_that_a_round_disturbs_them_all(self):
        """95 % of the intervals, about, hold the truth, although the rounds' luck is shared by all points, of which half
        have fewer rounds."""
        rng = random.Random(13)
        for outliers in (False, True):
            held = 0
            for _ in range(300):
                luck = [noise_of(rng, 0.1, outliers) for _ in range(20)]
                points = [{n: 0.02 * p + luck[n] + noise_of(rng, 0.05, outliers) for n in range(12 + p % 2 * 8)}
                          for p in range(10)]
                interval = interval_over(points)
                held += interval.low <= math.exp(0.09) <= interval.high
            self.assertGreater(held, 300 * 0.91, outliers)

    def test_over_points_weighs_each_alike(self):
        interval = interval_over([{n: 0.1 for n in range(60)}, {n: 0.3 for n in range(10)}])
        self.assertAlmostEqual(math.log(interval.middle), 0.2)
        self.assertAlmostEqual(interval.half_width, 0)


class Verdicts(unittest.TestCase):
    def verdict(self, low, high, base_ns=SHARE_ALONE, ranks=2, count=20):
        return verdict(Interval(count, math.sqrt(low * high), low, high), base_ns, ranks, LIMITS)

    def test_flagged_is_what_lies_wholly_beyond(self):
        for low, high, said in ((1.051, 1.10, SLOWER), (1.049, 1.10, EVEN), (0.98, 1.02, EVEN), (0.90, 0.949, FASTER),
                                (0.90, 0.951, EVEN), (1.5, 1.8, UNDECIDED), (1.5, 1.6, SLOWER)):
            self.assertEqual(self.verdict(low, high), said, (low, high))

    def test_short_points_must_differ_by_a_time(self):
        for base_ns, said in ((100, EVEN), (140, EVEN), (160, SLOWER), (1000, SLOWER)):
            self.assertEqual(self.verdict(1.10, 1.14, base_ns), said, base_ns)
        self.assertEqual(self.verdict(0.88, 0.91, 160), EVEN)
        self.assertEqual(self.verdict(0.88, 0.90, 160), FASTER)

    def test_wide_is_undecided(self):
        self.assertEqual(self.verdict(0.94, 1.06), UNDECIDED)
        self.assertEqual(self.verdict(0.94, 1.06, ranks=7), UNDECIDED)
        self.assertEqual(self.verdict(0.94, 1.06, ranks=8), EVEN)
        self.assertEqual(self.verdict(0.88, 1.12, ranks=8), UNDECIDED)
        self.assertEqual(self.verdict(0.99, 1.01, count=9), UNDECIDED)

    def test_even_needs_a_control_that_would_notice(self):
        narrow, slower, wide = Interval(20, 1, 0.99, 1.01), Interval(20, 1.1, 1.08, 1.12), Interval(20, 1, 0.9, 1.1)
        said = lambda *intervals: verdicts(intervals, SHARE_ALONE, 2, LIMITS)
        self.assertEqual(said(narrow, narrow, slower), (EVEN, EVEN, SLOWER))
        self.assertEqual(said(narrow, narrow, wide), (UNDECIDED, EVEN, UNDECIDED))
        self.assertEqual(said(narrow, wide, slower), (UNDECIDED, UNDECIDED, SLOWER))
        self.assertEqual(said(slower, wide, wide), (SLOWER, UNDECIDED, UNDECIDED))
        self.assertEqual(verdicts((slower, narrow, slower), 140, 2, LIMITS), (EVEN, EVEN, SLOWER))

    def test_done_asks_widths_alone(self):
        rng = random.Random(14)
        for _ in range(200):
            logs = [rng.gauss(0, rng.choice((0.01, 0.04, 0.3))) for _ in range(rng.randrange(2, 70))]
            asked = {is_done([interval_of([log + shift for log in logs])], LIMITS) for shift in (-0.3, 0, 0.05, 0.1, 1)}
            self.assertEqual(len(asked), 1)

    def test_done_at_least_and_at_most(self):
        narrow, wide = Interval(9, 1, 0.999, 1.001), Interval(59, 1, 0.5, 2)
        self.assertFalse(is_done([narrow], LIMITS))
        self.assertTrue(is_done([narrow._replace(count=10)], LIMITS))
        self.assertFalse(is_done([narrow._replace(count=10), wide], LIMITS))
        self.assertFalse(is_done([wide], LIMITS))
        self.assertTrue(is_done([wide._replace(count=60)], LIMITS))


def measured(rng, ratio, noise, outliers):
    """Pairs until a point is done, as bench/pairs takes them: all three ratios share a's times."""
    logs = ([], [], [])
    while True:
        base = noise_of(rng, noise, outliers)
        for one, true in zip(logs, (ratio, 1, 1.1)):
            one.append(math.log(true) + noise_of(rng, noise, outliers) - base)
        if len(logs[0]) >= LIMITS.least:
            intervals = [interval_of(one) for one in logs]
            if is_done(intervals, LIMITS):
                return intervals


class Simulated(unittest.TestCase):
    """Noise of a job's times; 0.07 is as much as 60 pairs can take, 0.05 where there are outliers, too."""

    def points(self, ratio, noise, outliers, count):
        rng = random.Random(15)
        return [measured(rng, ratio, noise, outliers) for _ in range(count)]

    def test_equal_is_flagged_never_and_10_percent_nearly_always(self):
        for noise, outliers in ((0.005, False), (0.02, False), (0.05, False), (0.07, False), (0.005, True), (0.02, True),
                                (0.04, True)):
            points = self.points(1, noise, outliers, 100)
            said = [verdicts(point, SHARE_ALONE, 2, LIMITS) for point in points]
            control = control_of(said)
            self.assertEqual((control.points, control.wrong), (100, 0), (noise, outliers))
            self.assertTrue(control.holds(LIMITS), (noise, outliers, control))
            self.assertFalse({SLOWER, FASTER} & {compared for compared, _, _ in said})

    def test_stopping_by_width_keeps_the_intervals_true(self):
        for noise, outliers in ((0.02, False), (0.035, False), (0.01, True), (0.02, True)):
            points = self.points(1.03, noise, outliers, 300)
            held = sum(compared.low <= 1.03 <= compared.high for compared, _, _ in points)
            self.assertGreater(held, 300 * 0.91, (noise, outliers))
            middle = math.fsum(math.log(compared.middle) for compared, _, _ in points) / 300
            self.assertAlmostEqual(middle, math.log(1.03), delta=0.002)

    def test_control_does_not_hold_where_noise_hides_the_delay(self):
        points = self.points(1, 0.12, False, 40)
        self.assertFalse(control_of([verdicts(point, SHARE_ALONE, 2, LIMITS) for point in points]).holds(LIMITS))

    def test_goal_as_wide_as_decided_would_miss_the_delay(self):
        """Why there is a goal of its own: 10 % with 5 % to either side is not wholly beyond 5 %."""
        self.assertLess(1.10 / (1 + LIMITS.width), 1 + LIMITS.beyond)
        self.assertGreater(1.10 / (1 + LIMITS.goal), 1 + LIMITS.beyond)


class Control(unittest.TestCase):
    def holds(self, *verdicts):
        return control_of(verdicts).holds(LIMITS)

    def test_needs_points_that_show_the_delay(self):
        good, missed, wrong = (EVEN, EVEN, SLOWER), (EVEN, EVEN, EVEN), (EVEN, FASTER, SLOWER)
        self.assertTrue(self.holds(*[good] * 9, missed))
        self.assertFalse(self.holds(*[good] * 8, missed, missed))
        self.assertFalse(self.holds(*[good] * 99, wrong))
        self.assertFalse(self.holds((UNDECIDED, EVEN, SLOWER)))
        self.assertTrue(self.holds(*[good] * 9, *[(UNDECIDED, UNDECIDED, UNDECIDED)] * 30))
        self.assertFalse(self.holds(*[good] * 8, *[(SLOWER, EVEN, UNDECIDED)] * 2))


class Jobs(unittest.TestCase):
    def test_have_each_point_that_is_left_once(self):
        rng = random.Random(16)
        for _ in range(100):
            keys = [pairs_jobs.Key(ranks, collective, params, size) for ranks in (2, 4) for collective in "abcdefg"
                    for params in ("", "ring") for size in (0, 8, 1024, 65536) if rng.random() < rng.choice((0.3, 1))]
            jobs = pairs_jobs.compose(keys, {2: "2", 4: None}, rng, 12)
            ran = [pairs_jobs.Key({"2": 2, None: 4}[job.ranks], collective, job.params, size) for job in jobs
                   for collective in job.collectives for size in job.sizes]
            self.assertEqual(sorted(ran), sorted(keys))
            self.assertTrue(all(len(job.collectives) * len(job.sizes) <= 12 for job in jobs))

    def test_words_behind_the_dashes(self):
        bench = pairs_jobs.parse_bench(["bench", "scan", "reduce", "--type", "int8", "-n", "2,4", "--sizes=8,1K", "--apart",
                                        "--params", "ring", "--params=linear", "--seconds", "0"])
        self.assertEqual(bench, (["scan", "reduce"], ["2", "4"], "8,1K", ["ring", "linear"], "0",
                                 ["--type", "int8", "--apart"]))
        self.assertEqual(pairs_jobs.parse_bench(["bench", "all", "-n8"]).ranks, ["8"])
        for words in ([], ["run"], ["bench"], ["bench", "-n", "2"], ["bench", "scan", "-n"], ["bench", "scan", "--json", "x"],
                      ["bench", "scan", "--delay=3"]):
            with self.assertRaises(pairs_jobs.Failure):
                pairs_jobs.parse_bench(words)

    def test_rows_that_were_run_again_have_one_time(self):
        row = lambda size, ns, result="ok": {"collective": "scan", "params": "", "bytes": size, "result": result,
                                             "times": [{"median_ns": ns}, {"median_ns": 7}]}
        answer = {"ranks": 3, "rows": [row(8, 5), row(16, 40), row(8, 1), row(8, 3), row(32, 9, "no plan")]}
        key = pairs_jobs.Key(3, "scan", "", 8)
        self.assertEqual(pairs_jobs.rows_of(answer), {key: 1, key._replace(bytes=16): 40})


if __name__ == "__main__":
    unittest.main()
