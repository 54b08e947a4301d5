"""What bench/pairs prints and writes: progress, the table, the control's word, JSON. The exit code follows from them."""
import json
import math
import os
import statistics
import sys

from pairs_statistics import EVEN, FASTER, SLOWER, UNDECIDED, control_of, interval_of, interval_over, verdicts

COLORS = {SLOWER: "31", FASTER: "32", UNDECIDED: "33", "bad": "1;31", "good": "32"}


def colored(text, color, to=sys.stdout):
    plain = color not in COLORS or not to.isatty() or "NO_COLOR" in os.environ
    return text if plain else f"\033[{COLORS[color]}m{text}\033[0m"


def progress(text, lasting=False):
    """A line that the next one replaces on a terminal; elsewhere only what is lasting."""
    if sys.stderr.isatty():
        sys.stderr.write(f"\r\033[K{text}")
    elif lasting:
        sys.stderr.write(f"{text}\n")
    sys.stderr.flush()


def fail(text):
    sys.stderr.write(colored(text, "bad", sys.stderr) + "\n")
    return 2


# ---- words ----


def size_text(size):
    for unit, letter in ((1 << 30, "G"), (1 << 20, "M"), (1 << 10, "K")):
        if size and size % unit == 0:
            return f"{size // unit}{letter}"
    return str(size)


def us_text(ns):
    """Three digits or more."""
    us = max(ns / 1000, 1e-6)
    return f"{us:.{max(0, 2 - math.floor(math.log10(us)))}f}"


def ranks_text(ranks):
    return f"{ranks} ranks" if ranks != 1 else "1 rank"


def name_of(key):
    words = [ranks_text(key.ranks), key.collective, size_text(key.bytes), key.params]
    return " ".join(word for word in words if word)


def width_text(interval):
    width = interval.half_width
    return f"{width * 100:.1f} %" if width < 10 else "?"


def range_text(interval):
    return f"{interval.low:.3f} .. {interval.high:.3f}" if interval.low > 0 else "?"


# ---- results ----


class Result:
    """Of one point."""

    def __init__(self, run, point):
        limits, ranks = run.limits, point.key.ranks
        self.key, self.times = point.key, point.times
        self.count = len(point.times)
        median = lambda arm: statistics.median([times[arm] for times in point.times]) if point.times else math.nan
        self.ns = {arm: median(arm) for arm in ("a", "b", "same", "delayed")}
        self.interval = {arm: run.interval(point, arm) for arm in ("b", "same", "delayed")}
        self.verdict = dict(zip(self.interval, verdicts(self.interval.values(), self.ns["a"], ranks, limits)))

    def as_json(self):
        return {**self.key._asdict(), "median_ns": self.ns if self.count else None, "verdict": self.verdict, "pairs": self.times,
                "ratio": {arm: {"middle": i.middle, "low": i.low, "high": i.high if math.isfinite(i.high) else None}
                          for arm, i in self.interval.items()}}


def control_mark(result, arm):
    is_said = result.verdict[arm]
    word = {UNDECIDED: "?", EVEN: "even" if arm == "same" else "missed", FASTER: "FALSE",
            SLOWER: "seen" if arm == "delayed" else "FALSE"}[is_said]
    bad = is_said == FASTER or is_said == (SLOWER if arm == "same" else EVEN)
    return f"{result.interval[arm].middle:.3f} " + colored(f"{word:6}", "bad" if bad else "")


def print_table(run, results):
    name, params = (max([len(title), *(len(text) for text in texts)]) for title, texts in (
        ("collective", [r.key.collective for r in results]), ("", [r.key.params for r in results])))
    again, delay = f"{run.control} again", f"+{run.options.delay:g} %"
    head = f"{'ranks':>5} {'collective':{name}} {'size':>6} " + (f"{'params':{params}} " if params else "")
    print(head + f"{'a us':>9} {'b us':>9} {'b/a':>6} {'95 %':16} {'pairs':>5} {'':9}  {again:12} {delay}")
    for r in results:
        key = r.key
        head = f"{key.ranks:5} {key.collective:{name}} {size_text(key.bytes):>6} " + (f"{key.params:{params}} " if params else "")
        if r.count == 0:
            print(head + "not measured")
            continue
        ratio = r.interval["b"]
        print(head + f"{us_text(r.ns['a']):>9} {us_text(r.ns['b']):>9} {ratio.middle:6.3f} {range_text(ratio):16} {r.count:5} "
              + colored(f"{r.verdict['b']:9}", r.verdict["b"]) + f"  {control_mark(r, 'same')} {control_mark(r, 'delayed')}")


def overall(run, arm, ranks=None):
    points = [point for point in run.points.values() if ranks in (None, point.key.ranks)]
    return interval_over([run.logs(point, arm) for point in points])


