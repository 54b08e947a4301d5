# Collectives between nodes: random calls of every kind on 4 nodes, ranks even, uneven and dealt out in turn, with 1 to 4
# ranks a node on 1 to 4 NICs.
# TUTTI_TEST_LONG=1: every pair of these, and more of them; slow links with latency; cables that are pulled meanwhile.
set -eu
. "$TUTTI_SOURCE/tests/cluster/support.sh"
export TUTTI_TIMEOUT=60s
seed=${TUTTI_TEST_SEED:-$(date +%s)}
echo "TUTTI_TEST_SEED=$seed"

across() { # RANKS TURN NICS ROUNDS ELEMENTS
  rm -f "$work/shared"
  seed=$((seed + 1))
  bed bytes >"$work/before"
  TUTTI_NICS=$3 start "$1" "$2" across "$work/shared" $seed "$4" "$5"
  bed bytes | paste "$work/before" - | awk '{ print "   node" NR - 1 " sent " $2 - $1; less += $2 - $1 < 10000 }
    END { exit less > 0 }' || fail "a node has sent nothing"
}

# One NIC, as many as ranks of a node, and more or fewer.
is_chosen() { # RANKS NICS
  case $1/$2 in 1/eth0 | 2/eth0,eth1 | 1/*3 | 4/eth0,eth1) ;; *) return 1 ;; esac
}

# On what is up, with 4 NICs.
sweep() { # ROUNDS ELEMENTS
  for nics in eth0 eth0,eth1 eth0,eth1,eth2,eth3; do
    for each in 1 2 4; do
      is_long || is_chosen $each $nics || continue
      across $((4 * each)) $each,$each,$each,$each $nics "$1" "$2"
    done
  done
  across 19 7,8,3,1 '' "$1" "$2"
  across 11 1,1,1,1 '' "$1" "$2"
}

rounds=10
! is_long || rounds=40
up 4 4 0
sweep $rounds 65537
is_long || exit 0

export LAT=200
up 4 4 200mbit,100mbit
sweep 10 20000

# Each node's eth1 in turn, down for a moment and up for a moment, until that process has ended.
pull_cables() { # PROCESS
  pulled=0
  while kill -0 "$1" 2>/dev/null; do
    bed link $((pulled % 4)) 1 down
    sleep 0.$((pulled % 7 + 2))
    bed link $((pulled % 4)) 1 up
    sleep 0.$((pulled % 5 + 1))
    pulled=$((pulled + 1))
  done
  echo "   $pulled times a cable was pulled"
}

export LAT=0
up 4 2 100mbit
across 8 2,2,2,2 '' 60 65537 &
job=$!
pull_cables $job
wait $job
