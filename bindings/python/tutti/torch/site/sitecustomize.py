"""First on the path of programs that `python -m tutti.torch` starts, and of what they start: has tutti.torch patch torch when
it is imported. A sitecustomize that the program has besides is run as always."""

import importlib.abc
import importlib.machinery
import importlib.util
import os
import sys
import types
from typing import Any

_here = os.path.dirname(os.path.abspath(__file__))
_folder = os.path.dirname(os.path.dirname(os.path.dirname(_here)))  # that has tutti
_MODULE = "torch.distributed.distributed_c10d"


class _Tutti(importlib.abc.MetaPathFinder):
    """Finds tutti here, and nothing else: what lies beside it may be all packages of a system, of other versions than the
    program's or for another Python."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        return importlib.machinery.PathFinder.find_spec(name, [_folder]) if name == "tutti" else None


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name: str, path: Any, target: Any = None) -> Any:
        if name != _MODULE:
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or spec.loader is None:
            return spec
        loader: Any = spec.loader
        run = loader.exec_module

        def exec_module(module: types.ModuleType) -> None:
            run(module)
            from tutti import _as_gloo

            _as_gloo.patch(module)

        loader.exec_module = exec_module
        return spec


sys.meta_path.insert(0, _Tutti())
if os.environ.get("TUTTI_TORCH") != "off":
    sys.meta_path.insert(0, _Finder())

_path = list(sys.path)
sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or ".") != _here]
try:
    _mine = sys.modules.pop("sitecustomize", None)
    try:
        import sitecustomize  # noqa: F401  the program's own
    except ImportError:
        pass
    finally:
        if _mine is not None:
            sys.modules.setdefault("sitecustomize", _mine)
finally:
    sys.path[:] = _path
