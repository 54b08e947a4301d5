"""The `tutti` command: where it is, and what it says."""

import functools
import os
import pathlib
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Iterator, Sequence

from tutti._tutti import ArgumentError, PlanError, UnsupportedError, __version__

_MISUSED = 2  # exit code: arguments are wrong
_HERE = pathlib.Path(__file__).parent


def _places() -> Iterator[pathlib.Path]:
    yield _HERE / "bin/tutti"  # of a wheel
    for prefix in _HERE.parents[2:4]:  # of a build folder; of a system's packages
        yield prefix / "bin/tutti"
    yield pathlib.Path(sysconfig.get_path("scripts")) / "tutti"
    found = shutil.which("tutti")
    if found:
        yield pathlib.Path(found)


def _run(path: pathlib.Path, arguments: Sequence[str]) -> "subprocess.CompletedProcess[str]":
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}  # it is no MPI program
    return subprocess.run([path, *arguments], capture_output=True, text=True, check=False, env=environment)


@functools.cache
def path() -> pathlib.Path:
    """Of the command that belongs to this package: one of another version might decide otherwise."""
    others = []
    for place in _places():
        if not os.access(place, os.X_OK) or _is_script(place):
            continue
        said = _run(place, ["--version"]).stdout.strip()
        if said == f"tutti {__version__}":
            return place
        others.append(f"{place} is {said or 'no tutti'}")
    raise UnsupportedError(
        f"the command tutti {__version__} is needed and was not found"
        f" ({'; '.join(others) or 'no folder of PATH has a tutti'}); install it (Debian: tutti), or add its folder to PATH"
    )


def _is_script(place: pathlib.Path) -> bool:
    """A wheel's script of this name starts the command through this package."""
    with open(place, "rb") as file:
        return file.read(2) == b"#!"


def ask(*arguments: object) -> str:
    """What the command prints. Its refusals are exceptions."""
    done = _run(path(), [str(argument) for argument in arguments])
    if done.returncode == 0:
        return done.stdout
    text = done.stderr.strip().removeprefix(f"tutti {arguments[0]}: ")
    raise (ArgumentError if done.returncode == _MISUSED else PlanError)(text)


def main() -> None:
    """python3 -m tutti ..., and the script of a wheel: becomes the command."""
    command = path()
    os.execv(command, [str(command), *sys.argv[1:]])
