#!/bin/sh
# Measurements of many nodes, on the bed of tests/cluster (docs/cluster.md): 4 nodes, NICs of 100 Mbit/s.
#
#   bench_cluster.sh bound       time / link bound: 1, 2, 4 ranks a node on 1, 2, 4 NICs
#   bench_cluster.sh placement   7 + 8 + 3 + 1 ranks, ranks dealt out in turn, and NICs of 200 and 100 Mbit/s
#   bench_cluster.sh latency     1 KB allreduces over links of 500 us each way
#   bench_cluster.sh against     beside the best of Open MPI (as it comes, by hand, HAN) and MPICH, 9 pairs: takes hours
#   bench_cluster.sh levels      what hierarchy, striping and pipelining bring, one after the other: levels.svg too
#   bench_cluster.sh torch       torch's gloo beside tutti.torch, NICs of 1 Gbit/s
#   bench_cluster.sh             all of it
set -eu
cd "$(dirname "$0")/.."
tutti=$PWD/build/bin/tutti
bed=$PWD/tests/cluster/bed.sh
export BED=bench$$
work=$(mktemp -d)
trap '"$bed" down; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT PIPE TERM
four="allreduce broadcast allgather reduce-scatter"

ranks_of() { echo "$1" | tr , '\n' | awk '{ n += $1 } END { print n }'; }

up() { # NODES NICS RATES
  "$bed" down
  "$bed" up "$@"
}

job() { # TURN BENCH-ARGUMENTS...: tutti bench as ranks, under Open MPI's launcher
  turn=$1
  shift
  "$bed" mpirun openmpi "$(ranks_of "$turn")" "$turn" "$tutti" bench "$@"
}

bound() {
  for nics in 1 2 4; do
    up 4 $nics 100mbit
    for turn in 1,1,1,1 2,2,2,2 4,4,4,4; do
      echo "== $turn ranks, $nics NICs of 100 Mbit/s"
      job $turn $four --apart --rate 100M --sizes 1M,16M --seconds 4
    done
  done
}

placement() {
  up 4 2 100mbit
  echo "== 7 + 8 + 3 + 1 ranks"
  job 7,8,3,1 $four --apart --rate 100M --sizes 16M --seconds 4
  echo "== 16 ranks, dealt out in turn"
  "$bed" mpirun openmpi 16 1,1,1,1 "$tutti" bench $four --apart --rate 100M --sizes 16M --seconds 4
  up 4 2 200mbit,100mbit
  for turn in 1,1,1,1 4,4,4,4; do
    echo "== $turn ranks on NICs of 200 and 100 Mbit/s"
    job $turn $four --apart --rate 150M --sizes 16M --seconds 4
  done
}

latency() {
  LAT=500 up 4 1 1gbit
  cc -O2 tests/cluster/probe.c -o "$work/probe"
  "$bed" exec 0 "$work/probe" serve >"$work/serves" &
  while ! grep -q ready "$work/serves"; do sleep 0.1; done
  echo "there and back, us: $("$bed" exec 1 "$work/probe" ping 10.77.0.1)"
  for turn in 1,1,1,1 4,4,4,4; do
    echo "== $turn ranks, 500 us each way"
    job $turn allreduce --sizes 1K --seconds 2
  done
}

against() {
  for nics in 2 1 4; do
    for ranks in 4 1 2; do
      "$PWD/scripts/bench_against.py" "$bed" "$tutti" $ranks $nics
    done
  done
}

levels() {
  up 4 4 100mbit
  "$PWD/scripts/bench_levels.py" "$bed" "$tutti" "${1:-docs/pictures/levels.svg}"
}

torch() {
  up 4 1 1gbit
  for turn in 1,1,1,1 2,2,2,2; do
    for way in blocking asynchronous; do
      echo "== $turn ranks"
      "$bed" mpirun openmpi "$(ranks_of $turn)" $turn env PYTHONPATH="$PWD/build/lib/python" GLOO_SOCKET_IFNAME=eth0 \
        BENCH_BYTES=16777216 /usr/bin/python3 "$PWD/scripts/bench_torch.py" launched-$way
    done
  done
}

[ $# -gt 0 ] || set -- bound placement latency against levels torch
for part; do
  case $part in
  bound | placement | latency | against | levels | torch) $part ;;
  *)
    echo "bench_cluster.sh: there is no part $part; see the top of $0" >&2
    exit 2
    ;;
  esac
done
