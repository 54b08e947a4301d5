"""bench/pairs with a few tiny jobs: its form and JSON, never its times; and what it makes of made-up times."""
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import unittest

TUTTI = str(pathlib.Path(os.environ["TUTTI_BIN"]) / "tutti")
PAIRS = str(pathlib.Path(os.environ["TUTTI_SOURCE"]) / "bench" / "pairs")
DEADLINE_S = 120
POINTS = ["bench", "allreduce", "--sizes", "8,1K", "-n", "2,3", "--seconds", "0"]
POINT = ["bench", "allreduce", "--sizes", "8", "-n", "2", "--seconds", "0"]
OTHER = f"TUTTI_VERIFY=1 {TUTTI}"


# In tutti's place: says made-up times, of so much noise, longer for one collective.
MADE_UP = """
import json, math, os, sys
if "--help" in sys.argv:
    sys.exit(print("--delay"))
words = sys.argv[2:]
value = lambda name, default: words[words.index(name) + 1] if name in words else default
collectives = [word for word in words[:words.index("-n")] if word in ("scan", "reduce", "gather")]
uniform = lambda: int.from_bytes(os.urandom(6), "big") / 2**48  # the module random takes longer to load than all this
normal = lambda: math.sqrt(-2 * math.log(1 - uniform())) * math.cos(2 * math.pi * uniform())
rows = []
for collective in collectives:
    for size in value("--sizes", "").split(","):
        ns = 5000 * math.exp(normal() * float(os.environ.get("NOISE", "0.01"))) * (1 + float(value("--delay", 0)) / 100)
        ns *= float(os.environ.get("SLOWER", "1")) if collective == "scan" else 1
        rows.append({"collective": collective, "params": "", "bytes": int(size), "result": "ok", "times": [{"median_ns": ns}]})
json.dump({"ranks": int(value("-n", 0)), "rows": rows}, open(value("--json", ""), "w"))
"""


