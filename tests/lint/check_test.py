"""`make check`: what is chosen, what is said at the end, and that the tests it leaves out are still there."""
import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["TUTTI_SOURCE"])
SCRIPT = ROOT / "scripts/test.py"
spec = importlib.util.spec_from_file_location("runner", SCRIPT)
runner = importlib.util.module_from_spec(spec)
spec.loader.exec_module(runner)
NAMES = ["api/call", "fault/kill", "transport/shm/ring", "transport/tcp/fault", "conformance/api", "property/execute"]

PROJECT = """cmake_minimum_required(VERSION 3.22)
project(toy NONE)
enable_testing()
foreach(test api/good:0 shm/odd:77 shm/bad:1 property/execute:0)
  string(REPLACE ":" ";" parts ${test})
  list(GET parts 0 name)
  list(GET parts 1 code)
  add_test(NAME ${name} COMMAND sh -c "exit ${code}")
  set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endforeach()
"""
PRESETS = """{ "version": 3, "configurePresets": [
  { "name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build" } ] }
"""


class Choice(unittest.TestCase):
    def test_folder_means_the_tests_in_it(self):
        for whats, chosen in ((["shm"], ["transport/shm/ring"]), (["fault"], ["fault/kill"]), (["api"], ["api/call"]),
                              (["transport"], ["transport/shm/ring", "transport/tcp/fault"]),
                              (["property", "api"], ["api/call", "property/execute"])):
            self.assertEqual(runner.choose(whats, NAMES), chosen)

    def test_anything_else_is_a_regular_expression(self):
        self.assertEqual(runner.choose(["tcp/f|^con"], NAMES), ["transport/tcp/fault", "conformance/api"])
        self.assertEqual(runner.choose(["rin"], NAMES), ["transport/shm/ring"])

    def test_every_pattern_is_of_a_test_that_exists(self):
        names = runner.tests_in(pathlib.Path(os.environ["TUTTI_BIN"]).parent)
        self.assertGreater(len(names), 100)
        for pattern in runner.LONG + [pattern for pattern, _ in runner.NOT_EMULATED] + [runner.ONCE]:
            self.assertTrue(any(re.search(pattern, name) for name in names), f"no test is named {pattern}")


class Whole(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "scripts").mkdir()
        shutil.copy(SCRIPT, self.folder / "scripts")
        (self.folder / "CMakeLists.txt").write_text(PROJECT)
        (self.folder / "CMakePresets.json").write_text(PRESETS)

    def check(self, *whats):
        result = subprocess.run([sys.executable, self.folder / "scripts/test.py", "--check", *whats], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        return result.returncode, result.stdout

    def test_quick_tests_run_and_the_others_are_counted(self):
        code, said = self.check()
        self.assertEqual(code, 1, said)
        self.assertRegex(said, r"\nFAILED   check: shm/bad\n1 passed, 1 failed, 1 skipped in \d+ s\n"
                               r"1 long tests were left out, of property: make check WHAT=FOLDER .*\n$")

    def test_what_is_named_runs_though_it_is_long(self):
        code, said = self.check("property")
        self.assertEqual(code, 0, said)
        self.assertRegex(said, r"\n1 passed, 0 failed, 0 skipped in \d+ s\n$")

    def test_what_is_not_there_is_said(self):
        code, said = self.check("nothing")
        self.assertEqual(code, 2, said)
        self.assertIn("no test is named nothing; folders are api property shm\n", said)


if __name__ == "__main__":
    unittest.main()
