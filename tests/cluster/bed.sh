#!/bin/sh
# tests/cluster/bed.sh - nodes on one machine, for tests: each is a network of its own, joined by links of a given rate.
#
#   bed.sh up NODES NICS RATE       RATE as tc has it, such as 200mbit; 0: as fast as it goes. Exit status 77 and a reason
#                                   where the system does not permit it
#   bed.sh exec NODE COMMAND...     runs a command in a node, 0 .. NODES-1
#   bed.sh launch COMMAND...        the same in node 0, where launchers run: they reach the others by agent.sh for ssh
#   bed.sh mpirun MPI RANKS TURN COMMAND...   by openmpi or mpich; TURN: how many ranks each node gets, over and over:
#                                   of 8 ranks, 5,3 are 00000111, and 3,3 are 00011100
#   bed.sh bytes                    how many bytes each node has sent
#   bed.sh down                     kills all that runs in it
#
# A node has a hostname (node0), NICs (eth0 = 10.77.0.1) on a bridge for each rail, System V IPC, /dev/shm, /etc/hosts
# and /sys of its own; files are shared. All of it lives in one process namespace, the room, whose own network is the
# switch: when the first process of the room ends, the kernel takes everything down. BED names it: several can be up.
set -eu
me=$(readlink -f "$0")
here=$(dirname "$me")
state=/run/tutti-bed/${BED:-bed}

fail() { # STATUS TEXT
  echo "bed.sh: $2" >&2
  exit "$1"
}

# ---- up: in the room, in a node ----

# Bits a second -> bytes: a burst of one packet of 0.7 ms, 16 to 64 KiB, and a little; a queue of 4 ms.
shape() { # DEVICE RATE
  [ "$2" != 0 ] || return 0
  bits=$(echo "$2" | sed 's/gbit$/000000000/; s/mbit$/000000/; s/kbit$/000/')
  packet=$((bits / 12000))
  [ $packet -gt 16384 ] || packet=16384
  [ $packet -lt 65536 ] || packet=65536
  queue=$((bits / 2000))
  [ $queue -gt 196608 ] || queue=196608
  ip link set "$1" gso_max_size $packet
  tc qdisc replace dev "$1" root tbf rate "$2" burst $((packet + bits / 40000 + 2048)) limit $queue
}