class Pairs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.json = self.folder / "pairs.json"

    def pairs(self, *words, bench=POINTS):
        return subprocess.run([PAIRS, *words, "--", *bench], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=DEADLINE_S)

    def compare(self, a, b, *options, bench=POINT):
        done = self.pairs("--a", a, "--b", b, "--pairs", "2", "--repeats", "1", "--json", str(self.json), *options, bench=bench)
        self.assertIn(done.returncode, (0, 1, 3), done.stdout + done.stderr)
        told = json.loads(self.json.read_text())
        self.assertEqual(told["exit_code"], done.returncode)
        return done.stdout, told

    def script(self, name, text):
        path = self.folder / name
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return str(path)

    def refused(self, text, *words, bench=POINTS):
        done = self.pairs(*words, bench=bench)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done.stderr)
        self.assertIn(text, done.stderr)

    def test_each_point_has_its_pairs_and_a_line(self):
        out, told = self.compare(TUTTI, OTHER, bench=POINTS)
        points = {(p["ranks"], p["collective"], p["bytes"]) for p in told["points"]}
        self.assertEqual(points, {(n, "allreduce", s) for n in (2, 3) for s in (8, 1024)})
        for point in told["points"]:
            self.assertEqual([pair["round"] for pair in point["pairs"]], [1, 2])
            self.assertTrue(all(pair[arm] > 0 for pair in point["pairs"] for arm in ("a", "b", "same", "delayed")))
            row = rf"(?m)^ +{point['ranks']} {point['collective']} +{'1K' if point['bytes'] == 1024 else point['bytes']} "
            self.assertEqual(len(re.findall(row, out)), 1, out)
        self.assertEqual(told["control"]["of"], "a")
        self.assertEqual(told["control"]["holds"], "the control holds" in out)
        self.assertEqual(not told["control"]["holds"], "THE CONTROL DOES NOT HOLD" in out)
        self.assertNotIn("\033", out)
        self.assertIn(f"# b        {OTHER}\n", out)
        self.assertIn(f"seed {told['seed']}", out)

    def test_exit_code_is_what_the_figures_say(self):
        """With limits that no two pairs can keep; a barrier has no size."""
        _, told = self.compare(TUTTI, TUTTI, "--width", "1e-9", "--width-many", "1e-9",
                               bench=["bench", "barrier", "-n", "2", "--seconds", "0"])
        self.assertEqual(told["exit_code"], 3)
        self.assertEqual([(p["collective"], p["bytes"]) for p in told["points"]], [("barrier", 0)])
        self.assertEqual({word for p in told["points"] for word in p["verdict"].values()}, {"undecided"})

    def judge(self, environment, *options):
        """What comes of made-up times, where b's are made with this environment."""
        path = self.folder / "made_up.py"
        path.write_text(MADE_UP)
        a = f"{sys.executable} -I -S -B {path}"
        done = self.pairs("--a", a, "--b", f"{environment} {a}", "--json", str(self.json), *options,
                          bench=["bench", "scan", "reduce", "gather", "--sizes", "8,64,512", "-n", "4"])
        told = json.loads(self.json.read_text())
        self.assertEqual(told["exit_code"], done.returncode, done.stderr)
        return done, told, {p["collective"]: p["verdict"]["b"] for p in told["points"]}

    def test_equal_is_even(self):
        done, told, verdicts = self.judge("")
        self.assertEqual((done.returncode, set(verdicts.values())), (0, {"even"}), done.stdout)
        self.assertEqual({len(p["pairs"]) for p in told["points"]}, {10})
        self.assertLess(abs(told["overall"]["b"]["middle"] - 1), 0.02)
        self.assertLess(abs(told["overall"]["delayed"]["middle"] - 1.1), 0.02)
        self.assertIn("9 of 9 (100 %) of the decided points flagged", done.stdout)

    def test_slower_is_slower_and_faster_faster(self):
        for factor, word, code in (("1.2", "slower", 1), ("0.8", "faster", 0)):
            done, _, verdicts = self.judge(f"SLOWER={factor}")
            self.assertEqual(verdicts, {"scan": word, "reduce": "even", "gather": "even"}, done.stdout)
            self.assertEqual(done.returncode, code)
            self.assertIn(f"\n  {word}: 4 ranks scan 64: {factor[0]}.", done.stdout)
            self.assertIn(f"3 {word}", done.stdout)

    def test_noise_is_undecided_and_the_control_says_so(self):
        done, _, verdicts = self.judge("NOISE=1 SLOWER=9", "--pairs", "12")
        self.assertEqual((done.returncode, set(verdicts.values())), (3, {"undecided"}), done.stdout)
        self.assertIn("THE CONTROL DOES NOT HOLD", done.stdout)
        self.assertEqual(done.stdout.count("  undecided: 4 ranks"), 9)

    def test_build_without_delay_leaves_the_control_to_the_other(self):
        old = self.script("old", f'case "$*" in *--help*) exit;; *--delay*) exit 2;; esac; exec {TUTTI} "$@"')
        _, told = self.compare(old, TUTTI)
        self.assertEqual(told["control"]["of"], "b")
        self.refused("neither command has `bench --delay`", "--a", old, "--b", old)

    def test_parameters_and_whole_vectors_are_points(self):
        done = self.pairs("--a", TUTTI, "--b", TUTTI, "--pairs", "1", "--repeats", "2", "--json", str(self.json), bench=[
            "bench", "all-to-all", "gather", "--sizes", "8,40", "--per-pair", "-n", "3", "--params", "linear", "--params",
            "bruck", "--seconds", "0", "--no-check"])
        self.assertEqual(done.returncode, 3, done.stderr)  # of single pairs nothing is known
        points = {(p["collective"], p["params"], p["bytes"]) for p in json.loads(self.json.read_text())["points"]}
        self.assertEqual(points, {(c, p, s) for c in ("all-to-all", "gather") for p in ("linear", "bruck") for s in (24, 120)})

    def test_interrupted_it_says_what_it_has(self):
        command = [PAIRS, "--a", TUTTI, "--b", TUTTI, "--json", str(self.json), "--", *POINTS[:-1], "0.1"]
        process = subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
        self.assertIn("round 1: 0 of 4 points done", process.stderr.readline())
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=DEADLINE_S)
        self.assertEqual(process.returncode, 130)
        self.assertIn("4 undecided", out)
        self.assertTrue(json.loads(self.json.read_text())["interrupted"])

    def test_what_was_measured_is_kept_and_gone_on_with(self):
        state = self.folder / "state.json"
        state.touch()
        options = ["--state", str(state), "--pairs", "3", "--goal", "1e-9"]
        done, told, _ = self.judge("", *options, "--budget", "1e-9")
        self.assertEqual((done.returncode, {len(p["pairs"]) for p in told["points"]}), (4, {0}), done.stderr)
        _, told, _ = self.judge("", *options)
        self.assertEqual({len(p["pairs"]) for p in told["points"]}, {3})
        kept = json.loads(state.read_text())
        for point in kept["points"][:4]:  # as if a round had been cut off
            point[-1].pop()
        state.write_text(json.dumps(kept))
        done, told, _ = self.judge("", *options)
        self.assertNotEqual(done.returncode, 4)
        self.assertEqual({tuple(pair["round"] for pair in p["pairs"]) for p in told["points"]}, {(1, 2, 3)})
        self.assertEqual([p["pairs"][:2] for p in told["points"]], [point[-1][:2] for point in kept["points"]])
        self.assertEqual([p["pairs"] for p in told["points"][4:]], [point[-1] for point in kept["points"][4:]])
        self.refused("it is of other commands", "--a", TUTTI, "--b", TUTTI, "--state", str(state))
        for text in ("{}", "[1]", "no JSON"):
            state.write_text(text)
            self.refused("it is not what pairs keeps", "--a", TUTTI, "--b", TUTTI, "--state", str(state))

    def test_each_may_measure_a_library_of_its_own(self):
        log = self.folder / "log"
        a, b = (self.script(name, f'echo {name} "$@" >>{log}; exec {sys.executable} -I -S -B {self.folder}/made_up.py "$@"')
                for name in ("a", "b"))
        (self.folder / "made_up.py").write_text(MADE_UP)
        self.pairs("--a", a, "--b", b, "--library-a", "first", "--library-b", "second", "--pairs", "1",
                   bench=["bench", "scan", "--sizes", "8", "-n", "4"])
        runs = [line for line in log.read_text().splitlines() if "--help" not in line]
        self.assertEqual(len(runs), 6)  # to find the points; a, b, the control twice
        for line in runs:
            self.assertIn(" --library first " if line.startswith("a ") else " --library second ", line)
        self.assertEqual(sum("--delay" in line for line in runs), 1)

    def test_job_that_fails_leaves_what_is_known(self):
        """The third run of b does, after that which says which points there are and that of the first round."""
        count = self.folder / "count"
        b = self.script("b", f'case "$*" in *--help*) ;; *) echo >>{count}; [ $(wc -l <{count}) -lt 3 ] || {{ echo tired; exit 9; }};; '
                             f'esac; exec {TUTTI} "$@"')
        done = self.pairs("--a", TUTTI, "--b", b, "--repeats", "1", "--json", str(self.json), bench=POINT)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("exit code 9\ntired", done.stderr)
        told = json.loads(self.json.read_text())
        self.assertEqual((len(told["points"][0]["pairs"]), told["exit_code"]), (1, 2))

    def test_bad_use_is_said(self):
        both = ["--a", TUTTI, "--b", TUTTI]
        self.refused("the following arguments are required: --b", "--a", TUTTI)
        self.refused("--repeats, --rows must be at least 1", *both, "--pairs", "0")
        self.refused("--goal, --width", *both, "--goal", "nan")
        self.refused("after --, write", *both, bench=[])
        self.refused("collectives first", *both, bench=["bench", "-n", "2", "scan"])
        self.refused("name reduce before the options", *both, bench=["bench", "scan", *POINTS[2:], "reduce"])
        self.refused("--json belongs before --", *both, bench=["bench", "scan", "--json", "x"])
        self.refused("unknown collective 'nonsense'", *both, bench=["bench", "nonsense"])
        self.refused("No such file", *both, "--json", "/no/folder")
        self.refused("not found", "--a", "/no/tutti", "--b", TUTTI)
        other = self.script("other", f'case "$*" in *--help*) exec {TUTTI} "$@";; esac; exec {TUTTI} "$@" --sizes 64')
        self.refused("a and b have different points", "--a", TUTTI, "--b", other, bench=POINT)
        silent = self.script("silent", "echo --delay")
        self.refused("JSONDecodeError", "--a", silent, "--b", silent)

    def test_help(self):
        done = subprocess.run([PAIRS, "--help"], text=True, stdout=subprocess.PIPE, timeout=DEADLINE_S, check=True)
        self.assertIn("Exit code: 0: no point is slower", done.stdout.replace("\n", " "))


if __name__ == "__main__":
    unittest.main()
