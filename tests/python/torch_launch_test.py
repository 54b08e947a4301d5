#!/usr/bin/env python3
"""python -m tutti.torch: programs that say "gloo" run on tutti, as one process or several, and what they start, too."""
import os
import pathlib
import pty
import subprocess
import sys
import tempfile

PACKAGE = pathlib.Path(os.environ["TUTTI_BIN"]).parent / "lib/python"
PYTHON = "/usr/bin/python3"  # the system's, whose torch it was built for
SERVED = "ran on tutti instead of gloo"
PROGRAM = r"""
import datetime, os, sys, time, torch, torch.distributed as dist
limit = 1800
if "disagree" in sys.argv:
    from tutti import _as_gloo
    _as_gloo.NOTICE_SECONDS = 1
    limit = 8
    if os.environ["RANK"] == "1":
        dist.distributed_c10d.ProcessGroupGloo = torch._C._distributed_c10d.ProcessGroupGloo
dist.init_process_group("gloo", timeout=datetime.timedelta(seconds=limit))
size = dist.get_world_size()
dist.monitored_barrier() if "monitored" in sys.argv else None
total = torch.ones(3)
dist.all_reduce(total)
assert total[0] == size, total
said = ["rank", str(dist.get_rank()), "of", str(size), "local", os.environ["LOCAL_RANK"], *sys.argv[1:]]
os.write(1, (" ".join(said) + "\n").encode())  # whole, beside the other ranks'
if "fails" in sys.argv and dist.get_rank() == 1:
    sys.exit(5)
if "fails" in sys.argv:
    time.sleep(200)  # it is ended before
"""
STARTS = """
import sys, torch, torch.distributed as dist, torch.multiprocessing as mp
def work(rank, path):
    dist.init_process_group("gloo", init_method="file://" + path, rank=rank, world_size=2)
    total = torch.ones(3)
    dist.all_reduce(total)
    assert total[0] == 2
    print("all right", flush=True)
if __name__ == "__main__":
    mp.start_processes(work, (sys.argv[2],), nprocs=2, start_method=sys.argv[1])
"""
CHOOSES = """
import sys, time, torch, torch.distributed as dist
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from tutti import _as_gloo
def choose(stores, limit, late=0, can=True):
    def of(rank):
        time.sleep(rank * late)
        return _as_gloo._agree(stores[rank], rank, 2, can or rank == 0, timedelta(seconds=limit))
    with ThreadPoolExecutor(2) as threads:
        return list(threads.map(of, range(2)))
hashed = dist.HashStore()
more = {} if torch.__version__ < "2" else {"use_libuv": False}  # Debian's has none, but asks for it
server = dist.TCPStore("localhost", 0, is_master=True, wait_for_workers=False, **more)
client = dist.TCPStore("localhost", server.port, wait_for_workers=False, **more)
for stores in ([hashed, hashed], [dist.FileStore(sys.argv[1], 2) for _ in range(2)],
               [dist.PrefixStore("of", store) for store in (server, client)]):
    assert choose(stores, 60) == [True, True]
    assert choose(stores, 0.2, late=0.5) == [False, False]
    assert choose(stores, 60, can=False) == [False, False]
    assert choose(stores, 60, late=0.2) == [True, True]
"""
MEETS = """
import os, socket, sys, torch.distributed as dist
before = dict(os.environ)
import tutti.torch
from tutti import _join
assert dict(os.environ) == before
kind = {"use_libuv": False} if _join.lacks_libuv(dist) else {}
port = _join.own_port()
try:
    socket.socket().bind(("", port))
    raise AssertionError(f"port {port} is anybody's")
except OSError:
    dist.TCPStore("localhost", port, 1, True, wait_for_workers=False, **kind)
class Store:
    def __init__(self, *arguments, use_libuv=True, **named):
        if use_libuv:
            raise RuntimeError("use_libuv was requested but PyTorch was build without libuv support")
    values = {}
    def add(self, key, more):
        self.values[key] = self.values.get(key, 0) + more
        return self.values[key]
    def set(self, key, value):
        self.values[key] = value.encode()
    def get(self, key):
        return self.values[key]
    def delete_key(self, key):
        return self.values.pop(key, None) is not None
dist.TCPStore = Store
assert _join.torchrun()[:2] == (1, 2)
def tries(rank):
    os.environ["RANK"] = str(rank)
    boot = _join.torchrun()[2]
    try:
        return boot(b"of rank %d " % rank)
    except KeyError as missing:
        return str(missing)[-3:-1]
Store.values.clear()
assert tries(0) == "/1" and Store.values == {"tutti/0/turn/0": 0} # a late rank finds nothing of a try that has failed
Store.values["tutti/0/1/1/1"] = b"of rank 1 ".hex().encode()
assert tries(0) == b"of rank 0 of rank 1 "
assert tries(0) == "/1" # another context takes nothing of the first one's
meets = sys.modules["torch.distributed.rendezvous"]
meets.TCPStore = lambda *arguments, **named: None
for method in ("env://", "tcp://localhost:1"):
    os.environ.pop("USE_LIBUV", None)
    assert next(meets.rendezvous(method, 1, 2)) == (None, 1, 2)
    assert os.environ["USE_LIBUV"] == "0"
for name in ("RANK", "WORLD_SIZE"):
    os.environ.pop(name)
for launcher, says, own, rank in (("first", "5", {}, 5), ("first", "6", {}, 5), ("of a rank", "0", {}, 0),
                                  ("third", "4", {"RANK": "2"}, 2)):
    os.environ.update(own, TUTTI_BOOT=launcher)
    _join._as_torchrun = lambda: {"RANK": says, "WORLD_SIZE": "7"}
    assert next(meets.rendezvous("env://")) == (None, rank, 7)
"""

