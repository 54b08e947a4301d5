"""spawns.py RANKS PROGRAM ARGUMENTS: a program that does not know of it, in each of several processes by mp.spawn."""

import os
import runpy
import socket
import sys

import torch.multiprocessing


def work(rank, size, port, command):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(size), MASTER_ADDR="localhost", MASTER_PORT=port)
    sys.argv = command
    runpy.run_path(command[0], run_name="__main__")


if __name__ == "__main__":
    with socket.socket() as server:
        server.bind(("localhost", 0))
        port = str(server.getsockname()[1])
    ranks = int(sys.argv[1])
    torch.multiprocessing.spawn(work, (ranks, port, sys.argv[2:]), nprocs=ranks)
