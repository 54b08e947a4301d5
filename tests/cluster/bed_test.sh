# The bed itself, with plain sockets: links are as fast as they were told, cut cables carry nothing until they are in
# again, rates change, a node that crashes is gone and the others are there. Figures are printed; only those that cannot be
# by chance are judged.
set -eu
. "$TUTTI_SOURCE/tests/cluster/support.sh"
cc -O1 "$here/probe.c" -o "$work/probe"

serve_all() { # NODES
  for node in $(seq 0 $(($1 - 1))); do
    rm -f "$work/ready"
    mkfifo "$work/ready"
    bed exec "$node" "$work/probe" serve >"$work/ready" 2>/dev/null &
    read -r said <"$work/ready"
  done
}

ping() { bed exec 0 "$work/probe" ping "10.77.$1.2"; } # NIC

# From each node to the next, on each NIC, all at once: the least and the most of each NIC.
flood() { # NODES NICS MEGABYTES
  rm -f "$work"/flood.*
  processes=
  for node in $(seq 0 $(($1 - 1))); do
    for nic in $(seq 0 $(($2 - 1))); do
      bed exec "$node" "$work/probe" send "10.77.$nic.$(((node + 1) % $1 + 1))" "$3" >"$work/flood.$nic.$node" &
      processes="$processes $!"
    done
  done
  for process in $processes; do
    wait "$process"
  done
  for nic in $(seq 0 $(($2 - 1))); do
    sort -n "$work"/flood."$nic".* | awk -v nic="$nic" 'NR == 1 { least = $1 }
      END { print "   eth" nic ": " least " to " $1 " Mbit/s" }'
  done
}

# No link may be faster than it was told.
judge_flood() { # MBIT NIC
  sort -n "$work"/flood."$2".* | awk -v most="$1" '$1 > most { exit 1 }' || fail "eth$2 is faster than $1 Mbit/s"
}

echo "== 4 nodes x 2 NICs, 200 and 100 Mbit/s"
up 4 2 200mbit,100mbit
serve_all 4
echo "   there and back in $(ping 0) us"
flood 4 2 4
judge_flood 200 0
judge_flood 100 1

echo "== a cable is cut, and is in again"
bed link 1 1 down
! ping 1 2>/dev/null || fail "what is cut carries data"
ping 0 >/dev/null
bed link 1 1 up
ping 1 >/dev/null

echo "== another rate"
bed rate 0 0 50mbit
rm -f "$work"/flood.*
bed exec 0 "$work/probe" send 10.77.0.2 2 >"$work/flood.0.0"
echo "   $(cat "$work/flood.0.0") Mbit/s"
judge_flood 50 0

echo "== a node crashes"
bed crash 1
! ping 0 2>/dev/null || fail "what has crashed answers"
[ "$(bed bytes | wc -l)" = 3 ] || fail "three nodes should be left"
bed exec 0 "$work/probe" ping 10.77.0.3 >/dev/null

echo "== 500 us of latency"
LAT=500 up 2 1 100mbit
serve_all 2
took=$(ping 0)
echo "   there and back in $took us"
[ "$took" -ge 1000 ] || fail "too fast"
flood 2 1 4
judge_flood 100 0