STARTS_BADLY = r"""
import argparse, os, signal, subprocess, sys
from tutti import _launch
real, started = subprocess.Popen, []
options = argparse.Namespace(nproc_per_node=2, nnodes=1, node_rank=0, master_port=1, master_addr="")
sleeps = [sys.executable, "-c", "import time; time.sleep(100)"]
def start(command, env):
    if env["RANK"] == "1":
        at_second()
    started.append(real(command, env=env))
    return started[-1]
_launch.subprocess.Popen = start
def at_second():
    raise OSError("there are no more processes")
try:
    _launch.start(sleeps, options)
    raise AssertionError("it has started")
except OSError:
    assert started.pop().wait(20) == -signal.SIGTERM
def at_second():
    os.kill(os.getpid(), signal.SIGTERM)
assert _launch.run(sleeps, options) == 128 + signal.SIGTERM and len(started) == 2
signal.signal(signal.SIGHUP, signal.SIG_IGN)
def at_second():
    os.kill(os.getpid(), signal.SIGHUP)
asks = "import signal, sys; sys.exit(signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN)"
assert _launch.run([sys.executable, "-c", asks], options) == 0
def at_second():
    pass
reads, writes = os.pipe()
os.close(reads)
os.dup2(writes, 2)
ends = "import os, signal, time; os.environ['RANK'] == '1' and os.kill(os.getpid(), signal.SIGRTMIN + 1); time.sleep(100)"
assert _launch.run([sys.executable, "-c", ends], options) == 128 + signal.SIGRTMIN + 1
assert started[-2].returncode == -signal.SIGTERM
"""
INTERRUPTED = r"""
import time
times = 0
while True:
    try:
        print("ready", flush=True)
        time.sleep(1 if times else 100)
        break
    except KeyboardInterrupt:
        times += 1
print("interrupted", times, flush=True)
"""

if not list(PACKAGE.glob("tutti/torch/_torch*.so")):
    print("skipped: the backend for PyTorch is not built here")
    sys.exit(77)


def run(*arguments, code=0, under=(), cwd=None, **environment):
    own = {name: value for name, value in os.environ.items() if name not in ("RANK", "WORLD_SIZE", "USE_LIBUV")}
    result = subprocess.run([*under, PYTHON, "-m", "tutti.torch", *map(str, arguments)], text=True, capture_output=True, timeout=300,
                            check=False, cwd=cwd, env={**own, "PYTHONPATH": str(PACKAGE), **environment})
    assert result.returncode == code, f"{arguments}: exit code {result.returncode}\n{result.stdout}{result.stderr}"
    return result


def test_launch(folder):
    done = run("--standalone", "--nproc-per-node", 2, folder / "program.py", "a", "--b")
    assert sorted(done.stdout.split("\n")) == ["", "rank 0 of 2 local 0 a --b", "rank 1 of 2 local 1 a --b"], done.stdout
    assert done.stderr.count(SERVED) == 1, done.stderr
    done = run("--nproc_per_node=3", "-m", "program", "monitored", PYTHONPATH=f"{PACKAGE}:{folder}")
    assert done.stdout.count("of 3") == 3 and SERVED in done.stderr, done.stdout + done.stderr


def test_other_packages(folder):
    """Of the folder that has tutti, the program sees tutti alone."""
    there = folder / "there"
    there.mkdir()
    (there / "tutti").symlink_to(PACKAGE / "tutti")
    (there / "colorsys.py").write_text("raise ImportError(\"not the program's\")\n")
    (folder / "imports.py").write_text("import colorsys, program\n")
    done = run("--nproc-per-node=2", folder / "imports.py", cwd=there, PYTHONPATH="")
    assert done.stdout.count("of 2") == 2 and SERVED in done.stderr, done.stdout + done.stderr


def test_launcher(folder):
    """It says who the ranks are. torch_examples_test.py has those of MPI."""
    done = run(folder / "program.py", under=[os.environ["TUTTI_BIN"] + "/tutti", "run", "-n", "2"])
    assert sorted(done.stdout.split("\n")) == ["", "rank 0 of 2 local 0", "rank 1 of 2 local 1"], done.stdout
    assert done.stderr.count(SERVED) == 1, done.stderr


