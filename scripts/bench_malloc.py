#!/usr/bin/env python3
"""bench_malloc.py [LIBTUTTI-HEAP.SO [PAIRS]] - the shared heap's malloc beside the C library's: CPU time of malloc, a
touch of each page, and free, of blocks that are touched for the first time and of those that are used again. Processes
of both in turns; prints medians in microseconds, and the median of the pairs' ratios, heap / C library (below 1: the
heap is faster)."""
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent.parent
HEAP = sys.argv[1] if len(sys.argv) > 1 else str(HERE / "build/lib/tutti/libtutti-heap.so")
PAIRS = int(sys.argv[2]) if len(sys.argv) > 2 else 15
# bytes, blocks that live at once, times
CASES = [(64 << 10, 1, 200000), (64 << 10, 16, 200), (256 << 10, 1, 50000), (1 << 20, 1, 5000),
         (16 << 20, 1, 200), (64 << 20, 1, 10)]


def microseconds(program, case, **more):
    done = subprocess.run([program, *map(str, case)], env={**os.environ, **more}, check=True, stdout=subprocess.PIPE)
    return [float(word) / 1e3 for word in done.stdout.split()]


def main():
    with tempfile.TemporaryDirectory() as work:
        program = f"{work}/malloc"
        subprocess.run(["cc", "-O2", "-fno-builtin", "-o", program, HERE / "bench/malloc/malloc.c"], check=True)
        print("     bytes  blocks            C library       heap   ratio")
        for case in CASES:
            pairs = []
            for pair in range(PAIRS):
                libc = lambda: microseconds(program, case)
                heap = lambda: microseconds(program, case, TUTTI_HEAP="on", LD_PRELOAD=HEAP)
                pairs.append((libc(), heap()) if pair % 2 == 0 else (heap(), libc())[::-1])
            for what, which in (("first", 0), ("again", 1)):
                libc, heap = ([side[which] for side in sides] for sides in zip(*pairs))
                ratio = statistics.median(h / c for c, h in zip(libc, heap))
                print(f"{case[0]:>10} {case[1]:>7}   {what} {statistics.median(libc):>13.3f} {statistics.median(heap):>10.3f}"
                      f" {ratio:>7.2f}", flush=True)


if __name__ == "__main__":
    main()
