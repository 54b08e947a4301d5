"""Every public name has a docstring with an example, and all examples do what they show: as rank 0 of two sees them.

The other rank runs the same statements; what it prints is its own."""

import doctest
import inspect
import sys

import numpy

import tutti

comm = tutti.world()
HARD = {"OutOfMemoryError", "PeerError", "RefusedError", "SystemCallError", "TimeoutError"}  # to bring about in an example
DATA = {"Explanation": ("candidates", "opinions", "text")}  # dataclass fields, which their class describes
parser = doctest.DocTestParser()


class Anything(doctest.OutputChecker):
    def check_output(self, want, got, optionflags):
        return True


def public(name, owner):
    """Of a class: its own public members, with their names."""
    yield name, owner
    if inspect.isclass(owner) and not issubclass(owner, BaseException):
        for member in sorted(vars(owner)):
            if not member.startswith("_") and member not in DATA.get(owner.__name__, ()):
                yield f"{name}.{member}", getattr(owner, member)


runner = doctest.DocTestRunner(checker=None if comm.rank == 0 else Anything(), optionflags=doctest.ELLIPSIS)
count = 0
bare = []
for name in tutti.__all__:
    for whole, value in public(f"tutti.{name}", getattr(tutti, name)):
        text = inspect.getdoc(value) or ""
        test = parser.get_doctest(text, {"numpy": numpy, "tutti": tutti, "comm": comm}, whole, None, 0)
        assert text, f"{whole} has no docstring"
        if not test.examples and name not in HARD:
            bare.append(whole)
        runner.run(test)
        count += len(test.examples)
assert not bare, f"without an example: {bare}"
assert runner.failures == 0, f"{runner.failures} examples of {count} fail on rank {comm.rank}"
if comm.rank == 0:
    print(f"{count} examples", file=sys.stderr)
print(f"rank {comm.rank} of {comm.size}: all right")