def test_two_nodes(folder):
    common = ["--nnodes=2", "--nproc-per-node=1", "--master-addr=localhost", "--master-port=29471"]
    own = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    other = subprocess.Popen([PYTHON, "-m", "tutti.torch", *common, "--node-rank=1", folder / "program.py"], env=own,
                             text=True, stdout=subprocess.PIPE)
    first = run(*common, "--node-rank=0", folder / "program.py")
    assert first.stdout == "rank 0 of 2 local 0\n", first.stdout
    assert other.communicate(timeout=100)[0] == "rank 1 of 2 local 0\n" and other.returncode == 0


def test_a_failure_ends_all(folder):
    done = run("--nproc-per-node=2", folder / "program.py", "fails", code=5)
    assert "rank 1 ended with exit code 5" in done.stderr, done.stderr


def test_cut_off(folder):
    """Starting is: by a process that cannot be started, and by a signal, but not by one that is ignored. A rank that
    fails ends the others, also where nobody reads about that."""
    own = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    subprocess.run([PYTHON, "-c", STARTS_BADLY], timeout=100, check=True, env=own)


def test_terminal(folder):
    """Its Ctrl-C reaches a program once."""
    (folder / "interrupted.py").write_text(INTERRUPTED)
    process, terminal = pty.fork()
    if process == 0:
        os.environ["PYTHONPATH"] = str(PACKAGE)
        os.execv(PYTHON, [PYTHON, "-m", "tutti.torch", "--nproc-per-node=1", str(folder / "interrupted.py")])
    said = b""
    while b"interrupted" not in said or not said.endswith(b"\n"):
        said += os.read(terminal, 1000)
        if said == b"ready\r\n":
            os.write(terminal, b"\x03")
    os.waitpid(process, 0)
    assert b"interrupted 1" in said, said


def test_off(folder):
    done = run("--nproc-per-node=2", folder / "program.py", TUTTI_TORCH="off")
    assert done.stdout.count("of 2") == 2 and SERVED not in done.stderr, done.stderr


def test_unknown_torch_stays_on_gloo(folder):
    """The program's sitecustomize has it that another one was tried."""
    (folder / "other").mkdir()
    (folder / "other/sitecustomize.py").write_text("from tutti import _as_gloo\n_as_gloo.TRIED = ('0.9',)\n")
    done = run("--nproc-per-node=2", folder / "program.py", PYTHONPATH=f"{PACKAGE}:{folder}/other")
    assert done.stderr.count("was not tried (0.9 were)") == 1 and SERVED not in done.stderr, done.stderr


def test_all_agree(folder):
    done = run("--nproc-per-node=2", folder / "program.py", "disagree")
    assert done.stderr.count("waiting for ranks to say whether they have tutti") == 1, done.stderr
    assert done.stderr.count("this group stays on gloo") == 1 and SERVED not in done.stderr, done.stderr


def test_all_choose_the_same(folder):
    own = {**os.environ, "PYTHONPATH": str(PACKAGE)}
    subprocess.run([PYTHON, "-c", CHOOSES, folder / "store"], timeout=100, check=True, env=own)


def test_meeting(folder):
    """Torch without libuv is Debian 13's; any other one uses the store that it prefers. A rank may start a launcher.
    Its port is its own until the store listens there."""
    own = {name: value for name, value in os.environ.items() if name not in ("TUTTI_BOOT", "USE_LIBUV")}
    subprocess.run([PYTHON, "-c", MEETS], timeout=100, check=True, cwd=folder, env={
        **own, "PYTHONPATH": str(PACKAGE), "RANK": "1", "WORLD_SIZE": "2", "MASTER_ADDR": "localhost", "MASTER_PORT": "1"})


def test_children(folder):
    for method, debug in (("spawn", "DETAIL"), ("fork", "OFF")):
        done = run(folder / "starts.py", method, folder / f"store-{method}", TORCH_DISTRIBUTED_DEBUG=debug)
        assert done.stdout.count("all right") == 2, done.stdout + done.stderr
        assert done.stderr.count(SERVED) == 1, f"{method}: {done.stderr}"


def test_arguments(folder):
    for arguments, text in ((["--nproc-per-node", "0", "x"], "--nproc-per-node is 0"), (["--nnodes=2", "x"], "--master-addr"),
                            (["--nnodes=2", "--node-rank=2", "x"], "--node-rank is 2"), (["--what", "x"], "--what"),
                            (["--nnodes=2", "--standalone", "x"], "--standalone is for one machine"), ([], "program")):
        done = run(*arguments, code=2)
        assert text in done.stderr + done.stdout, done.stderr


def main():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "program.py").write_text(PROGRAM)
        (folder / "starts.py").write_text(STARTS)
        for test in (test_launch, test_other_packages, test_launcher, test_two_nodes, test_a_failure_ends_all, test_cut_off,
                     test_terminal, test_off, test_unknown_torch_stays_on_gloo, test_all_agree, test_all_choose_the_same, test_meeting,
                     test_children, test_arguments):
            test(folder)
            print(f"{test.__name__}: passed", flush=True)


main()
