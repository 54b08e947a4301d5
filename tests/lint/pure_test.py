"""What compiles plans cannot know which collective it compiles.

The sources of src/lower and src/ir, without comments and without the texts of presets (which name stages), contain no
collective's name: neither in a word such as tt_allreduce_x nor in a string.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("TUTTI_SOURCE", pathlib.Path(__file__).parents[2]))
FOLDERS = ["src/lower", "src/ir"]
PRESETS = re.compile(r"presets\[\] = \{.*?\};", re.DOTALL)
COMMENT = re.compile(r"/\*.*?\*/|//[^\n]*", re.DOTALL)
NAMES = ["all_?reduce", "broadcast", "bcast", "all_?gather", "reduce_?scatter", "barrier", "all_?to_?all", "scatter",
         "gather", r"(ex)?scan(?![a-z])", "collective"]
NAME = re.compile("|".join(name.replace("_?", "[-_.]?") for name in NAMES), re.IGNORECASE)


def code_of(path):
    """The text with comments, and the table of presets, blanked; lines keep their numbers."""
    text = COMMENT.sub(blank, path.read_text())
    return PRESETS.sub(blank, text) if path.name == "preset.c" else text


def blank(found):
    return "\n" * found.group().count("\n")


def problems():
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).glob("*.[ch]")):
            if path.stem.endswith("_test"):
                continue
            for number, line in enumerate(code_of(path).splitlines(), 1):
                for found in NAME.finditer(line):
                    yield f"{path.relative_to(ROOT)}:{number}: '{found.group()}' in: {line.strip()}"


found = list(problems())
print("\n".join(found) or "src/lower and src/ir name no collective")
sys.exit(bool(found))
