"""tutti.torch: a backend for torch.distributed on CPUs.

    import torch.distributed, tutti.torch
    torch.distributed.init_process_group("tutti")
"""

import sys

if sys.argv[:1] == ["-m"] and "tutti.torch" in sys.orig_argv:
    pass  # it is python -m tutti.torch, which starts programs with any torch
else:
    from tutti.torch._backend import (
        bfloat16_compress_hook,
        enable_fully_shard,
        monitored_barrier,
        share_tensors,
        split_group,
    )

    __all__ = ["bfloat16_compress_hook", "enable_fully_shard", "monitored_barrier", "share_tensors", "split_group"]
