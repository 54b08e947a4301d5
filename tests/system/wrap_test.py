"""Ranks under another program: `tutti run --wrap`, and `tutti wrap` by what other launchers say in the environment."""
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import termios
import time
import unittest

TUTTI = str(pathlib.Path(os.environ["TUTTI_BIN"]) / "tutti")
DEADLINE_S = 60
RANKS = ("TUTTI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK", "PMI_RANK", "SLURM_PROCID")
WRAPPER = """#!/bin/sh
printf '%s\\n' "$@" >"$(dirname "$0")/wrapped.$TUTTI_RANK"
while [ "$1" != -- ]; do shift; done
shift
exec "$@"
"""


class Wrapped(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.wrapper = self.folder / "wrapper"
        self.wrapper.write_text(WRAPPER)
        self.wrapper.chmod(0o755)

    def run_job(self, *arguments, **options):
        return subprocess.run([TUTTI, "run", *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              timeout=DEADLINE_S, **options)

    def wrapped(self):
        """{rank: words that the wrapper of the last job got}"""
        return {int(path.suffix[1:]): path.read_text().splitlines() for path in self.folder.glob("wrapped.*")}

    def check(self, ranks, *options):
        for path in self.folder.glob("wrapped.*"):
            path.unlink()
        result = self.run_job("-n", str(ranks), *options, "sh", "-c", "echo rank $TUTTI_RANK")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sorted(result.stdout.splitlines()), [f"rank {rank}" for rank in range(ranks)])
        return self.wrapped()

    def test_ranks_that_are_named_start_under_it(self):
        program = ["--", "sh", "-c", "echo rank $TUTTI_RANK"]
        for ranks, named in (("0,3", {0, 3}), ("1-2", {1, 2}), ("0,2-3", {0, 2, 3}), ("2,2", {2}), ("all", {0, 1, 2, 3})):
            self.assertEqual(self.check(4, "--wrap", f"{ranks}:{self.wrapper} a b --"),
                             {rank: ["a", "b", *program] for rank in named}, ranks)
        self.assertEqual(self.check(2, f"--wrap={self.wrapper} --"), {0: program, 1: program})

    def test_of_several_the_last_that_names_a_rank_counts(self):
        said = self.check(4, *(word for rule in ("all:{} any --", "1:{} one --", "3:{} three --")
                               for word in ("--wrap", rule.format(self.wrapper))))
        self.assertEqual([said[rank][0] for rank in range(4)], ["any", "one", "any", "three"])

    def test_words_are_cut_as_a_shell_cuts_them(self):
        for command, words in (
                (r"a  'b c'  d", ["a", "b c", "d"]),
                (r'''"it's" 'a "b"' ""''', ["it's", 'a "b"', ""]),
                (r'''a\ b "\"\\\n" '\' \\''', ["a b", '"\\\\n', "\\", "\\"]),
                (r"a'b'\"c\"", ['ab"c"']),
                ("$HOME * a:b;c", ["$HOME", "*", "a:b;c"]),
                ("r.{rank} '{rank}' {ranks}", ["r.1", "1", "{ranks}"])):
            said = self.check(2, "--wrap", f"1:{self.wrapper} {command} --")
            self.assertEqual(said[1][:said[1].index("--")], words, command)

    def test_labels_stand_before_what_both_print(self):
        self.wrapper.write_text('#!/bin/sh\necho wrapper\nexec "$@"\n')
        result = self.run_job("-n", "2", "--label", "--wrap", f"1:{self.wrapper}", "echo", "program")
        self.assertEqual(sorted(result.stdout.splitlines()), ["[0] program", "[1] program", "[1] wrapper"])

    def test_exit_code_is_that_of_the_wrapper(self):
        result = self.run_job("-n", "2", "--wrap", "1:sh -c 'exit 5'", "true")
        self.assertEqual(result.returncode, 5)
        self.assertIn("rank 1 exited with code 5", result.stderr)

    def test_wrapper_that_is_not_there(self):
        result = self.run_job("-n", "3", "--wrap", "1:/no/such/wrapper -x", "true")
        self.assertEqual((result.returncode, result.stderr),
                         (127, "tutti run: /no/such/wrapper: No such file or directory\n"))

    def test_rules_that_are_wrong_are_named(self):
        bad = "'{}' is not a rank such as 3, a range such as 0-3, or 'all'".format
        for rule, reason in (
                ("0,x:gdb", bad("x")), ("3-0:gdb", bad("3-0")), (":gdb", bad("")), ("0,,1:gdb", bad("")),
                ("-1:gdb", bad("-1")), ("1-:gdb", bad("1-")), ("/a:b", bad("/a")),
                ("99999999999999999999:gdb", bad("99999999999999999999")),
                ("0:", "the command is missing"), ("all: ", "the command is missing"),
                ("0:gdb -ex 'run", "a quote is not closed"),
                ("1,4:gdb", "rank 4 is not in this job, which has 4 ranks"), ("2-9:gdb", "rank 9 is not in this job")):
            result = self.run_job("--wrap", rule, "-n", "4", "true")
            self.assertEqual(result.returncode, 2, rule)
            self.assertTrue(result.stderr.startswith(f"tutti run: --wrap '{rule}': "), result.stderr)
            self.assertIn(reason, result.stderr)


class OtherLaunchers(unittest.TestCase):
    def wrap(self, *arguments, **variables):
        environment = {name: value for name, value in os.environ.items() if name not in RANKS}
        return subprocess.run([TUTTI, "wrap", *arguments], env={**environment, **variables}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)

    def test_rank_comes_from_the_launcher(self):
        for variable in RANKS:
            for rank, said in ((1, "wrapped echo program\n"), (2, "program\n")):
                result = self.wrap("1:echo wrapped", "--", "echo", "program", **{variable: str(rank)})
                self.assertEqual((result.returncode, result.stdout), (0, said), variable)

    def test_innermost_launcher_counts(self):
        result = self.wrap("0:echo wrapped", "--", "echo", "program", SLURM_PROCID="0", OMPI_COMM_WORLD_RANK="3")
        self.assertEqual(result.stdout, "program\n")

    def test_what_is_wrong_is_said(self):
        for arguments, variables, reason in (
                (["0:gdb", "--", "true"], {}, "no launcher says which rank this is: none of TUTTI_RANK,"),
                (["0:gdb", "--", "true"], {"PMI_RANK": "x"}, "PMI_RANK is 'x', which is not a rank"),
                (["5:gdb", "--", "true"], {"PMI_RANK": "0", "PMI_SIZE": "4"}, "'5:gdb': rank 5 is not in this job"),
                (["0;gdb:x", "--", "true"], {"PMI_RANK": "0"}, "'0;gdb:x': '0;gdb' is not a rank"),
                (["0:gdb", "true"], {"PMI_RANK": "0"}, "-- PROGRAM is missing"),
                (["0:gdb", "--"], {"PMI_RANK": "0"}, "-- PROGRAM is missing"),
                (["--", "true"], {"PMI_RANK": "0"}, "COMMAND is missing")):
            result = self.wrap(*arguments, **variables)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertTrue(result.stderr.startswith("tutti wrap: ") and reason in result.stderr, result.stderr)

    def test_what_cannot_be_started_is_named(self):
        for rule, named in (("0:/no/such/wrapper", "/no/such/wrapper"), ("1:true", "/no/such/program")):
            result = self.wrap(rule, "--", "/no/such/program", PMI_RANK="0")
            self.assertEqual((result.returncode, result.stderr),
                             (127, f"tutti wrap: rank 0: {named}: No such file or directory\n"))


class Terminal(unittest.TestCase):
    """Rank 0 starts under what could be a debugger: it says where SIGINT came, reads lines, and ends by `quit`."""

    DEBUGGER = ("import os, signal, sys\n"
                "signal.signal(signal.SIGINT, lambda *_: os.write(1, b'interrupted\\n'))\n"
                "print('(debugger)', flush=True)\n"
                "for line in iter(sys.stdin.readline, 'quit\\n'):\n"
                "    print('has read', line, end='', flush=True)\n"
                "print('ends', flush=True)\n")
    OTHER = "import time; print('other', flush=True); time.sleep(1000)"

    def start(self):
        script = pathlib.Path(self.folder.name) / "debugger.py"
        script.write_text(self.DEBUGGER)
        pid, terminal = pty.fork()
        if pid == 0:
            os.execv(TUTTI, [TUTTI, "run", "-n", "2", "--grace", "0", "--wrap", f"0:{sys.executable} {script}",
                             sys.executable, "-c", self.OTHER])
        self.addCleanup(os.close, terminal)
        self.addCleanup(self.end, pid)
        self.pid, self.terminal, self.text = pid, terminal, ""
        settings = termios.tcgetattr(terminal)
        settings[3] |= termios.NOFLSH # else Ctrl-C also drops what is on its way, either way
        termios.tcsetattr(terminal, termios.TCSANOW, settings)

    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def end(self, pid):
        try:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        except (ProcessLookupError, ChildProcessError):
            pass

    def await_text(self, *texts, lines=0):
        until = time.monotonic() + DEADLINE_S
        while not all(text in self.text for text in texts) or self.text.count("\n") < lines:
            ready = select.select([self.terminal], [], [], max(0, until - time.monotonic()))[0]
            self.assertTrue(ready, f"no {texts} in {self.text!r}")
            self.text += os.read(self.terminal, 1000).decode()

    def test_interrupt_is_for_the_debugger_alone(self):
        self.start()
        self.await_text("(debugger)", "other", lines=2) # of two processes, so they may mix
        for times in 1, 2, 3:
            self.text = ""
            os.write(self.terminal, b"\x03")
            self.await_text("interrupted")
            os.write(self.terminal, f"line {times}\n".encode())
            self.await_text(f"has read line {times}")
        self.assertEqual(os.waitpid(self.pid, os.WNOHANG), (0, 0))

    def test_interrupt_reaches_the_others_when_the_debugger_has_ended(self):
        self.start()
        self.await_text("(debugger)", "other", lines=2) # of two processes, so they may mix
        os.write(self.terminal, b"quit\n")
        self.await_text("ends")
        until = time.monotonic() + DEADLINE_S
        status = (0, 0)
        while status[0] == 0 and time.monotonic() < until:
            os.write(self.terminal, b"\x03")
            time.sleep(0.05)
            status = os.waitpid(self.pid, os.WNOHANG)
        self.assertNotEqual(status[0], 0, "the job goes on")
        self.assertIn(os.waitstatus_to_exitcode(status[1]), (1, 128 + signal.SIGINT, 128 + signal.SIGKILL))


if __name__ == "__main__":
    unittest.main()
