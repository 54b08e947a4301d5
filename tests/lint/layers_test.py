"""Includes keep to src/LAYERS: which folder may include which, and only the folder's own header x/x.h.

A subfolder shows one header of the same kind (transport/shm/shm.h), and rows of a table, in a .inc that includes nothing.
Tests beside the code may include any folder, and what they share (testing.h) tests/support. What is outside the library, bindings/ and
examples/, includes <tutti/...> and files that stand beside it.

Inside a folder no includes go in a circle. A file there is its name without .c and .h: x.c and x.h are one. The folder's
own header is a file of its own: it is for others, or it is used inside and then includes nothing of its folder. Rows are a
part of who includes them.
"""
import os
import pathlib
import re
import sys
import tempfile

ROOT = pathlib.Path(os.environ.get("TUTTI_SOURCE", pathlib.Path(__file__).parents[2]))
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def sources(folder):
    return sorted(path for path in (ROOT / folder).rglob("*") if path.suffix in (".c", ".h", ".inc", ".cpp", ".hpp"))


def read_layers():
    lines = (ROOT / "src/LAYERS").read_text().splitlines()
    rows = (line.split(":") for line in lines if line and not line.startswith("#"))
    return {folder: {"base", *allowed.split()} - {folder} for folder, allowed in rows}


def is_rows(path):
    """Of a table, for whoever goes through it."""
    return path.suffix == ".inc" and not INCLUDE.search(path.read_text())


def is_front_header(include):
    """x/x.h, or x/y/y.h, or rows"""
    path = pathlib.PurePath(include)
    return path.parent.name == path.stem or is_rows(ROOT / "src" / include)


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
                if problem and not (path.name == "testing.h" and include.startswith("support/")):
                    yield f'{path.relative_to(ROOT)}: "{include}" {problem}'
        for unused in sorted(layers[folder] - used):
            yield f"src/LAYERS: {folder} may include {unused}, and does not"


def outside_problems():
    for path in sources("bindings") + sources("examples"):
        for include in INCLUDE.findall(path.read_text()):
            if not (path.parent / include).is_file():
                yield f'{path.relative_to(ROOT)}: "{include}" is neither <tutti/...> nor beside this file'


# ---- circles inside a folder ----

def node_of(path, folder):
    """The file that a source belongs to: its name without .c and .h, or the folder's own header."""
    return path.name if path.name == f"{folder.name}.h" else path.stem


def included_beside(path, include, tops):
    """The file of the same folder that the include names, or None."""
    found = next((top / include for top in (path.parent, *tops) if (top / include).is_file()), None)
    return found.resolve() if found and found.resolve().parent == path.parent.resolve() else None


def graph_of(folder, tops):
    """For each file of the folder, the files of the folder that it includes."""
    graph = {}
    for path in sorted(folder.iterdir()):
        if path.suffix not in (".c", ".h", ".inc", ".cpp", ".hpp") or path.stem.endswith("_test"):
            continue
        targets = graph.setdefault(node_of(path, folder), set())
        for include in INCLUDE.findall(path.read_text()):
            target = included_beside(path, include, tops)
            if target and node_of(target, folder) != node_of(path, folder) and not is_rows(target):
                targets.add(node_of(target, folder))
    return graph


def circle_in(graph):
    """Files that include each other in a circle, the first one again at the end; None where there is none."""
    done = set()

    def walk(node, way):
        if node in way:
            return [*way[way.index(node):], node]
        if node in done:
            return None
        found = next(filter(None, (walk(target, [*way, node]) for target in sorted(graph.get(node, ())))), None)
        done.add(node)
        return found

    return next(filter(None, (walk(node, []) for node in sorted(graph))), None)


def folder_problems(folder, tops):
    graph = graph_of(folder, tops)
    own = f"{folder.name}.h"
    users = sorted(node for node, targets in graph.items() if own in targets)
    if graph.get(own) and users:
        yield f"{own} is used by {', '.join(users)} beside it, and includes {', '.join(sorted(graph[own]))}"
    circle = circle_in(graph)
    if circle:
        yield f"a circle of includes: {' -> '.join(circle)}"


def circle_problems():
    tops = [ROOT / "src", ROOT]
    for top in ("src", "bindings", "bench", "tools", "examples"):
        for folder in sorted([ROOT / top, *(path for path in (ROOT / top).rglob("*") if path.is_dir())]):
            name = str(folder.relative_to(ROOT))
            yield from (f"{name}: {problem}" for problem in folder_problems(folder, tops))


def check_itself():
    """Of small made-up folders: which have a circle."""
    tame = {"x.h": ['base/base.h'], "x.c": ['f/x.h', 'f/y.h'], "y.h": ['f/f.h'], "y.c": ['f/y.h'], "f.h": []}
    cases = [(tame, False), ({**tame, "y.c": ['f/y.h', 'f/x.h']}, True), ({**tame, "f.h": ['f/x.h']}, True),
             ({"f.h": ['f/x.h'], "x.h": [], "x.c": ['f/x.h']}, False),
             ({"f.h": [], "f.c": ['f/f.h', 'f/x.h'], "x.h": ['f/f.h']}, False),
             ({"f.h": ['f/x.inc'], "x.inc": [], "y.c": ['f/f.h']}, False),
             ({"f.h": ['f/x.inc'], "x.inc": ['f/y.h'], "y.h": [], "y.c": ['f/f.h']}, True),
             ({"a.h": ['b.h'], "b.h": [], "b.c": ['b.h', 'c.h'], "c.c": ['a.h'], "c.h": []}, True)]
    for files, expected in cases:
        with tempfile.TemporaryDirectory() as made:
            folder = pathlib.Path(made) / "f"
            folder.mkdir()
            for name, includes in files.items():
                (folder / name).write_text("".join(f'#include "{include}"\n' for include in includes))
            found = list(folder_problems(folder, [pathlib.Path(made)]))
            assert bool(found) == expected, f"{files}: found {found}"


check_itself()
problems = [*library_problems(), *outside_problems(), *circle_problems()]
print("\n".join(problems) or "every include is allowed")
sys.exit(bool(problems))
