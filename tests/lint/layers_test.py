"""Includes keep to src/LAYERS: which folder may include which, and only the folder's own header x/x.h.

A subfolder shows one header of the same kind (transport/shm/shm.h). Tests beside the code may include any folder. What
is outside the library, bindings/ and examples/, includes <tutti/...> and files that stand beside it.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("TUTTI_SOURCE", pathlib.Path(__file__).parents[2]))
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def sources(folder):
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".inc", ".cpp", ".hpp"))


def read_layers():
    lines = (ROOT / "src/LAYERS").read_text().splitlines()
    rows = (line.split(":") for line in lines if line and not line.startswith("#"))
    return {folder: {"base", *allowed.split()} - {folder} for folder, allowed in rows}


def is_front_header(include):
    """x/x.h, or x/y/y.h"""
    path = pathlib.PurePath(include)
    return path.parent.name == path.stem


def layer_problem(layers, folder, include):
    target = pathlib.PurePath(include).parts[0]
    if "/" not in include or target not in layers:
        return "is not written as folder/file.h"
    if target == folder:
        return None
    if target not in layers[folder]:
        return f"is not allowed: {folder} may include {' '.join(sorted(layers[folder]))}"
    return None if is_front_header(include) else f"is internal to {target}"


def library_problems():
    layers = read_layers()
    for folder in sorted(path.name for path in (ROOT / "src").iterdir() if path.is_dir()):
        if folder not in layers:
            yield f"src/{folder}: has no line in src/LAYERS"
            continue
        used = {"base"}
        for path in sources(f"src/{folder}"):
            if path.stem.endswith("_test"):
                continue
            for include in INCLUDE.findall(path.read_text()):
                used.add(pathlib.PurePath(include).parts[0])
                problem = layer_problem(layers, folder, include)
                if problem:
                    yield f'{path.relative_to(ROOT)}: "{include}" {problem}'
        for unused in sorted(layers[folder] - used):
            yield f"src/LAYERS: {folder} may include {unused}, and does not"


def outside_problems():
    for path in sources("bindings") + sources("examples"):
        for include in INCLUDE.findall(path.read_text()):
            if not (path.parent / include).is_file():
                yield f'{path.relative_to(ROOT)}: "{include}" is neither <tutti/...> nor beside this file'


problems = [*library_problems(), *outside_problems()]
print("\n".join(problems) or "every include is allowed")
sys.exit(bool(problems))
