"""tutti tune --regret with tiny jobs: what it measures, writes, keeps and says; never how long anything took."""
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile
import unittest

TUTTI = str(pathlib.Path(os.environ["TUTTI_BIN"]) / "tutti")
DEADLINE_S = 300
COPIES, ROUNDS = 5, 20
RULES = {"rules": [{"collective": "allreduce", "params": "ring"}, {"collective": "broadcast", "params": "linear slice=8K"}]}
# Of another machine: that of the job would not use it.
WISDOM = {"tutti-wisdom": 1, "machine": "0123456789abcdef", "about": "made up", "winners": [
    {"collective": "allreduce", "ranks": 2, "nodes": 1, "ranks_per_node": 2, "nics": 0, "bytes": 65536, "params": "two-tree", "ns": 1,
     "rules_ns": 2}]}


def compared(choice, best):
    """The ratio in even rounds, counted from 1."""
    return statistics.median(c / b for c, b in zip(choice[1::2], best[1::2]))


def found(rows):
    """The least median of odd rounds."""
    return min(range(len(rows)), key=lambda n: statistics.median(rows[n][0::2]))


class Regret(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.file = self.folder / "regret.jsonl"
        self.profile = self.write("rings.json", RULES)
        self.wisdom = self.write("elsewhere.json", WISDOM)

    def write(self, name, content):
        path = self.folder / name
        path.write_text(json.dumps(content))
        return str(path)

    def tune(self, *words, **variables):
        return subprocess.run([TUTTI, "tune", *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=DEADLINE_S, env={**os.environ, **variables})

    def regret(self, *words, busy=True, **variables):
        """busy: whatever else this machine does."""
        done = self.tune("--regret", str(self.file), "--ranks", "2", *(["--busy"] if busy else []), *words, **variables)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout

    def lines(self):
        return [json.loads(line) for line in self.file.read_text().splitlines()]

    def refused(self, text, *words):
        done = self.tune(*words)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(text, done.stderr)

    # ---- what is measured ----

    def check(self, line):
        finalists = [finalist["ns"] for finalist in line["finalists"]]
        texts = [finalist["params"] for finalist in line["finalists"]]
        self.assertEqual(len(line["copies"]), COPIES)
        for times in finalists + line["copies"]:
            self.assertEqual(len(times), ROUNDS)
            self.assertTrue(all(time > 0 for time in times))
        self.assertEqual(len(set(texts)), len(texts))
        self.assertLessEqual(len(texts) + line["dropped"], line["candidates"] + len(line["choices"]))
        best = found(finalists)
        self.assertEqual(line["best"], texts[best])
        for choice in line["choices"]:
            ratio = compared(finalists[choice["finalist"]], finalists[best])
            self.assertAlmostEqual(choice["ratio"] / ratio, 1, places=4)
            self.assertLessEqual(choice["low"], choice["ratio"])
            self.assertLessEqual(choice["ratio"], choice["high"])
        job = finalists[line["choices"][0]["finalist"]]
        self.assertAlmostEqual(line["floor"] / compared(job, line["copies"][found(line["copies"])]), 1, places=4)

    def test_each_choice_is_compared_with_the_best_of_the_space(self):
        out = self.regret("allreduce", "broadcast", "barrier", "--sizes", "8,96K", "--profile", self.profile, "--wisdom", self.wisdom)
        lines = {(line["collective"], line["bytes"]): line for line in self.lines()}
        self.assertEqual(set(lines), {("allreduce", 8), ("allreduce", 96 << 10), ("broadcast", 8), ("broadcast", 96 << 10), ("barrier", 4)})
        for line in lines.values():
            self.check(line)
            self.assertEqual([choice["name"] for choice in line["choices"]], ["job", "shipped", "rings", "elsewhere"])
            self.assertEqual((line["ranks"], line["nodes"]), (2, 1))
        said = {name: lines["allreduce", 96 << 10]["choices"][n]["params"] for n, name in ((0, "job"), (1, "shipped"), (2, "rings"),
                                                                                          (3, "elsewhere"))}
        self.assertEqual(said["job"], said["shipped"])
        self.assertEqual((said["rings"], said["elsewhere"]), ("ring", "two-tree"))
        broadcast = lines["broadcast", 8]["choices"]
        self.assertEqual(broadcast[2]["params"], "linear slice=8K")
        self.assertEqual(broadcast[2]["finalist"], broadcast[1]["finalist"], "these run alike with 8 bytes")
        self.assertEqual(broadcast[3]["params"], broadcast[1]["params"], "what wisdom does not know the shipped profile says")
        self.assertEqual(lines["barrier", 4]["choices"][2]["params"], "linear", "a profile without a rule")
        self.assertEqual(len(re.findall(r"(?m)^  (?:allreduce|broadcast|barrier) +2 ", out)), 5, out)
        for name in ("job", "shipped", "rings", "elsewhere"):
            self.assertRegex(out, rf"(?m)^  {name} +5 +\d+\.\d+ +\d+ ")
        self.assertNotIn("missing", out)

    def test_a_job_runs_what_its_calls_run(self):
        self.regret("scan", "--sizes", "8", TUTTI_PARAMS="scan")
        self.assertEqual(self.lines()[0]["choices"][0]["params"], "scan")

    def test_parameters_that_make_no_plan_are_an_error_as_in_a_call(self):
        done = self.tune("--regret", str(self.file), "--ranks", "2", "barrier", TUTTI_PARAMS="form=allgather.reduce-scatter linear")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("has no form 'allgather.reduce-scatter'", done.stderr)

    # ---- again ----

    def test_what_is_measured_is_kept_while_the_choices_are_the_same(self):
        words = ["allreduce", "--sizes", "8,4K", "--profile", self.profile]
        first = self.regret(*words)
        before = self.file.read_text()
        self.assertEqual(self.regret(*words), first)
        self.assertEqual(self.file.read_text(), before)
        self.write("rings.json", {"rules": [{"collective": "allreduce", "bytes": "1K", "params": "ring"}]})
        self.regret(*words)
        lines = self.lines()
        self.assertEqual([line["bytes"] for line in lines][2:], [4096])
        self.assertEqual(lines[2]["choices"][2]["params"], "linear")
        self.assertTrue(self.file.read_text().startswith(before))

    def test_lines_of_other_machines_are_left_alone(self):
        self.regret("barrier")
        line = dict(self.lines()[0], machine="0123456789abcdef")
        self.file.write_text(json.dumps(line) + "\n")
        self.assertRegex(self.regret("barrier"), r"(?m)^  job +1 ")
        self.assertEqual(self.lines()[0], line)
        self.assertEqual(len(self.lines()), 2)

    def test_a_line_that_was_cut_off_is_measured_again(self):
        self.regret("barrier")
        whole = self.file.read_text()
        for before in "", whole.replace('"barrier"', '"scan"'):
            self.file.write_text(before + whole[:-1])
            self.regret("barrier")
            self.assertEqual([line["collective"] for line in self.lines()], ["scan"] * bool(before) + ["barrier"])
        self.file.write_text("notes")
        self.assertNotEqual(self.tune("--regret", str(self.file), "--ranks", "2", "barrier").returncode, 0)
        self.assertEqual(self.file.read_text(), "notes")

    def test_what_the_budget_is_not_enough_for_is_missing_and_measured_next_time(self):
        words = ["allreduce", "barrier", "--sizes", "8,4K"]
        out = self.regret(*words, "--budget", "1us")
        self.assertIn("3 of 3 tasks are missing", out)
        self.assertIn("allreduce, 2 ranks, 4K", out)
        self.assertEqual(self.lines(), [])
        self.assertNotIn("missing", self.regret(*words))
        self.assertEqual(len(self.lines()), 3)

    def test_what_is_measured_beside_other_programs_is_not_kept(self):
        for _ in range(os.cpu_count()):
            other = subprocess.Popen([sys.executable, "-c", "while True: pass"])
            self.addCleanup(other.wait)
            self.addCleanup(other.kill)
        out = self.regret("barrier", busy=False)
        self.assertRegex(out, r"(?m)^  barrier +2 +4 +not kept: others use \d")
        self.assertIn("1 of 1 tasks are missing", out)
        self.assertEqual(self.lines(), [])

    def test_each_number_of_ranks_has_a_job(self):
        done = self.tune("--regret", str(self.file), "barrier", "--ranks", "2,3", "--busy")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual([line["ranks"] for line in self.lines()], [2, 3])
        self.assertRegex(done.stdout, r"(?m)^  job +2 ", "the last table has all that is in the file")

    # ---- what is wrong ----

    def test_wrong_files_are_named(self):
        self.file.write_text('{"collective": "allreduce"}\n')
        self.refused(f"{self.file}: line 1", "--regret", str(self.file), "--ranks", "2", "barrier")
        self.file.unlink()
        self.refused("nowhere.json", "--regret", str(self.file), "--ranks", "2", "--wisdom", str(self.folder / "nowhere.json"))
        self.refused("with --regret only", "--profile", self.profile)


if __name__ == "__main__":
    unittest.main()
