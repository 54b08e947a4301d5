"""`tutti run`: environment, output, input, binding, exit codes, signals, and that nothing is left behind."""
import os
import pathlib
import pty
import re
import resource
import select
import signal
import subprocess
import sys
import time
import unittest

TUTTI = str(pathlib.Path(os.environ["TUTTI_BIN"]) / "tutti")
DEADLINE_S = 60


def run(*arguments, **options):
    return subprocess.run([TUTTI, "run", *arguments], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          timeout=DEADLINE_S, **options)


def shell(ranks, script, *options, **more):
    return run("-n", str(ranks), *options, "sh", "-c", script, **more)


def processes_with(argument):
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if argument.encode() in entry.read_bytes().split(b"\0"):
                found.append(int(entry.parent.name))
        except OSError:
            pass
    return found


class Start(unittest.TestCase):
    def test_every_rank_has_its_number_and_the_address(self):
        result = shell(5, "echo $TUTTI_RANK of $TUTTI_SIZE at $TUTTI_BOOT")
        lines = sorted(result.stdout.splitlines())
        self.assertEqual(result.returncode, 0)
        self.assertEqual([line.split(" at ")[0] for line in lines], [f"{r} of 5" for r in range(5)])
        self.assertEqual(len({line.split(" at ")[1] for line in lines}), 1)
        self.assertRegex(lines[0], "unix:@tutti-[0-9a-f]{32}$")

    def test_ranks_have_a_core_each_where_there_are_enough(self):
        cores = os.sched_getaffinity(0)
        script = "grep Cpus_allowed_list /proc/self/status"
        bound = shell(len(cores), script).stdout.splitlines()
        self.assertEqual({int(line.split()[1]) for line in bound}, cores)
        self.assertEqual(len(set(shell(len(cores), script, "--bind", "none").stdout.splitlines())), 1)
        self.assertEqual(len(set(shell(len(cores) + 1, script).stdout.splitlines())), 1)
        over = shell(len(cores) + 1, script, "--bind", "core").stdout.splitlines()
        self.assertEqual({int(line.split()[1]) for line in over}, cores)

    def test_launcher_takes_descriptors_for_itself_only(self):
        script = "ulimit -Sn 40; exec \"$@\""
        result = subprocess.run(["sh", "-c", script, "sh", TUTTI, "run", "-n", "60", "-l", "sh", "-c", "ulimit -n"],
                                text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertEqual(sorted(result.stdout.splitlines()), sorted(f"[{r}] 40" for r in range(60)))

    def test_lack_of_descriptors_is_said_before_a_rank_starts(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (40, 40))
        if os.geteuid() == 0:
            command = ["setpriv", "--bounding-set=-sys_resource", "--inh-caps=-sys_resource"]
        else:
            command = []
        result = subprocess.run([*command, TUTTI, "run", "-n", "60", "echo", "started"], text=True, preexec_fn=limit,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertRegex(result.stderr, r"60 ranks need \d+ descriptors here, the limit is 40 \(ulimit -Hn\)")

    def test_input_goes_to_rank_0(self):
        result = run("-n", "3", "--label", "cat", input="one\ntwo")
        self.assertEqual(result.stdout, "[0] one\n[0] two\n")

    def test_program_that_is_not_there(self):
        result = run("-n", "2", "/no/such/program")
        self.assertEqual(result.returncode, 127)
        self.assertEqual(result.stderr, "tutti run: /no/such/program: No such file or directory\n")
        self.assertEqual(run("-n", "2", "/etc/passwd").returncode, 126)

    def test_wrong_options_are_named(self):
        for arguments, word in ((["-n", "0", "true"], "'0'"), (["true"], "-n"), (["-n", "2"], "program"),
                                (["-n", "2", "--bind", "x", "true"], "'x'"), (["-n", "2", "--nonsense"], "nonsense"),
                                (["-n", "2", "--timeout", "soon", "true"], "'soon'")):
            result = run(*arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(word, result.stderr)

    def test_errors_begin_with_the_command(self):
        for command in "run", "bench", "plan":
            result = subprocess.run([TUTTI, command, "--nonsense"], stderr=subprocess.PIPE, text=True)
            self.assertRegex(result.stderr, f"^tutti {command}: ")

    def test_help(self):
        self.assertIn("usage: tutti run", run("--help").stdout)


class Output(unittest.TestCase):
    def test_lines_stay_whole_and_in_order(self):
        program = ("import os,sys\n"
                   "r = os.environ['TUTTI_RANK']\n"
                   "for i in range(2000):\n"
                   "    os.write(1 + i % 2, f'begin {r} '.encode()); os.write(1 + i % 2, f'{i} end\\n'.encode())\n")
        result = run("-n", "4", "-l", sys.executable, "-c", program)
        self.assertEqual(result.returncode, 0)
        for lines, parity in ((result.stdout.splitlines(), 0), (result.stderr.splitlines(), 1)):
            numbers = {r: [] for r in "0123"}
            for line in lines:
                match = re.fullmatch(r"\[(\d)\] begin (\d) (\d+) end", line)
                self.assertTrue(match and match[1] == match[2], line)
                numbers[match[1]].append(int(match[3]))
            self.assertTrue(all(seen == list(range(parity, 2000, 2)) for seen in numbers.values()))

    def test_outputs_that_are_closed_hold_up_nothing(self):
        for closed, code in ("2>&-", 0), (">&-", 1), ("<&- >&- 2>&-", 1):
            result = subprocess.run(["sh", "-c", f"exec {TUTTI} run -n 2 -l echo hi {closed}"], timeout=DEADLINE_S,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
            self.assertEqual(result.returncode, code)
            self.assertEqual(sorted(result.stdout.splitlines()), [] if code else ["[0] hi", "[1] hi"])

    def test_last_line_without_newline_and_very_long_lines(self):
        result = shell(1, "head -c 500000 /dev/zero | tr '\\0' x; echo; printf end", "-l")
        self.assertEqual(result.stdout, "[0] " + "x" * 500000 + "\n[0] end\n")

    def test_reader_that_goes_away_ends_the_job(self):
        with subprocess.Popen([TUTTI, "run", "-n", "2", "-l", "--grace", "0", "yes"], stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL) as job:
            job.stdout.read(100)
            job.stdout.close()
            self.assertEqual(job.wait(DEADLINE_S), 128 + signal.SIGPIPE)

    def test_output_that_cannot_be_written_is_a_failure(self):
        with open("/dev/full", "w") as full:
            result = subprocess.run([TUTTI, "run", "-n", "2", "-l", "echo", "one"], stdout=full, text=True,
                                    stderr=subprocess.PIPE, timeout=DEADLINE_S)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr, "tutti run: cannot write the output: No space left on device\n")

    def test_reader_that_was_never_there_is_a_failure(self):
        read_end, write_end = os.pipe()
        os.close(read_end)
        result = subprocess.run([TUTTI, "run", "-n", "2", "-l", "echo", "one"], stdout=write_end,
                                stderr=subprocess.PIPE, timeout=DEADLINE_S)
        os.close(write_end)
        self.assertEqual(result.returncode, 128 + signal.SIGPIPE)

    def start_unread(self, *options, line="y"):
        """A job that prints for ever, to a reader that does not read."""
        job = subprocess.Popen([TUTTI, "run", "-n", "2", "-l", *options, "yes", line], stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
        self.addCleanup(job.stdout.close)
        self.addCleanup(job.stderr.close)
        self.addCleanup(job.kill)
        return job

    def test_time_limit_holds_where_nobody_reads(self):
        job = self.start_unread("--timeout", "1s")
        self.assertTrue(select.select([job.stderr], [], [], DEADLINE_S)[0], "no word of the time limit")
        lines = job.stdout.read().splitlines()
        self.assertEqual(job.wait(DEADLINE_S), 124)
        self.assertLessEqual(set(lines), {b"[0] y", b"[1] y"})

    def test_time_limit_holds_where_nobody_reads_the_launcher(self):
        with subprocess.Popen([TUTTI, "run", "-n", "2", "--timeout", "1s", "yes"], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as job:
            ranks, until = f"/proc/{job.pid}/task/{job.pid}/children", time.monotonic() + DEADLINE_S
            time.sleep(1)
            while pathlib.Path(ranks).read_text() and time.monotonic() < until:
                time.sleep(0.05)
            self.assertEqual(pathlib.Path(ranks).read_text(), "", "ranks go on")
            self.assertIn(b"not finished after 1 s; still running: rank 0 rank 1\n", job.stdout.read())
            self.assertEqual(job.wait(DEADLINE_S), 124)

    def test_time_limit_holds_where_a_line_is_longer_than_the_room(self):
        job = self.start_unread("--timeout", "1s", line="y" * 30000) # so that the pipe has little room left
        self.assertTrue(select.select([job.stderr], [], [], DEADLINE_S)[0], "no word of the time limit")
        lines = job.stdout.read().decode().splitlines()
        self.assertEqual(job.wait(DEADLINE_S), 124)
        for line in lines:
            self.assertRegex(line, r"^\[[01]\] y+$")
        whole = [len(line) == 30004 for line in lines]
        self.assertGreater(sum(whole), 2)
        self.assertLessEqual(whole.count(False), 2) # the last one of each

    def test_signals_end_a_job_that_nobody_reads(self):
        job = self.start_unread()
        until = time.monotonic() + DEADLINE_S
        while job.poll() is None and time.monotonic() < until:
            job.terminate()
            time.sleep(0.1)
        self.assertIn(job.poll(), (-signal.SIGTERM, 128 + signal.SIGTERM, 128 + signal.SIGKILL)) # a second one forces

    def test_long_lines_of_both_outputs_stay_whole_where_they_are_one(self):
        script = "l=$(printf %09999d 0); for n in 0 1 2 3 4 5 6 7 8 9; do echo $l $n out; echo $l $n error >&2; done"
        with subprocess.Popen([TUTTI, "run", "-n", "3", "-l", "sh", "-c", script], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as job:
            time.sleep(0.1)
            lines = job.stdout.read().splitlines()
            self.assertEqual(job.wait(DEADLINE_S), 0)
        zeros = "0" * 9999
        self.assertEqual(sorted(lines), sorted(f"[{r}] {zeros} {n} {to}" for r in range(3) for n in range(10)
                                               for to in ("out", "error")))

    def test_reader_that_is_slow_gets_everything(self):
        for blocking in True, False:
            read_end, write_end = os.pipe()
            os.set_blocking(write_end, blocking)
            with subprocess.Popen([TUTTI, "run", "-n", "2", "-l", "seq", "30000"], stdout=write_end) as job:
                while select.select([], [write_end], [], 0)[1]:
                    time.sleep(0.01)
                os.close(write_end)
                with open(read_end) as reader:
                    lines = reader.read().splitlines()
                self.assertEqual(job.wait(DEADLINE_S), 0)
            for rank in "01":
                own = [line[4:] for line in lines if line.startswith(f"[{rank}] ")]
                self.assertEqual(own, [str(n) for n in range(1, 30001)])


class End(unittest.TestCase):
    def test_code_of_the_first_rank_that_fails(self):
        result = shell(3, "test $TUTTI_RANK = 1 && exit 5; exec sleep 1000", "--grace", "0")
        self.assertEqual(result.returncode, 5)
        self.assertIn("rank 1 exited with code 5", result.stderr)
        self.assertNotIn("failed after it", result.stderr)

    def test_signal_that_ends_a_rank(self):
        result = shell(2, "test $TUTTI_RANK = 1 && kill -KILL $$; exec sleep 1000", "--grace", "0")
        self.assertEqual(result.returncode, 128 + 9)
        self.assertIn("rank 1 was ended by signal 9 (Killed)", result.stderr)

    def test_others_may_say_their_own_errors(self):
        result = shell(2, "test $TUTTI_RANK = 1 && exit 5; while kill -0 $PPID; do echo lost >&2; exit 6; done",
                       "--grace", "30s")
        self.assertIn("lost", result.stderr)
        self.assertIn(result.returncode, (5, 6))
        self.assertIn("failed after it: rank", result.stderr)

    def test_a_signal_that_comes_twice_at_once_is_one(self):
        for _ in range(10): # the launcher may have had no processor between the two
            with subprocess.Popen([TUTTI, "run", "-n", "2", "-l", "sh", "-c", "trap 'echo saved; exit 7' TERM; echo here; "
                                   "while :; do sleep 0.1; done"], stdout=subprocess.PIPE, text=True) as job:
                self.assertEqual(sorted(job.stdout.readline() for _ in range(2)), ["[0] here\n", "[1] here\n"])
                os.kill(job.pid, signal.SIGTERM)
                time.sleep(0.002) # it has read the first
                os.kill(job.pid, signal.SIGTERM)
                lines = sorted(job.stdout.read().splitlines())
                if job.wait(DEADLINE_S) == 7:
                    break
        self.assertEqual(lines, ["[0] saved", "[1] saved"])

    def test_ranks_that_ignore_sigterm_are_killed(self):
        result = shell(2, "trap '' TERM; test $TUTTI_RANK = 1 && exit 5; while :; do sleep 1; done", "--grace", "0")
        self.assertEqual(result.returncode, 5)

    def test_stopped_ranks_end_too(self):
        result = shell(2, "test $TUTTI_RANK = 1 && exit 5; kill -STOP $$", "--grace", "0")
        self.assertEqual(result.returncode, 5)

    def test_very_long_times_are_no_short_ones(self):
        result = shell(2, "test $TUTTI_RANK = 1 && exit 5; sleep 0.3; echo there", "--grace", "9223372036",
                       "--timeout", "9223372036")
        self.assertEqual((result.returncode, result.stdout), (5, "there\n"))

    def test_parent_that_ignores_the_ends_of_its_children(self):
        result = shell(2, "exit 5", "--grace", "0",
                       preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(result.returncode, 5)

    def test_timeout_names_who_still_runs(self):
        result = shell(3, "test $TUTTI_RANK = 1 && exit 0; exec sleep 1000", "--timeout", "5s")
        self.assertEqual(result.returncode, 124)
        self.assertRegex(result.stderr, "not finished after 5 s; still running: rank 0 rank 2")

    def test_output_without_end_keeps_nothing_from_ending(self):
        for script, options, code in (("exec yes", ("--timeout", "1s"), 124), ("yes & exit 0", (), 0)):
            result = subprocess.run([TUTTI, "run", "-n", "2", "-l", *options, "sh", "-c", script],
                                    stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, timeout=DEADLINE_S)
            self.assertEqual(result.returncode, code)

    def start(self, script, ranks=2, **options):
        job = subprocess.Popen([TUTTI, "run", "-n", str(ranks), "sh", "-c", script], stdout=subprocess.PIPE,
                               stderr=subprocess.DEVNULL, text=True, start_new_session=True, **options)
        ready = [job.stdout.readline() for _ in range(ranks)]
        self.assertEqual(ready, ["ready\n"] * ranks)
        return job

    def test_signals_are_passed_on(self):
        for number, code in ((signal.SIGUSR1, 11), (signal.SIGTERM, 12), (signal.SIGINT, 13), (signal.SIGHUP, 14)):
            job = self.start("trap 'exit 11' USR1; trap 'exit 12' TERM; trap 'exit 13' INT; trap 'exit 14' HUP;"
                             "echo ready; while :; do sleep 0.05; done")
            with job:
                job.send_signal(number)
                self.assertEqual(job.wait(DEADLINE_S), code)

    def test_second_signal_kills(self):
        with self.start("trap 'echo ready' TERM; echo ready; while :; do sleep 0.05; done", 1) as job:
            job.terminate()
            self.assertEqual(job.stdout.readline(), "ready\n")
            time.sleep(0.1) # at once it would be the same signal, from a launcher above
            job.terminate()
            self.assertEqual(job.wait(DEADLINE_S), 128 + 9)

    def test_signals_of_two_kinds_do_not_kill(self):
        script = "trap 'sleep 0.3; exit 12' TERM; trap '' HUP; echo ready; while :; do sleep 0.05; done"
        with self.start(script) as job:
            for number in signal.SIGTERM, signal.SIGHUP, signal.SIGHUP:
                job.send_signal(number)
            self.assertEqual(job.wait(DEADLINE_S), 12)

    def test_what_was_ignored_before_the_job_stays_so(self):
        with self.start("echo ready; read line; exit 3", 1, stdin=subprocess.PIPE,
                        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN)) as job:
            for _ in range(2):
                job.send_signal(signal.SIGINT)
                time.sleep(0.05)
            job.stdin.close()
            self.assertEqual(job.wait(DEADLINE_S), 3)

    def test_ranks_end_with_the_terminal(self):
        pid, terminal = pty.fork()
        if pid == 0:
            os.execl(TUTTI, TUTTI, "run", "-n", "2", "sh", "-c", "echo ready; exec sleep 1000")
        seen = b""
        while seen.count(b"ready") < 2:
            seen += os.read(terminal, 100)
        os.close(terminal)
        until = time.monotonic() + DEADLINE_S
        while (ended := os.waitpid(pid, os.WNOHANG))[0] == 0 and time.monotonic() < until:
            time.sleep(0.01)
        if ended[0] == 0:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
        self.assertEqual(os.waitstatus_to_exitcode(ended[1]) if ended[0] else None, 128 + signal.SIGHUP)

    def test_nothing_of_a_rank_survives_the_job(self):
        mark = f"{90000 + os.getpid()}.25"
        result = shell(2, f"setsid sleep {mark} & (trap '' TERM; sleep {mark}; true) & exit 0")
        self.assertEqual(result.returncode, 0)
        self.assertEqual(processes_with(mark), [])

    def test_children_of_before_the_job_survive_it(self):
        script = f"sleep 1000 >/dev/null & echo $!; exec {TUTTI} run -n 2 sh -c 'sleep 1000 & exit 0'"
        result = subprocess.run(["sh", "-c", script], stdout=subprocess.PIPE, text=True, timeout=DEADLINE_S)
        self.assertEqual(result.returncode, 0)
        os.kill(int(result.stdout), signal.SIGKILL) # fails where there is no such process

    def test_ranks_die_with_the_launcher(self):
        mark = f"{90000 + os.getpid()}.75"
        with self.start(f"echo ready; exec sleep {mark}", 3) as job:
            job.kill()
            job.wait()
            until = time.monotonic() + DEADLINE_S
            while processes_with(mark) and time.monotonic() < until:
                time.sleep(0.01)
            self.assertEqual(processes_with(mark), [])


if __name__ == "__main__":
    unittest.main()
