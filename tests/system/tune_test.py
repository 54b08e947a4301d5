"""`tutti tune`: what it keeps, and where it looks more closely. Which parameters win is for the machine to say."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

TUTTI = str(pathlib.Path(os.environ["TUTTI_BIN"]) / "tutti")
DEADLINE_S = 120
SPIN = [sys.executable, "-c", "while True: pass"]


class Tuned(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "wisdom.json"

    def tune(self, *words):
        run = subprocess.run([TUTTI, "tune", *words, "--budget", "1s"], env=dict(os.environ, TUTTI_WISDOM=str(self.path)),
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        return run.stdout

    def winners(self):
        """{bytes: parameters}"""
        if not self.path.exists():
            return {}
        return {winner["bytes"]: winner["params"] for winner in json.loads(self.path.read_text())["winners"]}

    def make_winners(self, winners):
        wisdom = json.loads(self.path.read_text())
        one = wisdom["winners"][0]
        wisdom["winners"] = [dict(one, bytes=size, params=params) for size, params in winners.items()]
        self.path.write_text(json.dumps(wisdom))

    def spin(self):
        """Other programs use every processor."""
        for _ in range(os.cpu_count()):
            other = subprocess.Popen(SPIN)
            self.addCleanup(other.wait)
            self.addCleanup(other.kill)

    def test_what_is_measured_beside_other_programs_is_not_kept(self):
        self.spin()
        said = self.tune("allreduce", "-n", "2", "--sizes", "8")
        self.assertIn("not kept: others use", said)
        self.assertIn("1 task of 1 was not kept", said)
        self.assertEqual(self.winners(), {})

    def test_it_is_kept_where_the_user_says_so(self):
        self.spin()
        self.tune("allreduce", "-n", "2", "--sizes", "8", "--busy")
        self.assertEqual(list(self.winners()), [8])

    def test_the_border_between_two_winners_is_looked_for(self):
        self.tune("broadcast", "-n", "2", "--sizes", "4K", "--busy")
        self.make_winners({64: "linear", 4096: "linear single-copy"})
        self.tune("broadcast", "-n", "2", "--sizes", "64,4K", "--busy")
        found = self.winners()
        self.assertIn(512, found)
        sizes = sorted(found)
        for low, high in zip(sizes, sizes[1:]):
            self.assertTrue(found[low] == found[high] or high == 2 * low, found)
        self.assertIn("all of it was measured before", self.tune("broadcast", "-n", "2", "--sizes", "64,4K"))


if __name__ == "__main__":
    unittest.main()
