"""Arrays for results, in the library that the input is of."""

import sys


def result(array, in_each, out_each, ranks, name):
    """An array like `array`; where a call divides it among ranks, or gathers it from them, the first axis is theirs."""
    shape = getattr(array, "shape", None)
    if shape is None:
        raise TypeError(f"{name} makes no result like a {type(array).__name__}: pass out=")
    shape = tuple(shape)
    if in_each:
        if not shape or shape[0] != ranks:
            raise ValueError(
                f"{name}: data has the shape {shape}; its first axis must be the {ranks} ranks', or pass out="
            )
        shape = shape[1:]
    if out_each:
        shape = (ranks, *shape)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch.empty(shape, dtype=array.dtype)
    numpy = sys.modules.get("numpy")
    if numpy is None or not isinstance(array, numpy.ndarray | numpy.generic):
        raise TypeError(f"{name} makes no result like a {type(array).__name__}: pass out=")
    return numpy.empty(shape, dtype=array.dtype)
