"""What calls leave behind, for python_leaks.py and torch_leaks.py: slopes over many calls of each kind."""

import ctypes
import gc
import os
import sys
import threading

CACHES = 1 << 18  # bytes; up to 64 dropped requests are kept until the next sweep, and threads keep what was freed
SPARE = 4  # threads that have run callbacks stay
_process = ctypes.CDLL(None)
_heap = getattr(_process, "__sanitizer_get_current_allocated_bytes", None)
if _heap is not None:
    _heap.restype = ctypes.c_size_t


class _Mallinfo2(ctypes.Structure):
    _fields_ = [(name, ctypes.c_size_t) for name in
                ("arena", "ordblks", "smblks", "hblks", "hblkhd", "usmblks", "fsmblks", "uordblks", "fordblks", "keepcost")]  # fmt: skip


_process.mallinfo2.restype = _Mallinfo2


def _allocated():
    if _heap is not None:
        return _heap()
    info = _process.mallinfo2()
    return info.uordblks + info.hblkhd


def _open_now():
    return len(os.listdir("/proc/self/fd")), len(os.listdir("/proc/self/task")), threading.active_count()


def repeat(call):
    def run(count):
        for _ in range(count):
            call()

    return run


class Leaks:
    """counted: an argument of calls, whose references are counted. settle: returns when nothing is under way."""

    def __init__(self, counted, settle=lambda: None):
        self.counted, self.settle, self.rows, self.begin = counted, settle, [], None

    def measure(self, name, count, run):
        """Of each thing, per call, behind the first tenth, or 100."""
        run(max(min(count, 100), count // 10))
        if self.begin is None:
            self.now_open()
        before = self._now()
        run(count)
        self.rows.append((name, count, [(b - a) / count for a, b in zip(before, self._now(), strict=True)]))

    def now_open(self):
        """What is open by now may be: threads and descriptors of the library."""
        self.begin = tuple(map(max, self.begin or _open_now(), _open_now()))

    def _now(self):
        self.settle()
        gc.collect()
        return _allocated(), sys.getallocatedblocks(), sys.getrefcount(self.counted)

    def end(self, rank, prints):
        """Returns the exit code."""
        left = [b - a for a, b in zip(self.begin, _open_now(), strict=True)]
        if prints:
            print(f"{'per call':<26}{'calls':>8}{'bytes':>10}{'blocks':>10}{'references':>12}")
            for name, count, (bytes_, blocks, references) in self.rows:
                print(f"{name:<26}{count:>8}{bytes_:>10.3f}{blocks:>10.4f}{references:>12.5f}")
            for what, more in zip(("descriptors", "threads", "Python's threads"), left, strict=True):
                print(f"{what}: {more:+d}")
        grown = [name for name, count, (bytes_, _, references) in self.rows
                 if bytes_ >= 1 and bytes_ * count > CACHES or references >= 0.01]  # fmt: skip
        if grown:
            print(f"rank {rank}: grows with each call: {', '.join(grown)}")
        return 1 if grown or max(left) > SPARE else 0
