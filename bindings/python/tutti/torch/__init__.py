"""tutti.torch: a backend for torch.distributed on CPUs.

    import torch.distributed, tutti.torch
    torch.distributed.init_process_group("tutti")
"""

import atexit
import inspect

import torch
import torch.distributed as dist

from tutti.torch import _torch
from tutti.torch._hooks import bfloat16_compress_hook

__all__ = ["bfloat16_compress_hook"]

if _torch.torch_version.split(".")[:2] != torch.__version__.split("+")[0].split(".")[:2]:
    raise ImportError(
        f"tutti.torch was built for torch {_torch.torch_version}, and this is torch {torch.__version__}: build it again"
    )

_named = {"devices": ["cpu"]} if "devices" in inspect.signature(dist.Backend.register_backend).parameters else {}
dist.Backend.register_backend("tutti", _torch.create, **_named)
atexit.register(_torch.drain)
