"""scripts/bench_mpi.py with a made-up tutti: which steps it takes, that it goes on where it ended, and what it says."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = str(pathlib.Path(os.environ["TUTTI_SOURCE"]) / "scripts" / "bench_mpi.py")

# Notes its words. With tutti in front a scan takes twice as long, if SLOWER is set.
MADE_UP = """
import json, os, sys
words = sys.argv[1:]
open(os.environ["LOG"], "a").write(" ".join(words) + "\\n")
if words[0] == "tune":
    sys.exit(0)
if "--help" in words:
    sys.exit(print("--delay"))
value = lambda name, default: words[words.index(name) + 1] if name in words else default
slow = 2 if os.environ.get("SLOWER") and value("--library", "").endswith("+tutti") else 1
names = [word for word in words[1:] if word in ("scan", "allgatherv")]
rows = [{"collective": name, "params": "", "bytes": 8, "result": "ok",
         "times": [{"median_ns": 5000 * (1 + float(value("--delay", 0)) / 100) * (slow if name == "scan" else 1)}]}
        for name in names]
json.dump({"ranks": int(value("-n", 0)), "rows": rows}, open(value("--json", ""), "w"))
"""


class BenchMpi(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.log = self.folder / "log"
        (self.folder / "made_up.py").write_text(MADE_UP)
        self.tutti = self.folder / "tutti"
        self.tutti.write_text(f'#!/bin/sh\nexec {sys.executable} -B {self.folder}/made_up.py "$@"\n')
        self.tutti.chmod(0o755)

    def run_it(self, *words, **variables):
        return subprocess.run([SCRIPT, str(self.folder / "results"), "--tutti", str(self.tutti), "--mpis", "openmpi", "--ranks", "2",
                               "--sizes", "8", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                              env={**os.environ, "LOG": str(self.log), **variables})

    def calls(self):
        return self.log.read_text().splitlines()

    def test_calls_are_apart_where_ranks_share_cores(self):
        done = self.run_it("--ranks", "4096", "--pairs", "3")
        measured = [call for call in self.calls() if call.startswith("bench") and "--help" not in call]
        self.assertTrue(measured and all("--apart" in call for call in measured), done.stderr)
        self.assertEqual(done.returncode, 3)  # three pairs say nothing

    def test_tunes_then_compares_and_does_nothing_twice(self):
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("pairs-openmpi-2: 2 points, 10 rounds: 2 even, 0 faster, 0 slower, 0 undecided; control holds", done.stdout)
        calls = self.calls()
        self.assertTrue(calls[0].startswith("tune -n 2 --ranks 2 "), calls[0])
        self.assertTrue(calls[1].startswith("tune --mpi openmpi --ranks 2 "), calls[1])
        measured = [call for call in calls if call.startswith("bench") and "--help" not in call]
        self.assertEqual({"--library openmpi " in call for call in measured}, {True, False})
        self.assertTrue(all("--library openmpi" in call for call in measured))
        again = self.run_it()
        self.assertEqual((again.returncode, self.calls(), again.stdout), (0, calls, done.stdout))

    def test_slices_go_on_where_the_last_one_ended(self):
        for left in (["tune-2.done"], ["faster-openmpi-2.done", "tune-2.done"]):
            done = self.run_it("--slices", "1")
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertEqual(sorted(path.name for path in (self.folder / "results").glob("*.done")), left)
        self.assertEqual(len(self.calls()), 2)
        self.assertEqual(self.run_it("--slices", "1").returncode, 0)

    def test_a_slower_point_is_said(self):
        done = self.run_it(SLOWER="1")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn("1 even, 0 faster, 1 slower, 0 undecided", done.stdout)
        told = json.loads((self.folder / "results" / "pairs-openmpi-2.json").read_text())
        self.assertEqual({p["collective"]: p["verdict"]["b"] for p in told["points"]}, {"scan": "slower", "allgatherv": "even"})

    def test_a_step_that_fails_ends_it(self):
        self.tutti.write_text("#!/bin/sh\nexit 9\n")
        done = self.run_it()
        self.assertEqual(done.returncode, 2)
        self.assertIn("tune-2 failed with exit code 9", done.stderr)

    def test_an_error_of_python_is_no_slower_point(self):
        (self.folder / "results").touch()
        done = self.run_it()
        self.assertEqual(done.returncode, 2)
        self.assertIn("FileExistsError", done.stderr)


if __name__ == "__main__":
    unittest.main()
