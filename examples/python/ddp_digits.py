"""Handwritten digits, learned by several processes with DistributedDataParallel. Each has its part of every batch.

    python3 -m tutti.torch --nproc-per-node 4 ddp_digits.py
"""

import pathlib

import torch
import torch.distributed as dist
from torch.nn.parallel import DistributedDataParallel

import tutti.torch

EPOCHS, BATCH, LEARNED = 10, 64, 1500  # the rest is for the test

torch.set_num_threads(1)
torch.manual_seed(1)
dist.init_process_group("tutti")
rank, ranks = dist.get_rank(), dist.get_world_size()

path = pathlib.Path(__file__).parents[1] / "data/digits.csv"
rows = torch.tensor([[float(word) for word in line.split(",")] for line in path.read_text().split()])
images, digits = rows[:, :64] / 16, rows[:, 64].long()

model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 10))
model = DistributedDataParallel(model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
for epoch in range(EPOCHS):
    order = torch.randperm(LEARNED, generator=torch.Generator().manual_seed(epoch))
    for batch in order.split(BATCH):
        mine = batch[rank::ranks]
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(images[mine]), digits[mine], reduction="sum")
        (loss * ranks / len(batch)).backward()  # DDP divides by the number of ranks
        optimizer.step()

with torch.no_grad():
    loss = torch.nn.functional.cross_entropy(model(images[:LEARNED]), digits[:LEARNED])
    right = (model(images[LEARNED:]).argmax(1) == digits[LEARNED:]).float().mean()
total = sum(parameter.double().abs().sum() for parameter in model.parameters())
if rank == 0:
    print(f"{ranks} ranks: loss {float(loss):.9g}, {float(right):.1%} of {len(rows) - LEARNED} others are right")
    print(f"weights {float(total):.17g}")
dist.destroy_process_group()
