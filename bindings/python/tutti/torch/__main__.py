"""python -m tutti.torch [OPTIONS] PROGRAM ARGUMENTS: a program that says "gloo" runs on tutti, unchanged.

With -m MODULE instead of PROGRAM, as python has it. What the program starts inherits it. TUTTI_TORCH=off: nothing is
changed. With one of these options the program is started several times, as by torchrun:

  --nproc-per-node N   processes on this machine (1)
  --nnodes N           machines (1): start the same on each
  --node-rank N        which of them this is (0)
  --master-addr HOST   of machine 0 (localhost)
  --master-port PORT   there (29500; with one machine, one that is free)
  --standalone         one machine

The first process that fails ends the others, and its exit code is that of the command.
"""

import argparse
import os
import sys
from collections.abc import Sequence

OPTIONS = ("nproc-per-node", "nnodes", "node-rank", "master-addr", "master-port")


def parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, list[str]]:
    """The options, and python's arguments behind them."""
    parser = argparse.ArgumentParser("python -m tutti.torch", add_help=False, allow_abbrev=False)
    for name in OPTIONS:
        kind: type[str] | type[int] = str if name == "master-addr" else int
        parser.add_argument(f"--{name}", f"--{name.replace('-', '_')}", type=kind, dest=name.replace("-", "_"))
    parser.add_argument("--standalone", action="store_true")
    parser.add_argument("-m", dest="is_module", action="store_true")
    parser.add_argument("program")
    parser.add_argument("rest", nargs=argparse.REMAINDER)
    options = parser.parse_args(arguments)
    for name, least in (("nproc_per_node", 1), ("nnodes", 1), ("node_rank", 0)):
        value = getattr(options, name)
        if value is not None and value < least:
            parser.error(f"--{name.replace('_', '-')} is {value}; the least is {least}")
    nodes = options.nnodes or 1
    if nodes > 1 and options.standalone:
        parser.error(f"--nnodes is {nodes}; --standalone is for one machine")
    if (options.node_rank or 0) >= nodes:
        parser.error(f"--node-rank is {options.node_rank}; --nnodes is {nodes}")
    if nodes > 1 and not options.master_addr:
        parser.error(f"--nnodes is {nodes}: --master-addr says where machine 0 is")
    return options, [*(["-m"] if options.is_module else []), options.program, *options.rest]


def inherit() -> None:
    """What is started from here on has the patch of torch, and finds tutti: site/sitecustomize.py."""
    site = os.path.join(os.path.dirname(os.path.abspath(__file__)), "site")
    rest = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry != site]
    os.environ["PYTHONPATH"] = os.pathsep.join([site, *rest])


def main() -> None:
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        sys.exit(0 if arguments else 2)
    options, command = parse(arguments)
    inherit()
    if options.standalone or any(getattr(options, name.replace("-", "_")) is not None for name in OPTIONS):
        from tutti import _launch

        sys.exit(_launch.run([sys.executable, *command], options))
    os.execv(sys.executable, [sys.executable, *command])


main()
