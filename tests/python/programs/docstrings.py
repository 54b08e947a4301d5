"""Every public name has a docstring with an example, and all examples do what they show: as rank 0 of two sees them.

The other rank runs the same statements; what it prints is its own."""

import doctest
import inspect
import sys

DATA = {"Explanation": ("candidates", "opinions", "text")}  # dataclass fields, which their class describes


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


def check(package, rank, named):
    """Examples use the names of `named`. How many there are."""
    parser, count, bare = doctest.DocTestParser(), 0, []
    runner = doctest.DocTestRunner(checker=None if rank == 0 else Anything(), optionflags=doctest.ELLIPSIS)
    for name in package.__all__:
        for whole, value in public(f"{package.__name__}.{name}", getattr(package, name)):
            test = parser.get_doctest(inspect.getdoc(value) or "", dict(named), whole, None, 0)
            if not test.examples:
                bare.append(whole)
            runner.run(test)
            count += len(test.examples)
    assert not bare, f"without an example: {bare}"
    assert runner.failures == 0, f"{runner.failures} examples of {count} fail on rank {rank}"
    return count


if __name__ == "__main__":
    import numpy

    import tutti

    comm = tutti.world()
    count = check(tutti, comm.rank, {"numpy": numpy, "tutti": tutti, "comm": comm})
    if comm.rank == 0:
        print(f"{count} examples", file=sys.stderr)
    print(f"rank {comm.rank} of {comm.size}: all right")
