"""What can be said in several ways in C is said in one way here.

Each row is a way that is not ours: what it looks like in a source without comments, and what to write instead. A file may
be excepted from a row, with the reason.
"""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("TUTTI_SOURCE", pathlib.Path(__file__).parents[2]))
FOLDERS = ["include", "src", "bindings", "tools", "bench", "examples", "tests"]
KINDS = (".c", ".h", ".inc", ".cpp", ".hpp")
COMMENT_OR_TEXT = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"', re.DOTALL)

STATUS = r"(?:\w+(?:->|\.))*status\b"
ASKED = "|".join((rf"!\s*{STATUS}(?!\s*=)", rf"\b(?:if|while)\s*\(\s*{STATUS}\s*(?:\)|&&|\|\||\?)",
                  rf"(?:&&|\|\|)\s*{STATUS}\s*(?:\)|;|&&|\|\||\?)", rf"(?:[(,;]|[^=!<>]=|\breturn)\s*{STATUS}\s*(?:&&|\|\||\?)"))

IDIOMS = [
    (re.compile(r'"[^"\n]*%[-+ #0-9.*]*ll[dioux]', re.IGNORECASE), "print and scan 64 bits by PRId64, SCNd64 ...", {}),
    (re.compile(r"\(\s*(unsigned\s+)?long long(\s+int)?\s*\)"), "cast to int64_t or uint64_t", {}),
    (re.compile(r"\b__(atomic|sync)_\w+|\b__ATOMIC_\w+"), "use <stdatomic.h>; tt_atomic_word for a plain word", {}),
    (re.compile(r"\batomic_(load|store|exchange|fetch_\w+|compare_exchange_\w+)(?<!_explicit)\s*\("),
     "name the order of the access: ..._explicit", {}),
    (re.compile(ASKED), "compare a status: == TUTTI_OK, != TUTTI_OK", {}),
]


def bare(text):
    """Without comments; lines keep their numbers."""
    return COMMENT_OR_TEXT.sub(lambda found: found.group() if found.group()[0] == '"' else
                               " " + "\n" * found.group().count("\n"), text)


def others(text, name=""):
    """Line and advice of each way that is not ours."""
    code = bare(text)
    for pattern, advice, excepted in IDIOMS:
        if name not in excepted:
            yield from ((code.count("\n", 0, found.start()) + 1, advice) for found in pattern.finditer(code))


def sources():
    return sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in KINDS)


def check_itself():
    """Of small made-up sources: the lines where something is found."""
    for code, lines in (('/* %lld\n */ f("%" PRId64, a);\nf("%-12lld", a);\nf("b//%s %016llx", a);\n', [3, 4]),
                        ("a = (long long)b;\nlong long c = strtoll(d);\n(unsigned  long long)e;\n", [1, 3]),
                        ("__atomic_load_n(a, b);\natomic_load_explicit(&c, d);\natomic_fetch_add(&e, 1);\n", [1, 3]),
                        ("if (status)\n  g(status);\nwhile (!a->status && b)\nc = status ? 1 : 2;\nreturn status;\n", [1, 3, 4]),
                        ("if (d && e.status)\nfor (; status && d;)\nif (status != TUTTI_OK)\nf(status) || !d\n", [1, 2])):
        found = sorted(line for line, _ in others(code))
        assert found == lines, (code, found)


check_itself()
for _, _, excepted in IDIOMS:
    for name in excepted:
        assert (ROOT / name).exists(), name
problems = [f"{path.relative_to(ROOT)}:{line}: {advice}" for path in sources()
            for line, advice in others(path.read_text(), str(path.relative_to(ROOT)))]
print("\n".join(problems) or f"{len(sources())} files keep to {len(IDIOMS)} idioms")
sys.exit(bool(problems))
