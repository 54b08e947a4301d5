"""Builds the wheel: pip's side of pyproject.toml (PEP 517), with CMake and Python's standard library.

A wheel has the extension, libtutti, the command with its profiles, what `tutti mpirun` preloads, and tutti.torch, as far
as this machine has what they are built with. Nothing is fetched, so it works offline; it is for this kind of system.
"""

import base64
import hashlib
import os
import pathlib
import re
import shlex
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).parents[2]
BUILD = ROOT / "build/wheel"
SYSTEM = "/usr/bin/python3"  # for which cmake/Python.cmake compiles tutti.torch
SHIPPED = ("tutti/**/*.py", "tutti/**/*.pyi", "tutti/py.typed", "tutti/*.so", "tutti/torch/*.so", "tutti/bin/tutti",
           "tutti/lib/libtutti.so.[0-9]", "tutti/lib/libtutti-*.so", "tutti/lib/tutti/*.so", "tutti/libexec/tutti/*",
           "tutti/share/tutti/*")  # fmt: skip
EXECUTABLE = 0o100755 << 16
PLAIN = 0o100644 << 16


def _project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    header = (ROOT / "include/tutti/tutti.h").read_text()
    return project | {"version": re.search(r'#define TUTTI_VERSION "(.*)"', header)[1]}


def _run(*command):
    print(*command, flush=True)
    code = subprocess.run(command, check=False, stdout=sys.stderr).returncode
    if code != 0:
        sys.exit(f"{command[0]} ended with {code}; docs/python.md says which packages a wheel is built with")


def _is_for_torch():
    """Whether this Python loads tutti.torch."""
    if not os.path.exists(SYSTEM):
        return False
    asks = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
    said = subprocess.run([SYSTEM, "-I", "-c", asks], check=True, stdout=subprocess.PIPE, text=True).stdout
    return said.strip() == sysconfig.get_config_var("EXT_SUFFIX")


def _settings():
    settings = ["-DCMAKE_BUILD_TYPE=Release", "-DTUTTI_WHEEL=ON", "-DTUTTI_TESTS=OFF"]
    settings += shlex.split(os.environ.get("TUTTI_CMAKE", ""))
    if _is_for_torch():
        return settings
    print(f"no tutti.torch: this Python does not load what is compiled for {SYSTEM}", flush=True)
    return [*settings, "-DTUTTI_TORCH=OFF"]


def _install():
    """Configures, builds and installs; the folder that becomes the wheel."""
    stage = BUILD / "stage"
    (BUILD / "CMakeCache.txt").unlink(missing_ok=True)  # else what an earlier run found, or was told, would hold
    _run("cmake", "-S", str(ROOT), "-B", str(BUILD), "-G", "Ninja", *_settings())
    _run("cmake", "--build", str(BUILD))
    _run("cmake", "-E", "rm", "-rf", str(stage))
    _run("cmake", "-E", "env", f"DESTDIR={stage}", "cmake", "--install", str(BUILD), "--prefix", "/")
    return stage


def _tag(stage):
    """The extension is of any later Python; that of tutti.torch of this one."""
    own = f"cp{sys.version_info.major}{sys.version_info.minor}"
    kind = f"{own}-{own}" if list(stage.glob("tutti/torch/*.so")) else "cp311-abi3"
    return f"{kind}-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"


def _metadata(project):
    extras = "".join(
        f"Provides-Extra: {extra}\n" + "".join(f'Requires-Dist: {needed}; extra == "{extra}"\n' for needed in all_needed)
        for extra, all_needed in project["optional-dependencies"].items()
    )
    return (
        f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\nSummary: {project['description']}\n"
        f"License: {project['license']['text']}\nRequires-Python: {project['requires-python']}\n{extras}"
        f"Description-Content-Type: text/markdown\n\n{(ROOT / project['readme']).read_text()}"
    )


def _described(project, tag):
    """What a wheel says of itself: name of the file -> content."""
    scripts = "".join(f"{name} = {where}\n" for name, where in project["scripts"].items())
    return {
        "METADATA": _metadata(project),
        "WHEEL": f"Wheel-Version: 1.0\nGenerator: tutti\nRoot-Is-Purelib: false\nTag: {tag}\n",
        "entry_points.txt": f"[console_scripts]\n{scripts}",
        "LICENSE": (ROOT / "LICENSE").read_text(),
    }


class _Wheel:
    """A zip file with a list of what is in it, and its hashes."""

    def __init__(self, path, info):
        self.zip = zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED)
        self.record = f"{info}/RECORD"
        self.rows = []

    def add(self, name, content, mode=PLAIN):
        entry = zipfile.ZipInfo(name)
        entry.external_attr = mode
        entry.compress_type = zipfile.ZIP_DEFLATED
        self.zip.writestr(entry, content)
        if name != self.record:
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            self.rows.append(f"{name},sha256={digest},{len(content)}\n")

    def close(self):
        self.add(self.record, "".join([*self.rows, f"{self.record},,\n"]).encode())
        self.zip.close()


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project, stage = _project(), _install()
    info = f"{project['name']}-{project['version']}.dist-info"
    name = f"{project['name']}-{project['version']}-{_tag(stage)}.whl"
    wheel = _Wheel(pathlib.Path(wheel_directory) / name, info)
    for path in sorted({path for pattern in SHIPPED for path in stage.glob(pattern) if path.is_file()}):
        mode = EXECUTABLE if os.access(path, os.X_OK) else PLAIN
        wheel.add(str(path.relative_to(stage)), path.read_bytes(), mode)
    for file, text in _described(project, _tag(stage)).items():
        wheel.add(f"{info}/{file}", text.encode())
    wheel.close()
    return name


def prepare_metadata_for_build_wheel(metadata_directory, config_settings=None):
    """Without building: pip asks this first."""
    project = _project()
    info = pathlib.Path(metadata_directory) / f"{project['name']}-{project['version']}.dist-info"
    info.mkdir()
    for file, text in _described(project, "py3-none-any").items():
        (info / file).write_text(text)
    return info.name


def build_sdist(sdist_directory, config_settings=None):
    """What git has of the tree."""
    project = _project()
    whole = f"{project['name']}-{project['version']}"
    listed = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, stdout=subprocess.PIPE, text=True).stdout
    with tarfile.open(pathlib.Path(sdist_directory) / f"{whole}.tar.gz", "w:gz") as tar:
        for file in listed.split("\0")[:-1]:
            tar.add(ROOT / file, f"{whole}/{file}")
        text = BUILD.parent / "PKG-INFO"
        text.parent.mkdir(exist_ok=True)
        text.write_text(_metadata(project))
        tar.add(text, f"{whole}/PKG-INFO")
    return f"{whole}.tar.gz"
