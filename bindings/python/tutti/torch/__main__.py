"""python -m tutti.torch PROGRAM ARGUMENTS: a program that says "gloo" runs on tutti, unchanged.

With -m MODULE instead of PROGRAM, as python has it: python -m tutti.torch -m torch.distributed.run ... What the program
starts inherits it. TUTTI_TORCH=off: nothing is changed.
"""

import os
import sys


def main():
    arguments = sys.argv[1:]
    if not arguments or arguments[0] in ("-h", "--help"):
        print(__doc__.strip())
        sys.exit(0 if arguments else 2)
    if arguments[0].startswith("-") and arguments[0] != "-m":
        sys.exit(f"python -m tutti.torch: '{arguments[0]}' is no option; a program or -m MODULE comes first")
    package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    first = [os.path.join(os.path.dirname(os.path.abspath(__file__)), "site"), package]
    rest = [entry for entry in os.environ.get("PYTHONPATH", "").split(os.pathsep) if entry and entry not in first]
    os.environ["PYTHONPATH"] = os.pathsep.join(first + rest)
    os.execv(sys.executable, [sys.executable, *arguments])


main()
