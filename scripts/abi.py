#!/usr/bin/env python3
"""Prints what programs that are built with libtutti.so rely on: exported symbols with their versions, the declarations of
all public functions, and size, offsets and values of all public structs and enumerations.

    abi.py LIBRARY            to stdout; tests/lint/abi_test.sh compares it with tests/lint/abi.txt
    abi.py LIBRARY --write    writes tests/lint/abi.txt and debian/libtutti0.symbols; says what old programs would miss

Names, types and members come from the headers' text, which is regular; numbers from a program that the compiler makes.
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).parents[1]
RECORD = ROOT / "tests/lint/abi.txt"
SYMBOLS = ROOT / "debian/libtutti0.symbols"
LINE = re.compile(r'^# \d+ "(.*?)"')
INCLUDES = "".join(f"#include <tutti/{header.name}>\n" for header in sorted((ROOT / "include/tutti").glob("*.h")))


def headers_text():
    """What the public headers declare, without comments, macros and other headers' text."""
    done = subprocess.run(["cc", "-E", f"-I{ROOT}/include", "-xc", "-"], input=INCLUDES, text=True, check=True,
                          stdout=subprocess.PIPE)
    ours, kept = False, []
    for line in done.stdout.splitlines():
        marker = LINE.match(line)
        if marker:
            ours = "/include/tutti/" in marker[1]
        elif ours:
            kept.append(line)
    return re.sub(r"__attribute__\(\(\S+\)\) ", "", " ".join(" ".join(kept).split()))


def declarations(text):
    """Splits at the semicolons that are in no braces."""
    depth, begin = 0, 0
    for at, letter in enumerate(text):
        depth += (letter == "{") - (letter == "}")
        if letter == ";" and depth == 0:
            yield text[begin:at].strip()
            begin = at + 1


def members(body):
    for field in body.split(";"):
        pointer = re.search(r"\(\*(\w+)\)", field)
        if pointer:
            yield pointer[1], field.strip()
        elif field.strip():
            first, *more = field.split(",")
            base = re.match(r"(.*?)\s*(\**)\s*(\w+)$", first.strip())
            for part in [f"{base[2]}{base[3]}", *more]:
                name = re.search(r"(\w+)$", part.strip())[1]
                yield name, f"{base[1]} {part.strip()}"


def printf(text, *values):
    return f'  printf("{text}\\n"{"".join(f", (long)({value})" for value in values)});'


def measures(kind, body, name):
    """Statements that print one struct or enumeration."""
    yield printf(f"{kind} {name}: %ld bytes", f"sizeof({name})")
    if kind == "enum":
        for value in body.split(","):
            word = value.split("=")[0].strip()
            if word:
                yield printf(f"  {word} = %ld", word)
    else:
        for member, text in members(body):
            yield printf(f"  %ld + %ld: {text}", f"offsetof({name}, {member})", f"sizeof((({name} *)0)->{member})")


def layout(text):
    """The declarations in order: functions and opaque types as they are, structs and enumerations measured."""
    lines = []
    for declaration in declarations(text):
        typedef = re.match(r"typedef (struct|enum) \w+ \{(.*)\} (\w+)$", declaration)
        if typedef:
            lines += measures(typedef[1], typedef[2], typedef[3])
        else:
            lines.append(printf(declaration.replace("%", "%%").replace('"', '\\"')))
    return lines


def run(lines):
    code = INCLUDES + "#include <stdio.h>\nint main(void) {\n" + "\n".join(lines) + "\n}\n"
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(folder, "layout")
        subprocess.run(["cc", f"-I{ROOT}/include", "-xc", "-", "-o", program], input=code, text=True, check=True)
        return subprocess.run([program], check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def exported(library):
    done = subprocess.run(["nm", "-D", "--defined-only", "--with-symbol-versions", library], check=True, text=True,
                          stdout=subprocess.PIPE)
    names = [line.split()[2].replace("@@", "@") for line in done.stdout.splitlines()]
    return sorted(name for name in names if not name.startswith("TUTTI_"))


def version():
    return re.search(r'#define TUTTI_VERSION "(.*)"', (ROOT / "include/tutti/tutti.h").read_text())[1]


def write_symbols(names):
    """Debian's list: since which version each symbol is there. Those that it has keep theirs."""
    old = SYMBOLS.read_text() if SYMBOLS.exists() else ""
    since = dict(re.findall(r"^ (\S+@\S+) (\S+)$", old, re.MULTILINE))
    nodes = sorted({name.split("@")[1] for name in names})
    names = [f"{node}@{node}" for node in nodes] + names
    SYMBOLS.write_text("libtutti.so.0 libtutti0 #MINVER#\n" + "".join(f" {name} {since.get(name, version())}\n" for name in names))


def main():
    names = exported(sys.argv[1])
    lines = [*names, *run(layout(headers_text()))]
    if sys.argv[2:] != ["--write"]:
        print("\n".join(lines))
        return
    old = RECORD.read_text().splitlines() if RECORD.exists() else []
    for line in [line for line in old if line not in lines]:
        print(f"gone or changed: {line}")
    RECORD.write_text("\n".join(lines) + "\n")
    write_symbols(names)


main()
