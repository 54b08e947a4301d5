"""What mypy has to refuse: a line without an error fails the test, since its `type: ignore` is then one too many."""

import numpy as np

import tutti

comm = tutti.world()
comm.allreduce(np.ones(3), op="most")  # type: ignore
comm.allreduce()  # type: ignore
comm.rank = 1  # type: ignore
text: str = comm.allreduce(np.ones(3))  # type: ignore
comm.split("color")  # type: ignore
comm.split(0).size  # type: ignore
comm.explain(3)  # type: ignore
tutti.plan("allreduce")  # type: ignore
comm.barrier_start().wait().size  # type: ignore
