"""Nothing grows without end: a file has at most 400 lines, a function 40, a struct 25 members.

A function's lines are those from the one with its name to its closing brace; tables of rows are none. A struct's members
are what it has itself: a struct inside it is one. Tests are not looked at, wherever they stand. ALLOWED has what is still
larger: a row there that nothing needs is a problem, too.
"""
import ast
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("TUTTI_SOURCE", pathlib.Path(__file__).parents[2]))
FOLDERS = ("src", "tools", "bench", "bindings", "examples", "include")
FILE_LINES, FUNCTION_LINES, STRUCT_MEMBERS = 400, 40, 25

ALLOWED = {
    # A table of functions that users fill in: it grows at its end alone, and may not be cut up.
    "include/tutti/transport.h: struct tutti_transport_ops",
}

# ---- C ----

COMMENT_TEXT_OR_DIRECTIVE = re.compile(
    r"""/\*.*?\*/ | //[^\n]* | "(?:\\.|[^"\\\n])*" | '(?:\\.|[^'\\\n])*' | ^[ \t]*\#(?:\\\n|[^\n])*""",
    re.DOTALL | re.MULTILINE | re.VERBOSE)
EXTERN = re.compile(r'extern\s+""\s*\{')
ATTRIBUTE = re.compile(r"__attribute__\s*\(\(.*?\)\)", re.DOTALL)
STRUCT = re.compile(r"\b(?:struct|union)\b\s*(\w*)\s*\{")
NAME_BEFORE = re.compile(r"([A-Za-z_]\w*)\s*$")
CLOSING = {"{": "}", "(": ")", "[": "]"}


def bare(text):
    """The code alone, on the lines where it was: no comments, texts or directives."""
    def blank(match):
        found = match.group(0)
        return ('""' if found[0] == '"' else "0" if found[0] == "'" else " ") + "\n" * found.count("\n")
    return EXTERN.sub(" ", COMMENT_TEXT_OR_DIRECTIVE.sub(blank, text))


def end_of(code, at):
    """Where the bracket that opens there is closed."""
    depth = 0
    for place in range(at, len(code)):
        depth += (code[place] == code[at]) - (code[place] == CLOSING[code[at]])
        if depth == 0:
            return place
    return len(code) - 1


def parameters_of(head):
    """Where the parameters begin, of what stands before a function's body; None: it is no function."""
    depth = 0
    if not head.rstrip().endswith(")"):
        return None
    for place in range(len(head) - 1, -1, -1):
        depth += (head[place] == ")") - (head[place] == "(")
        if head[place] == "(" and depth == 0:
            return place
    return None


def functions_of(code):
    """Name, first line and lines of each function."""
    at = 0
    while (begin := code.find("{", at)) >= 0:
        end, before = end_of(code, begin), max(code.rfind(";", 0, begin), at - 1)
        head = ATTRIBUTE.sub(lambda match: re.sub(r"[^\n]", " ", match.group(0)), code[before + 1:begin])
        parameters = parameters_of(head)
        name = NAME_BEFORE.search(head[:parameters]) if parameters is not None else None
        if name:
            place = before + 1 + name.start()
            yield name.group(1), code.count("\n", 0, place) + 1, code.count("\n", place, end) + 1
        at = end + 1


def members_of(body):
    """How many members a struct's body declares: what stands in brackets counts as nothing."""
    kept, at = "", 0
    while at < len(body):
        if body[at] in CLOSING:
            at = end_of(body, at)
        else:
            kept += body[at]
        at += 1
    return sum(len(declaration.split(",")) for declaration in kept.split(";") if declaration.strip())


def structs_of(code):
    """Name, line and number of members of each struct."""
    for found in STRUCT.finditer(code):
        end = end_of(code, found.end() - 1)
        name = found.group(1) or re.match(r"\s*(\w*)", code[end + 1:]).group(1) or "without a name"
        yield name, code.count("\n", 0, found.start()) + 1, members_of(code[found.end():end])


# ---- what is too large ----


def too_large_in_c(text):
    code = bare(text)
    for name, line, lines in functions_of(code):
        if lines > FUNCTION_LINES:
            yield f"function {name}", line, f"{lines} lines, at most {FUNCTION_LINES}"
    for name, line, members in structs_of(code):
        if members > STRUCT_MEMBERS:
            yield f"struct {name}", line, f"{members} members, at most {STRUCT_MEMBERS}"


def too_large_in_python(text):
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef) and node.end_lineno - node.lineno >= FUNCTION_LINES:
            yield f"function {node.name}", node.lineno, f"{node.end_lineno - node.lineno + 1} lines"


def is_test(path):
    return path.stem.endswith(("_test", "testing"))


def too_large():
    """What, where and why, for all that is larger than it may be."""
    for path in sorted(path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()):
        if is_test(path) or path.suffix not in (".c", ".h", ".inc", ".cpp", ".hpp", ".py", ".sh"):
            continue
        name, text = str(path.relative_to(ROOT)), path.read_text()
        if text.count("\n") > FILE_LINES:
            yield name, name, f"{text.count(chr(10))} lines, at most {FILE_LINES}"
        look = {".py": too_large_in_python, ".sh": lambda text: ()}.get(path.suffix, too_large_in_c)
        for what, line, why in look(text):
            yield f"{name}: {what}", f"{name}:{line}: {what}", why


def check_itself():
    """Of small made-up sources: how long functions are, how many members structs have."""
    code = bare('static int x[] = {1, 2};\nint f(int a) /* { */\n{\n  if (a) {\n    return 1;\n  }\n  return 0;\n}\n'
                'ROWS(a)\nROWS(b)\nvoid g(void) __attribute__((x));\nint\nh(char c) { return c == \'{\' ? "}"[0] : 1; }\n'
                'extern "C" {\nstruct s { int a, b[2]; struct { int c, d; } in; int (*call)(int, int); };\n}\n')
    assert list(functions_of(code)) == [("f", 2, 7), ("h", 13, 1)], list(functions_of(code))
    assert [(name, members) for name, _, members in structs_of(code)] == [("s", 4), ("in", 2)]


check_itself()
found = list(too_large())
problems = [f"{where}: {why}" for what, where, why in found if what not in ALLOWED]
problems += [f"tests/lint/sizes_test.py: '{row}' is not too large any more" for row in
             sorted(ALLOWED - {what for what, _, _ in found})]
print("\n".join(problems) or f"no file over {FILE_LINES} lines, function over {FUNCTION_LINES}, struct over "
      f"{STRUCT_MEMBERS} members but {len(ALLOWED)} that are allowed")
sys.exit(bool(problems))
