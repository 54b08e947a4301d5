#!/bin/sh
# The main job: trains a small network on 4 ranks, then measures allreduce beside Open MPI and MPICH.
set -eu
cd "$(dirname "$0")/.."
make --no-print-directory all
build/bin/tutti run -n 4 build/bin/examples/digits
build/bin/tutti bench allreduce -n 4 --against openmpi,mpich