# Nothing is on the wire but what programs send.
quiet() { echo 1 | tee /proc/sys/net/ipv6/conf/*/disable_ipv6 >/dev/null; }

# One end is the node's, the other a port of the switch, which is the network of process 1.
plug_in() { # NODE NIC RATE
  port=port$1.$2
  ip link add "eth$2" type veth peer name "$port" netns 1
  ip address add "10.77.$2.$(($1 + 1))/24" dev "eth$2"
  ip link set "eth$2" up
  shape "eth$2" "$3"
  nsenter --target 1 --net sh "$me" port "$port" "rail$2" "$3"
}

port() { # PORT RAIL RATE
  ip link set "$1" master "$2" up
  shape "$1" "$3"
}

node() { # NODE NICS RATE
  hostname "node$1"
  mount -t tmpfs tmpfs /dev/shm
  mount -t sysfs sysfs /sys
  mount --bind "$state/hosts" /etc/hosts
  cat /proc/sys/kernel/random/uuid >"$state/boot$1" # MPI libraries tell machines by it
  mount --bind "$state/boot$1" /proc/sys/kernel/random/boot_id
  quiet
  ip link set lo up
  for nic in $(seq 0 $(($2 - 1))); do
    plug_in "$1" "$nic" "$3"
  done
  echo $$
  exec sleep infinity >/dev/null
}

# Process 1 of the room. Says "ready" when all nodes are.
room() { # NODES NICS RATE
  quiet
  for nic in $(seq 0 $(($2 - 1))); do
    ip link add "rail$nic" type bridge forward_delay 0
    ip link set "rail$nic" up
  done
  echo 127.0.0.1 localhost >"$state/hosts"
  for node in $(seq 0 $(($1 - 1))); do
    echo "10.77.0.$((node + 1)) node$node" >>"$state/hosts"
  done
  for node in $(seq 0 $(($1 - 1))); do
    mkfifo "$state/says$node"
    unshare --net --uts --ipc --mount sh "$me" node "$node" "$2" "$3" >"$state/says$node" &
    read -r process <"$state/says$node"
    echo "$process" >"$state/node$node"
  done
  echo ready
  exec >/dev/null
  wait
}

up() { # NODES NICS RATE
  [ ! -e "$state" ] || fail 1 "it is up already: bed.sh down first, or choose another name by BED"
  for tool in ip tc unshare nsenter; do
    command -v $tool >/dev/null || fail 77 "there is no $tool here"
  done
  unshare --pid --mount --net --fork true 2>/dev/null || fail 77 "namespaces are not permitted here"
  mkdir -p "$state"
  mkfifo "$state/says"
  unshare --pid --mount --net --fork --kill-child --mount-proc sh "$me" room "$@" \
    </dev/null >"$state/says" 2>"$state/log" &
  echo $! >"$state/keeper"
  read -r said <"$state/says" || said=
  [ "$said" = ready ] && return
  reason=$(cat "$state/log")
  down
  fail 77 "nodes are not possible here: $reason"
}

# Whether that process, which keeps the room, is still the one that `up` started.
is_kept() { [ "$(cat "/proc/$(cat "$state/keeper")/comm" 2>/dev/null)" = unshare ]; }

down() {
  [ -e "$state" ] || return 0
  is_kept && kill -9 "$(cat "$state/keeper")"
  rm -rf "$state"
}

# ---- run ----

# Process 1 of the room as it is seen from here.
first_process() {
  keeper=$(cat "$state/keeper")
  tr -d ' ' 2>/dev/null <"/proc/$keeper/task/$keeper/children" || true
}

run_in() { # NODE COMMAND...
  [ -e "$state/node$1" ] || fail 1 "there is no node $1 up"
  if [ -z "${BED_ROOM:-}" ]; then
    first=$(first_process)
    [ -n "$first" ] || fail 1 "it has ended: bed.sh down, and up again"
    exec nsenter --target "$first" --pid --mount "--wd=$PWD" env BED_ROOM=1 sh "$me" exec "$@"
  fi
  process=$(cat "$state/node$1")
  shift
  exec nsenter --target "$process" --net --uts --ipc --mount "--wd=$PWD" -- "$@"
}

# As ssh: [options] HOST COMMAND
agent() {
  while [ "${1#-}" != "$1" ]; do
    shift
  done
  node=${1#node}
  shift
  run_in "$node" sh -c "$*"
}

# The node of each rank, one a line.
places() { # RANKS TURN
  echo "$2" | tr , '\n' | awk -v ranks="$1" '{ turn[NR] = $1 }
    END { while (n < ranks) for (node = 1; node <= NR; node++)
            for (k = 0; k < turn[node] && n++ < ranks; k++) print "node" node - 1 }'
}

run_mpi() { # MPI RANKS TURN COMMAND...
  mpi=$1 ranks=$2 turn=$3
  shift 3
  hosts=$state/hosts.$mpi.$ranks.$turn
  case $mpi in
  openmpi)
    places "$ranks" "$turn" >"$hosts"
    run_in 0 mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent "$me agent" --mca btl tcp,vader,self \
      --mca mpi_yield_when_idle 1 --bind-to none --hostfile "$hosts" --map-by seq -n "$ranks" "$@"
    ;;
  mpich)
    echo "$turn" | tr , '\n' | awk '{ print "node" NR - 1 ":" $1 }' >"$hosts"
    run_in 0 mpiexec.mpich -launcher ssh -launcher-exec "$here/agent.sh" -iface eth0 -f "$hosts" -n "$ranks" "$@"
    ;;
  *) fail 2 "$mpi is neither openmpi nor mpich" ;;
  esac
}

bytes() {
  for file in "$state"/node*; do
    sh "$me" exec "${file##*node}" sh -c 'cat /sys/class/net/eth*/statistics/tx_bytes' |
      awk '{ sum += $1 } END { printf "%d\n", sum }'
  done
}

[ $# -gt 0 ] || fail 2 "up, exec, launch, mpirun, bytes or down? See the top of $me"
command=$1
shift
case $command in
up | down | room | node | port | agent | bytes) $command "$@" ;;
exec) run_in "$@" ;;
launch) run_in 0 "$@" ;;
mpirun) run_mpi "$@" ;;
*) fail 2 "there is no command $command" ;;
esac
