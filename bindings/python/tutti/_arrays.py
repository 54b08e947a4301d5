"""Arrays for results, in the library that the input is of."""

import sys
from typing import Any

from tutti._tutti import UnsupportedError


def result(array: Any, in_parts: int, out_parts: int, name: str) -> Any:
    """An array like `array`; where a call divides it into parts, or gathers parts, the first axis is theirs; -1: it does not."""
    numpy = sys.modules.get("numpy")
    if in_parts < 0 and out_parts < 0 and numpy is not None and type(array) is numpy.ndarray:
        return numpy.empty(array.shape, array.dtype)  # what most calls need, in half the time
    shape = getattr(array, "shape", None)
    if shape is None:
        raise TypeError(f"{name} makes no result like a {type(array).__name__}: pass out=")
    shape = tuple(shape)
    if in_parts >= 0:
        if not shape or shape[0] != in_parts:
            raise ValueError(
                f"{name}: data has the shape {shape}; its first axis must be that of {in_parts} parts, or pass out="
            )
        shape = shape[1:]
    if out_parts >= 0:
        shape = (out_parts, *shape)
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(array, torch.Tensor):
        return torch.empty(shape, dtype=array.dtype)
    if numpy is None or not isinstance(array, numpy.ndarray | numpy.generic):
        raise TypeError(f"{name} makes no result like a {type(array).__name__}: pass out=")
    return numpy.empty(shape, dtype=array.dtype)


def numpy_table() -> Any:
    """What numpy exports to C, which has had handlers of memory since 1.22."""
    import numpy

    if numpy.lib.NumpyVersion(numpy.__version__) < "1.22.0":
        raise UnsupportedError(f"numpy {numpy.__version__} has no handlers of memory, which 1.22 and later have")
    try:
        from numpy._core import _multiarray_umath
    except ImportError:  # before numpy 2
        from numpy.core import _multiarray_umath
    return _multiarray_umath._ARRAY_API
