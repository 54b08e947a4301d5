"""Recipes say the version that tutti.h says. Spack's is run with stand-ins for Spack's own functions: it compiles, its
variants are there where they are asked for, and the options that it sets are options of CMakeLists.txt. A wheel is configured
anew each time, and has no tutti.torch where its Python would not load it."""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import types

ROOT = pathlib.Path(os.environ.get("TUTTI_SOURCE", pathlib.Path(__file__).parents[2]))
VERSION = re.search(r'#define TUTTI_VERSION "(.*)"', (ROOT / "include/tutti/tutti.h").read_text())[1]
said = {"version": [], "variant": []}
problems = []


def check(good, problem):
    if not good:
        problems.append(problem)


class CMakePackage:
    run_tests = True

    def define(self, name, value):
        return name

    def define_from_variant(self, name, variant):
        check(variant in said["variant"], f"there is no variant {variant}")
        return name


def directive(name):
    return lambda first, *more, **named: said.setdefault(name, []).append(first)


def run_spack():
    spack = types.ModuleType("spack.package")
    for name in ("license", "version", "variant", "depends_on", "generator"):
        setattr(spack, name, directive(name))
    spack.CMakePackage = CMakePackage
    sys.modules.update({"spack": types.ModuleType("spack"), "spack.package": spack})
    path = ROOT / "packaging/spack/package.py"
    space = {}
    exec(compile(path.read_text(), path, "exec"), space)
    check(said["version"] == [VERSION], f"Spack: version {said['version']}, tutti.h says {VERSION}")
    options = re.findall(r"^(?:set|option)\((\w+)", (ROOT / "CMakeLists.txt").read_text(), re.MULTILINE)
    for option in space["Tutti"]().cmake_args():
        check(option in options, f"Spack sets {option}, which CMakeLists.txt does not know")


def wheel_command(suffix):
    """By which a Python whose extensions end so configures a wheel."""
    import tutti_wheel

    commands = []
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "CMakeCache.txt").touch()
        tutti_wheel.BUILD = pathlib.Path(folder)
        tutti_wheel.sysconfig = types.SimpleNamespace(get_config_var=lambda name: suffix)
        tutti_wheel._run = lambda *command: commands.append(command)
        tutti_wheel._install()
        check(not os.listdir(folder), "Wheel: what an earlier one was told still holds")
    return commands[0]


def run_wheel():
    sys.dont_write_bytecode = True
    sys.path.insert(0, str(ROOT / "packaging/python"))
    os.environ["TUTTI_CMAKE"] = "-DONE=1 '-DTWO=2 words'"
    asks = "import sysconfig; print(sysconfig.get_config_var('EXT_SUFFIX'))"
    system = subprocess.run(["/usr/bin/python3", "-c", asks], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    check(wheel_command(system)[-2:] == ("-DONE=1", "-DTWO=2 words"), "Wheel: TUTTI_CMAKE is not passed on")
    check(wheel_command(".another.so")[-1] == "-DTUTTI_TORCH=OFF", "Wheel: tutti.torch for another Python")


run_spack()
run_wheel()
newest = re.match(r"tutti \((.*?)\)", (ROOT / "debian/changelog").read_text())[1]
check(newest == VERSION, f"debian/changelog begins with {newest}, tutti.h says {VERSION}")
print("\n".join(problems) or "recipes are in order")
sys.exit(bool(problems))
