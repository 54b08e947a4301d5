#!/usr/bin/env python3
"""Writes the manual page tutti(1), to stdout, from what the commands say of themselves with --help.

    gen_manual.py build/bin/tutti > docs/man/tutti.1

In a help text, a line "  -x, --word VALUE    meaning" begins an option, and deeper lines go on with it. Other lines that
are indented are shown as they are, unless they go on with a sentence; the rest is paragraphs.
"""
import re
import subprocess
import sys

OPTION = re.compile(r"^ {2,8}(-\S.*?)  +(\S.*)$")
ALONE = re.compile(r"^ {2,8}(-\S.*)$")  # its meaning is in the next line
COMMAND = re.compile(r"^  (\w+) +(\S.*)$")


def help_of(*words):
    return subprocess.run([sys.argv[1], *words], check=True, stdout=subprocess.PIPE, text=True).stdout


def text(line):
    """As text: nothing in it is a command of roff."""
    line = line.replace("\\", "\\e").replace("-", "\\-").replace("`", "\\(ga")
    return "\\&" + line if line[:1] in (".", "'") else line


def body(lines):
    out, before = [], ""
    for line in lines:
        option = OPTION.match(line)
        alone = ALONE.match(line)
        indented = line.startswith(" ")
        if alone and not option:
            out += [".TP", f"\\fB{text(alone[1])}\\fR"]
        elif option:
            out += [".TP", f"\\fB{text(option[1])}\\fR", text(option[2])]
        elif not line:
            out += [".PP"] if out else []
        elif not indented or (before and not before.endswith(":") and out[-1] != ".fi"):
            out.append(text(line.strip()))
        elif out[-1:] == [".fi"]:
            out.insert(-1, text(line))
        else:
            out += [".nf", text(line), ".fi"]
        before = line
    return out


def section(name):
    usage, *lines = help_of(name, "--help").splitlines()
    return [f".SH {name.upper()}", f".B {text(usage.removeprefix('usage: '))}", ".PP", *body(lines)]


def main():
    title, _, listed, *_ = help_of("help").split("\n\n")
    commands = [COMMAND.match(line).groups() for line in listed.splitlines()]
    out = ['.TH TUTTI 1 "" "tutti" ""', ".SH NAME", text(re.sub(r"^tutti \S+ -", "tutti -", title)), ".SH SYNOPSIS",
           r".B tutti", r"\fICOMMAND\fR [\fIARGUMENTS\fR]", ".SH COMMANDS"]
    for name, about in commands:
        out += [".TP", f"\\fB{name}\\fR", text(about)]
    for name, _ in commands:
        out += section(name)
    out += [".SH ENVIRONMENT", text("`tutti info` shows every variable of the library with its value, its default and its meaning. Those of "
                                  "`tutti mpirun` are in docs/mpi.md, TUTTI_TORCH is in docs/python.md.")]
    print("\n".join(out))


main()
