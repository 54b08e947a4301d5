"""The jobs of bench/pairs: which points there are, which of them a job runs, and what it says of them.

A job is one run of `COMMAND bench COLLECTIVE... --json FILE`; each of its rows is a time of a point."""
import json
import os
import signal
import subprocess
import tempfile
from typing import NamedTuple

SIZE_OF_NOTHING = 8  # a barrier has no bytes, but --sizes asks for some
TAKEN = {"-n": "ranks", "--sizes": "sizes", "--seconds": "seconds"}  # options that mean something here
REFUSED = {"--json": "belongs before --", "--launch": "brings its own rounds", "--against": "brings its own rounds",
           "--overlap": "does not give the time of a call", "--delay": "is used by the control",
           "--library": "belongs before --, as --library-a and --library-b"}


class Failure(Exception):
    """Ends the program; the text is for the user."""


class Bench(NamedTuple):
    """What was asked for behind `--`."""
    collectives: list
    ranks: list  # texts; [None]: as tutti chooses
    sizes: str | None
    params: list
    seconds: str
    rest: list


class Key(NamedTuple):
    ranks: int
    collective: str
    params: str
    bytes: int


class Job(NamedTuple):
    ranks: str | None  # as it was asked for
    params: str
    collectives: list
    sizes: list


def value_of(words, name):
    """Of `--name VALUE`, `--name=VALUE` or `-nVALUE`, whose first word has been taken off."""
    word, _, value = name.partition("=") if name.startswith("--") else (name[:2], "", name[2:])
    if value:
        return word, value
    if not words:
        raise Failure(f"{word} needs a value")
    return word, words.pop(0)


def parse_bench(words):
    words = list(words)
    if not words or words.pop(0) != "bench":
        raise Failure("after --, write what both commands run: bench COLLECTIVE... [options of tutti bench]")
    collectives, taken, params, rest = [], {}, [], []
    while words and not words[0].startswith("-"):
        collectives.append(words.pop(0))
    if not collectives:
        raise Failure("after -- bench, write collectives first, then options")
    while words:
        word = words.pop(0)
        name = word.partition("=")[0] if word.startswith("--") else word[:2]
        if name in REFUSED:
            raise Failure(f"{name} {REFUSED[name]}")
        if name in TAKEN or name == "--params":
            name, value = value_of(words, word)
            params += [value] if name == "--params" else []
            taken[TAKEN.get(name)] = value
        else:
            rest.append(word)
    ranks = taken["ranks"].split(",") if "ranks" in taken else [None]
    return Bench(collectives, ranks, taken.get("sizes"), params, taken.get("seconds", "0.02"), rest)


# ---- running ----


def run(command, arguments):
    """Runs a command of the shell with arguments; returns its output. Nothing of it outlives this program."""
    process = subprocess.Popen(["sh", "-c", f'{command} "$@"', "sh", *arguments], stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True)
    try:
        output, _ = process.communicate()
    except BaseException:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()
        raise
    if process.returncode != 0:
        raise Failure(f"{command} {' '.join(arguments)}: exit code {process.returncode}\n{output.strip()}")
    return output


def told(command, arguments):
    """What a job writes as JSON."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        run(command, [*arguments, "--json", file.name])
        return json.load(file)


def knows_delay(command):
    return "--delay" in run(command, ["bench", "--help"])


def rows_of(answer):
    """{key: time in ns}: of rows that were run more than once, the fastest."""
    times = {}
    for row in answer["rows"]:
        if row["result"] == "ok":
            key = Key(answer["ranks"], row["collective"], row["params"], row["bytes"])
            times.setdefault(key, []).append(row["times"][0]["median_ns"])
    return {key: min(several) for key, several in times.items()}


def find_points(command, bench, ranks, more):
    """All points of a number of ranks; the first run of everything."""
    arguments = ["bench", *bench.collectives, *bench.rest, *more, "--seconds", "0"]
    for name, value in [("-n", ranks), ("--sizes", bench.sizes), *(("--params", text) for text in bench.params)]:
        arguments += [name, value] if value is not None else []
    points = list(rows_of(told(command, arguments)))
    unknown = {key.collective for key in points} - set(bench.collectives)
    if unknown and "all" not in bench.collectives:
        raise Failure(f"name {sorted(unknown)[0]} before the options")
    if not points:
        raise Failure(f"{command} {' '.join(arguments)}: no row has a time")
    return points


def run_job(command, job, bench, repeats, more):
    sizes = ",".join(str(size or SIZE_OF_NOTHING) for size in job.sizes)
    rest = [word for word in bench.rest if word != "--per-pair"]  # sizes are those of whole vectors by now
    arguments = ["bench", *job.collectives, *rest, *more, "--sizes", sizes, "--seconds", bench.seconds]
    arguments += ["-n", job.ranks] if job.ranks else []
    for _ in range(repeats):
        arguments += ["--params", job.params]
    return rows_of(told(command, arguments))


# ---- composition ----


def compose(keys, ranks_as_asked, random, rows):
    """Jobs that run just these points, in random order: of each, a few collectives with the same sizes, about so many
    rows."""
    sizes = {}
    for key in keys:
        sizes.setdefault((key.ranks, key.params, key.collective), []).append(key.bytes)
    groups = {}
    for (ranks, params, collective), several in sizes.items():
        groups.setdefault((ranks, params, tuple(sorted(several))), []).append(collective)
    jobs = []
    for (ranks, params, several), collectives in groups.items():
        random.shuffle(collectives)
        at_once = max(1, rows // len(several))
        for first in range(0, len(collectives), at_once):
            shuffled = random.sample(several, len(several))
            jobs.append(Job(ranks_as_asked[ranks], params, collectives[first:first + at_once], shuffled))
    random.shuffle(jobs)
    return jobs