def print_flagged(results, word):
    flagged = [r for r in results if r.verdict["b"] == word]
    for r in flagged:
        print(f"  {colored(word, word)}: {name_of(r.key)}: {r.interval['b'].middle:.3f} ({range_text(r.interval['b'])}), "
              f"a {us_text(r.ns['a'])} us, b {us_text(r.ns['b'])} us")


def print_undecided(results):
    for r in results:
        if r.verdict["b"] == UNDECIDED:
            widest = max(r.interval.values(), key=lambda interval: interval.half_width)
            at = f"within {width_text(widest)} after {r.count} pairs" if widest.low > 0 else f"{r.count} pairs"
            print(f"  {colored(UNDECIDED, UNDECIDED)}: {name_of(r.key)}: {r.interval['b'].middle:.3f}, {at}")


def print_summary(run, results):
    ratio = overall(run, "b")
    counts = {word: sum(r.verdict["b"] == word for r in results) for word in (EVEN, SLOWER, FASTER, UNDECIDED)}
    print(f"\nb/a of {len(results)} points: {ratio.middle:.4f} ({range_text(ratio)}), geometric mean and 95 %")
    print("  " + ", ".join(f"{count} {word}" for word, count in counts.items()))
    for word in (SLOWER, FASTER):
        print_flagged(results, word)
    print_undecided(results)


def share_text(part, whole):
    return f"{part} of {whole}" + (f" ({part / whole * 100:.0f} %)" if whole else "")


def control_over(results):
    return control_of([tuple(r.verdict[arm] for arm in ("b", "same", "delayed")) for r in results])


def print_control(run, results, control, holds):
    limits, name = run.limits, run.control
    same, delayed = overall(run, "same"), overall(run, "delayed")
    print(f"\ncontrol: {name} against itself: {share_text(control.wrong, len(results))} flagged, none may be; "
          f"mean {same.middle:.4f} ({range_text(same)})")
    print(f"         {name} with calls {run.options.delay:g} % longer: {share_text(control.seen, control.points)} of the decided "
          f"points flagged, {limits.seen * 100:.0f} % must be; mean {delayed.middle:.4f} ({range_text(delayed)})")
    for ranks in sorted({r.key.ranks for r in results}):
        part = control_over([r for r in results if r.key.ranks == ranks])
        print(f"           with {ranks_text(ranks)}: {share_text(part.seen, part.points)}, "
              f"mean {overall(run, 'delayed', ranks).middle:.4f}")
    if holds:
        print(colored("         the control holds", "good"))
    else:
        print(colored("         THE CONTROL DOES NOT HOLD: on this machine, as it is now, the comparison above is worth nothing",
                      "bad"))


def print_head(run):
    options, limits = run.options, run.limits
    for arm, command, library in (("a", options.a, options.library_a), ("b", options.b, options.library_b)):
        print(f"# {arm}        {command}" + (f", {library}" if library else ""))
    print(f"# points   {len(run.points)}, the fastest of {options.repeats} rows of {options.bench.seconds} s a job; "
          f"seed {options.seed}, {run.round} rounds")
    print(f"# pairs    until all intervals are within {limits.goal * 100:g} %, at least {limits.least}, at most {limits.most}")
    print(f"# decided  within {limits.width * 100:g} %, with {limits.many} ranks or more {limits.width_many * 100:g} %")
    print(f"# flagged  decided, and wholly beyond {limits.beyond * 100:g} % and {limits.beyond_ns:g} ns")


# ---- all ----


def as_json(run, results, control, holds, code):
    options = run.options
    ratios = {arm: overall(run, arm) for arm in ("b", "same", "delayed")}
    return {"tutti_pairs": 1, "a": options.a, "b": options.b, "libraries": [options.library_a, options.library_b],
            "bench": options.bench._asdict(), "seed": options.seed,
            "repeats": options.repeats, "limits": run.limits._asdict(), "rounds": run.round, "interrupted": run.interrupted,
            "failure": run.failure,
            "overall": {arm: {"middle": i.middle, "low": i.low, "high": i.high if math.isfinite(i.high) else None}
                        for arm, i in ratios.items()},
            "control": {**control._asdict(), "of": run.control, "delay_percent": options.delay, "holds": holds},
            "points": [r.as_json() for r in results], "exit_code": code}


def exit_code(run, results, holds):
    if run.interrupted:
        return 130
    if run.failure:
        return 2
    if run.left():
        return 4
    return 3 if not holds else 1 if any(r.verdict["b"] == SLOWER for r in results) else 0


def report(run, file):
    """Prints all and returns the exit code."""
    results = [Result(run, point) for point in run.points.values()]
    control = control_over(results)
    holds = control.holds(run.limits)
    code = exit_code(run, results, holds)
    print_head(run)
    print_table(run, results)
    print_summary(run, results)
    print_control(run, results, control, holds)
    sys.stdout.flush()
    if run.failure:
        fail(f"pairs: {run.failure}")
    json.dump(as_json(run, results, control, holds, code), file, indent=1)
    return code
