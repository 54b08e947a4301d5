#!/usr/bin/env python3
"""Writes a profile whose lengths in bytes are FACTOR times as long; parts of a cache stay, since each machine has its own.

    bench/scale_profile.py 4 x4.json
    bench/scale_profile.py 1/4 quarter.json
    tutti tune --regret regret.jsonl --profile x4.json --profile quarter.json

`tutti tune --regret` then says what it costs that the lengths were found on another machine (docs/tuning.md)."""
import argparse
import fractions
import json
import pathlib

SHIPPED = pathlib.Path(__file__).resolve().parent.parent / "profiles" / "default.json"
UNITS = {"": 1, "K": 2**10, "M": 2**20, "G": 2**30}


def scaled(text, factor):
    """ "16K" by 4 is "65536"; "L2/3" stays."""
    if text.startswith("L2"):
        return text
    digits = text.rstrip("".join(UNITS))
    return str(max(1, int(int(digits) * UNITS[text[len(digits):]] * factor)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("factor", type=fractions.Fraction, help="such as 4 or 1/4")
    parser.add_argument("file", type=pathlib.Path, help="to be written")
    parser.add_argument("--profile", type=pathlib.Path, default=SHIPPED, help="default: the shipped one")
    given = parser.parse_args()
    if given.factor <= 0:
        parser.error(f"{given.factor} is not above 0")
    profile = json.loads(given.profile.read_text())
    for rule in profile["rules"]:
        if "bytes" in rule:
            rule["bytes"] = scaled(rule["bytes"], given.factor)
    profile["name"] = f"{profile.get('name', given.profile.name)}, lengths x {given.factor}"
    given.file.write_text(json.dumps(profile, indent=1) + "\n")


if __name__ == "__main__":
    main()
