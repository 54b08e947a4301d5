"""Heat in a plate: each rank has some rows, and exchanges the rows at its edges with its neighbors.

    tutti run -n 4 python3 heat.py
"""

import sys

import numpy

import tutti

SIZE, STEPS = 240, int(sys.argv[1]) if len(sys.argv) > 1 else 400

comm = tutti.world()
rank, ranks = comm.rank, comm.size
rows = SIZE // ranks + (rank < SIZE % ranks)
above = [rank - 1] if rank > 0 else []
below = [rank + 1] if rank < ranks - 1 else []
graph = comm.graph(above + below, above + below)  # edges both ways

plate = numpy.zeros((rows + 2, SIZE))  # a row of the neighbor above and below
if rank == 0:
    plate[0] = 100  # the hot edge
edge = numpy.zeros((len(above + below), SIZE))
got = numpy.zeros_like(edge)
exchange = graph.neighbor_all_to_all_init(edge, out=got)

for step in range(STEPS):
    edge[: len(above)] = plate[1]
    edge[len(above) :] = plate[rows]
    exchange.start()
    exchange.wait()
    if above:
        plate[0] = got[0]
    if below:
        plate[rows + 1] = got[-1]
    plate[1:-1, 1:-1] += 0.2 * (
        plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:] - 4 * plate[1:-1, 1:-1]
    )

heat = comm.reduce(numpy.array(plate[1:-1].sum()))
warmest = comm.reduce(numpy.array(plate[1:-1].max()), op="max")
if rank == 0:
    print(f"after {STEPS} steps on {ranks} ranks: heat {float(heat):.9g}, warmest point {float(warmest):.9g}")
