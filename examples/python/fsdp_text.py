"""A small transformer learns to write Python's own documentation, letter by letter. Its parameters lie in shards: each
process has a part of every matrix. For torch 2.6.

    python3 -m tutti.torch --nproc-per-node 4 fsdp_text.py
"""

import pydoc_data.topics
import sys

import torch
import torch.distributed as dist
from torch.distributed.fsdp import fully_shard

import tutti.torch

STEPS, WIDTH, LENGTH, BATCH = int(sys.argv[1]) if len(sys.argv) > 1 else 100, 64, 64, 16

torch.set_num_threads(1)
torch.manual_seed(1)
tutti.torch.enable_fully_shard()
dist.init_process_group("tutti")
rank, ranks = dist.get_rank(), dist.get_world_size()

text = pydoc_data.topics.topics["typesseq"].encode("ascii", "replace")
letters = torch.tensor(list(text))


class Writer(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.letter, self.place = torch.nn.Embedding(128, WIDTH), torch.nn.Embedding(LENGTH, WIDTH)
        self.layers = torch.nn.ModuleList(
            torch.nn.TransformerEncoderLayer(WIDTH, 4, 2 * WIDTH, dropout=0, batch_first=True) for _ in range(2)
        )
        self.last = torch.nn.Linear(WIDTH, 128)

    def forward(self, x):
        future = torch.nn.Transformer.generate_square_subsequent_mask(LENGTH)
        x = self.letter(x) + self.place(torch.arange(LENGTH))
        for layer in self.layers:
            x = layer(x, src_mask=future)
        return self.last(x)


model = Writer()
for layer in model.layers:
    fully_shard(layer)
fully_shard(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.003)
for step in range(STEPS):
    starts = torch.randint(len(letters) - LENGTH - 1, (BATCH,), generator=torch.Generator().manual_seed(step))
    lines = letters[starts[rank::ranks, None] + torch.arange(LENGTH + 1)]
    loss = torch.nn.functional.cross_entropy(model(lines[:, :-1]).flatten(0, 1), lines[:, 1:].flatten(), reduction="sum")
    loss /= BATCH * LENGTH
    optimizer.zero_grad()
    (loss * ranks).backward()  # fully_shard divides by the number of ranks
    optimizer.step()
    if step in (0, STEPS - 1):
        total = loss.detach()
        dist.all_reduce(total)
        if rank == 0:
            print(f"{ranks} ranks, step {step + 1}: loss {float(total):.9g}")
dist.destroy_process_group()
