"""A profile that bench/scale_profile.py has written chooses as the first one does, at lengths so many times as long."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

BIN = os.environ["TUTTI_BIN"]
SCALE = pathlib.Path(__file__).resolve().parents[2] / "bench" / "scale_profile.py"
PROFILE = {"name": "mine", "rules": [
    {"collective": "allreduce", "bytes": "1K", "params": "linear"},
    {"collective": "allreduce", "bytes": "6000", "params": "ring"},
    {"collective": ["allreduce", "scan"], "bytes": "L2/1", "params": "chain"},
    {"collective": "allreduce", "params": "binomial"},
]}


def chosen(profile, length):
    """What a call of so many bytes runs with."""
    environment = {**os.environ, "TUTTI_PROFILE": str(profile), "TUTTI_WISDOM": "off"}
    command = [f"{BIN}/tutti", "explain", "allreduce", str(length), "-n", "2", "--brief", "--json"]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, env=environment).stdout)["runs"]


def expect(profile, choices):
    for length, params in choices:
        found = chosen(profile, length)
        if found != params:
            sys.exit(f"{profile.name}: {length} bytes run with {found}, not with {params}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        mine = pathlib.Path(folder, "mine.json")
        mine.write_text(json.dumps(PROFILE))
        for factor, name in (("4", "longer.json"), ("1/4", "shorter.json")):
            subprocess.run([SCALE, factor, f"{folder}/{name}", "--profile", mine], check=True)
        cases = (("mine.json", 1), ("longer.json", 4), ("shorter.json", 0.25))
        for name, factor in cases:
            short, middle = int(1024 * factor), int(6000 * factor)
            expect(pathlib.Path(folder, name), ((short, "linear"), (short + 4, "ring"), (middle, "ring"),
                                                (middle + 4, "chain"), (2**31, "binomial")))
        refused = subprocess.run([SCALE, "-1", f"{folder}/none.json"], stderr=subprocess.PIPE, text=True)
        if refused.returncode == 0 or "-1 is not above 0" not in refused.stderr:
            sys.exit(f"a factor of -1: {refused.stderr}")


main()
