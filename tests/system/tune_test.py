"""`tutti tune`: what it keeps, and where it looks more closely. Which parameters win is for the machine to say."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import unittest.mock

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

    def test_what_pretended_machines_say_is_only_for_a_file_with_a_name(self):
        cache = self.path.parent / "cache"
        for name in "TUTTI_NODES", "TUTTI_GROUPS", "TUTTI_TOPOLOGY":
            env = dict(os.environ, XDG_CACHE_HOME=str(cache), **{name: "2x1"})
            env.pop("TUTTI_WISDOM", None)
            run = subprocess.run([TUTTI, "tune", "barrier", "-n", "2"], env=env, text=True, stdout=subprocess.DEVNULL,
                                 stderr=subprocess.PIPE, timeout=DEADLINE_S)
            self.assertNotEqual(run.returncode, 0)
            self.assertIn(f"{name} pretends machines", run.stderr)
            self.assertFalse(cache.exists())
        os.environ["TUTTI_GROUPS"] = "2x1"
        self.addCleanup(os.environ.pop, "TUTTI_GROUPS")
        self.tune("barrier", "-n", "2", "--busy")
        self.assertEqual(len(self.winners()), 1)

    def samples(self):
        lines = self.path.with_name("wisdom.samples.jsonl").read_text().splitlines()
        return [json.loads(line) for line in lines if line.startswith("{")]

    def test_all_that_was_measured_is_kept_once(self):
        words = "allreduce", "-n", "2", "--sizes", "8,4K", "--busy"
        self.tune(*words)
        with self.path.with_name("wisdom.samples.jsonl").open("a") as file:
            file.write("not JSON\n")
        self.tune(*words, "--again")
        tasks = self.samples()
        self.assertEqual(len({task["bytes"] for task in tasks}), len(tasks))
        self.assertLessEqual({8, 4096}, {task["bytes"] for task in tasks})
        for task in tasks:
            self.assertGreater(len(task["samples"]), 0)
            order = [(-rounds, time) for _, time, rounds in task["samples"]]
            self.assertEqual(order, sorted(order))
            self.assertGreater(task["rules_ns"], 0)
            self.assertEqual(task["winner"], self.winners()[task["bytes"]])

    def test_what_the_user_has_set_is_not_taken_for_the_rules(self):
        profile = self.path.with_name("profile.json")
        profile.write_text('{"name": "mine", "rules": [{"collective": "allreduce", "params": "ring"}]}')
        for name, value in ("TUTTI_PARAMS", "ring"), ("TUTTI_PROFILE", str(profile)):
            with self.subTest(name), unittest.mock.patch.dict(os.environ, {name: value}):
                self.tune("allreduce", "-n", "2", "--sizes", "8", "--busy", "--again")
                task, = self.samples()
                self.assertNotEqual(task["rules"], "ring")

    def test_samples_that_cannot_be_kept_stop_nothing(self):
        self.path.with_name("wisdom.samples.jsonl").mkdir()
        self.tune("allreduce", "-n", "2", "--sizes", "8", "--busy")
        self.assertEqual(list(self.winners()), [8])

    def explain(self, *words):
        run = subprocess.run([TUTTI, "explain", *words, "--brief", "--json"],
                             env=dict(os.environ, TUTTI_WISDOM=str(self.path)), text=True, stdout=subprocess.PIPE,
                             timeout=DEADLINE_S)
        self.assertEqual(run.returncode, 0)
        return json.loads(run.stdout)

    def lessons(self, name="learned.json"):
        return json.loads(self.path.with_name(name).read_text())["collectives"]

    def test_who_learns_best_is_written_and_decides(self):
        sizes = ",".join(str(8 << 2 * n) for n in range(7))
        self.tune("broadcast", "-n", "3", "--ranks", "2,3", "--sizes", sizes, "--busy")
        said = self.tune("--learn", "broadcast", "-n", "3", "--ranks", "2,3")
        self.assertIn("broadcast", said)
        lesson, = self.lessons()
        self.assertEqual(lesson["collective"], "broadcast")
        self.assertEqual(lesson["scores"], {})  # jobs need none
        scores = self.lessons("learned.all.json")[0]["scores"]
        self.assertEqual(set(scores) - {"classifier"}, {"rules", "nearest"})  # no rates: no model
        for score in scores.values():
            self.assertGreaterEqual(score["cells"], 10)
            self.assertGreaterEqual(score["worst"], score["regret"])
        best = min(score["regret"] for score in scores.values())
        self.assertAlmostEqual(scores[lesson["by"]]["regret"], best, places=4)
        # whoever it is: what a job would run stands in the file
        self.make_winners({})
        answer = self.explain("broadcast", "512", "-n", "3")
        texts = {point.split(": ", 1)[1] for point in lesson["points"]} | set(lesson["classes"])
        self.assertIn(answer["authority"], ("learned", "profile"))
        if answer["authority"] == "learned":
            self.assertIn(answer["chosen"], texts)

    def write_samples(self, tasks):
        """As if they had been measured on this machine, of broadcasts where the rules take 100 ns."""
        self.tune("barrier", "-n", "2", "--busy")
        usual = {"machine": json.loads(self.path.read_text())["machine"], "collective": "broadcast", "nodes": 1,
                 "nics": 1, "rules": "linear", "rules_ns": 100}
        with self.path.with_name("wisdom.samples.jsonl").open("a") as file:
            for task in tasks:
                file.write(json.dumps(dict(usual, ranks_per_node=task["ranks"], **task)) + "\n")

    def learn(self):
        """What `tutti tune` says that has measured, and so learns."""
        return self.tune("barrier", "-n", "2", "--busy", "--again")

    def test_what_the_nearest_is_scored_with_is_what_would_run(self):
        self.write_samples({"ranks": 2 + n % 6, "bytes": 64 << n // 6,
                            "samples": [[f"linear slice={n + 1}K", 50, 24], ["chain", 300, 24]]} for n in range(60))
        self.learn()  # each cell has a best of its own, which no other cell has tried
        lesson, = self.lessons("learned.all.json")
        self.assertEqual(lesson["scores"]["nearest"], {"cells": 60, "right": 0, "regret": 6, "worst": 6})
        self.assertNotEqual(lesson["by"], "nearest")

    def test_what_no_call_can_be_is_not_learned(self):
        samples = [["binomial", 50, 24], ["chain", 1e18, 24]]
        tasks = [{"ranks": 2 + n % 6, "bytes": 64 << n // 6, "samples": samples} for n in range(12)]
        tasks[5]["samples"] = [["ring", 1, 24], ["linear slice=1K", 1e12, 24]]  # who does not know "ring" is far off
        wrong = {"ranks": 3 << 30}, {"bytes": (1 << 63) - 1}, {"rules_ns": 1e18}, {"rules_ns": 0.1}
        self.write_samples(tasks + [dict(dict(tasks[0], bytes=7), **one) for one in wrong])
        for _ in range(2):  # what is written can be read
            said = self.learn()
            self.assertIn("\n  4 lines of samples were not understood\n", said)
            self.assertNotIn("nothing was learned", said)
            self.assertEqual(self.lessons()[0]["to"]["ranks"], 7)

    def test_what_the_model_said_of_other_ranks_stays(self):
        tasks = [{"ranks": 2 + n % 3, "bytes": 64 << n // 3, "samples": [["binomial", 50, 24]]} for n in range(12)]
        self.write_samples(tasks)
        self.learn()
        path, point = self.path.with_name("learned.all.json"), "model 9 1 9 1 128: chain"
        said = json.loads(path.read_text())
        said["collectives"][0]["points"].append(point)
        said["collectives"][0]["to"].update(ranks=9, ranks_per_node=9)
        path.write_text(json.dumps(said))
        self.learn()
        lesson, = self.lessons("learned.all.json")
        self.assertIn(point, lesson["points"])
        self.assertEqual(lesson["to"]["ranks"], 9)
        self.make_winners({})
        answer = self.explain("broadcast", "128", "-n", "9")  # and who learned from that says what it said
        self.assertEqual((answer["authority"], answer["chosen"]), ("learned", "binomial"))

    def test_without_samples_there_is_nothing_to_learn(self):
        run = subprocess.run([TUTTI, "tune", "--learn", "-n", "2"], env=dict(os.environ, TUTTI_WISDOM=str(self.path)),
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("run `tutti tune` first", run.stderr)

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

    # ---- rates ----

    def rates(self):
        return json.loads((self.path.parent / "machine.json").read_text())

    def write_rates(self, rates):
        (self.path.parent / "machine.json").write_text(rates if isinstance(rates, str) else json.dumps(rates, indent=1))

    def test_a_fit_knows_what_ranks_do_at_each_end(self):
        said = self.tune("--fit", "-n", "2")
        self.assertIn("rates of machine", said)
        fit, = self.rates()["fits"]
        self.assertEqual((fit["ranks"], fit["nodes"], fit["ranks_per_node"]), (2, 1, 2))
        ends = {(end["medium"], end["act"]): end for end in fit["ends"]}
        for end in ("slot", "send"), ("slot", "store"), ("slot", "combine"), ("cell", "store"), ("own", "store"):
            self.assertGreater(max(ends[end]["piece_ns"]), 0, end)  # one of them may be lost in noise
        self.assertEqual(self.winners(), {})

    def test_a_check_says_whether_predictions_are_good_enough(self):
        said = self.tune("broadcast", "--fit", "--check", "-n", "2", "--sizes", "4K,64K", "--budget", "1s")
        self.assertRegex(said, r"from 16K on, the median error of \d+ plans is at most 20%: [\d.]+%, (met|missed)")
        self.assertRegex(said, r"below, the median rank correlation of 1 cells is at least 0.70: [-\d.]+ .*(met|missed)")
        self.assertRegex(said, r"within 1.05 of the best in 95% of the cells: [0-2] of 2, (met|missed)")

    def test_what_is_far_too_slow_by_the_rates_is_not_tried(self):
        words = "allreduce", "-n", "4", "--ranks", "4", "--sizes", "64K", "--busy"
        self.assertNotIn("were not tried", self.tune(*words))
        self.tune("--fit", "-n", "4", "--ranks", "4")
        rates = self.rates()
        rates["fits"][0]["within"]["alpha_ns"] = 1e7  # so many messages one behind the other: so many times as long
        self.write_rates(rates)
        self.assertIn("candidates were not tried", self.tune(*words, "--again"))

    def test_rates_that_are_wrong_are_named(self):
        self.write_rates('{"tutti-machine": 1,\n "fits": [}')
        run = subprocess.run([TUTTI, "tune", "allreduce", "-n", "2"], env=dict(os.environ, TUTTI_WISDOM=str(self.path)),
                             text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertNotEqual(run.returncode, 0)
        self.assertIn("machine.json: line 2", run.stderr)
        self.path = self.path.with_name("other.json")  # which has rates of its own
        self.tune("barrier", "-n", "2", "--busy")

    def refused(self, text, *words):
        run = subprocess.run([TUTTI, "tune", *words], env=dict(os.environ, TUTTI_WISDOM=str(self.path)), text=True,
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertNotEqual(run.returncode, 0, run.stdout)
        self.assertIn(text, run.stderr)

    def test_what_does_not_go_together_is_refused(self):
        self.refused("--mpi and --fit: one of them at a time", "--mpi", "openmpi", "--fit")
        self.refused("--launch --oversubscribe: it is for the MPI of --mpi", "--launch", "--oversubscribe")
        self.refused("sizes such as 8,64K,1M are needed", "--sizes", ",".join(["8"] * 300))
        self.refused("at most a year", "--budget", "9e9s")

    def test_wisdom_of_another_machine_is_left_alone(self):
        self.tune("allreduce", "-n", "2", "--sizes", "8", "--busy")
        wisdom = json.loads(self.path.read_text())
        wisdom["machine"] = "0123456789abcdef"
        self.path.write_text(json.dumps(wisdom))
        self.refused("it is of machine 0123456789abcdef", "allreduce", "-n", "2", "--sizes", "8")


if __name__ == "__main__":
    unittest.main()
