"""python3 -m tutti run -n 4 python3 program.py: the `tutti` command that belongs to this package."""

from tutti._command import main

main()
