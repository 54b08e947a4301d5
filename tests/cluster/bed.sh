#!/bin/sh
# tests/cluster/bed.sh - nodes on one machine, for tests: each is a network of its own, joined by links of given rates.
#
#   bed.sh up NODES NICS RATES      RATES: 200mbit, or of each NIC in turn: 200mbit,100mbit; 0: as fast as it goes.
#                                   LAT=500: so many us one way. Status 77 and a reason where it is not permitted
#   bed.sh down                     kills all that runs in it
#   bed.sh exec NODE COMMAND...     runs a command in a node, 0 .. NODES-1
#   bed.sh launch COMMAND...        the same in node 0, where launchers run: they reach the others by agent.sh for ssh
#   bed.sh mpirun MPI RANKS TURN COMMAND...   by openmpi or mpich; TURN: how many ranks each node gets, over and over:
#                                   of 8 ranks, 5,3 are 00000111, and 3,3 are 00011100
#   bed.sh slurm                    starts Slurm in all nodes (slurm.sh); then
#   bed.sh srun TYPE RANKS TURN COMMAND...    by srun --mpi=TYPE
#   bed.sh start RANKS TURN COMMAND...        without a launcher that sees nodes die: job.h tells the ranks of each other
#   bed.sh link NODE NIC up|down    one cable; links NODE up|down: all of a node
#   bed.sh rate NODE NIC RATE       from now on
#   bed.sh crash NODE               kills all that runs there, and cuts its cables
#   bed.sh bytes [NODE]             sent so far by each node; of NODE: of each NIC, sent and received
#
# A node has a hostname (node0), NICs (eth0 = 10.77.0.1) on a switch for each rail, System V IPC, /dev/shm, /etc/hosts
# and /sys of its own; files are shared. All of it lives in one process namespace, the room, whose own network has the
# switches: when the first process of the room ends, the kernel takes everything down. BED names it: several can be up.
set -eu
me=$(readlink -f "$0")
here=$(dirname "$me")
state=/run/tutti-bed/${BED:-bed}

fail() { # STATUS TEXT
  echo "bed.sh: $2" >&2
  exit "$1"
}

check_rates() { # RATES
  ! echo "$1" | tr , '\n' | grep -qvx '0\|[1-9][0-9]*[kmg]bit' || fail 2 "rates are 0, 10kbit, 10mbit or 1gbit, not $1"
}

# The n-th of a list with commas, which begins again at its end.
turn_of() { # LIST N
  echo "$1" | awk -F, -v n="$2" '{ print $(n % NF + 1) }'
}

# ---- up: before the room ----

# In a chroot the root is no mount, so that nobody can say that what is mounted below is private: this makes it one, in a
# mount namespace of its own, and runs a command there.
rooted() { # COMMAND...
  nsenter --mount=/proc/self/ns/mnt mount --make-rprivate /
  mount --rbind / /mnt
  exec chroot /mnt env -C "$PWD" "$@"
}

# ---- up: in the room, in a node ----

# Bits a second -> bytes: a burst of one packet of 0.7 ms, 16 to 64 KiB, and a little; a queue of 4 ms.
shape() { # DEVICE RATE
  if [ "$2" = 0 ]; then
    tc qdisc delete dev "$1" root 2>/dev/null || true
    return
  fi
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

# What is for one NIC's address comes and goes by that NIC; no connection learns from those before it.
settle() {
  for setting in conf/all/arp_ignore=1 conf/all/arp_announce=2 conf/all/rp_filter=1 tcp_no_metrics_save=1; do
    echo "${setting#*=}" >"/proc/sys/net/ipv4/${setting%=*}"
  done
}

# One end is the node's, the other a port of the switch, which is in the network of process 1. The last byte of a MAC
# address is its port in the switch of relay.c. bbr, which may be the system's default, does not suit such short queues.
plug_in() { # NODE NIC RATE
  port=port$1.$2
  address=10.77.$2.$(($1 + 1))
  ip link add "eth$2" address "$(printf '02:77:00:00:%02x:%02x' "$2" "$1")" type veth peer name "$port" netns 1
  ip address add "$address/24" dev "eth$2"
  ip link set "eth$2" up
  ip route replace "10.77.$2.0/24" dev "eth$2" src "$address" rto_min 10ms congctl cubic
  shape "eth$2" "$3"
  nsenter --target 1 --net sh "$me" port "$port" "rail$2" "$3"
}

port() { # PORT RAIL RATE
  [ "${LAT:-0}" != 0 ] || ip link set "$1" master "$2"
  ip link set "$1" up
  shape "$1" "$3"
}

# A Debian out of debootstrap has no /etc/hosts, over which the node's own could be mounted.
own_etc() {
  cp -a /etc "$state/own/etc"
  mount --bind "$state/own/etc" /etc
  : >/etc/hosts
}

node() { # NODE NICS RATES
  hostname "node$1"
  mount -t tmpfs tmpfs /dev/shm
  mount -t tmpfs tmpfs "$state/own"
  mount -t sysfs sysfs /sys
  [ -e /etc/hosts ] || own_etc
  mount --bind "$state/hosts" /etc/hosts
  cat /proc/sys/kernel/random/uuid >"$state/boot$1" # MPI libraries tell machines by it
  mount --bind "$state/boot$1" /proc/sys/kernel/random/boot_id
  quiet
  settle
  ip link set lo up
  for nic in $(seq 0 $(($2 - 1))); do
    plug_in "$1" "$nic" "$(turn_of "$3" "$nic")"
  done
  echo $$
  exec sleep infinity >/dev/null
}

# A switch for each rail: a bridge, or relay.c once there are ports.
switch_on() { # NICS
  for nic in $(seq 0 $(($1 - 1))); do
    ip link add "rail$nic" type bridge forward_delay 0 mcast_snooping 0
    ip link set "rail$nic" up
  done
}

relay_on() { # NODES NICS
  for nic in $(seq 0 $(($2 - 1))); do
    mkfifo "$state/relay$nic"
    "$state/relay" "$LAT" $(seq -f "port%g.$nic" 0 $(($1 - 1))) >"$state/relay$nic" &
    read -r said <"$state/relay$nic"
    [ "$said" = ready ]
  done
}

# Process 1 of the room. Says "ready" when all nodes are.
room() { # NODES NICS RATES
  quiet
  [ "${LAT:-0}" != 0 ] || switch_on "$2"
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
  [ "${LAT:-0}" = 0 ] || relay_on "$1" "$2"
  echo ready
  exec >/dev/null
  wait
}

up() { # NODES NICS RATES
  [ $# = 3 ] || fail 2 "up NODES NICS RATES, such as: up 4 2 200mbit,100mbit"
  check_rates "$3"
  [ ! -e "$state" ] || fail 1 "it is up already: bed.sh down first, or choose another name by BED"
  for tool in ip tc unshare nsenter ${LAT:+cc}; do
    command -v $tool >/dev/null || fail 77 "there is no $tool here"
  done
  rooted=
  unshare --mount true 2>/dev/null || rooted="unshare --mount --propagation unchanged sh $me rooted"
  $rooted unshare --pid --mount --net --fork true 2>/dev/null || fail 77 "namespaces are not permitted here"
  mkdir -p "$state/own"
  [ "${LAT:-0}" = 0 ] || cc -O2 -o "$state/relay" "$here/relay.c" || { down; fail 1 "relay.c was not compiled"; }
  mkfifo "$state/says"
  $rooted unshare --pid --mount --net --fork --kill-child --mount-proc sh "$me" room "$@" \
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
  keeper=$(cat "$state/keeper" 2>/dev/null) || return 0
  tr -d ' ' 2>/dev/null <"/proc/$keeper/task/$keeper/children" || true
}

# With the room's processes and files; the network too where the first argument is --net.
enter_room() { # [--net] COMMAND...
  first=$(first_process)
  [ -n "$first" ] || fail 1 "it is not up, or has ended: bed.sh down, and up again"
  net=
  [ "$1" != --net ] || { net=--net; shift; }
  nsenter --target "$first" --pid --mount --root $net "--wd=$PWD" env BED_ROOM=1 "$@"
}

run_in() { # NODE COMMAND...
  [ -e "$state/node$1" ] || fail 1 "there is no node $1 up"
  if [ -z "${BED_ROOM:-}" ]; then
    enter_room sh "$me" exec "$@"
    return
  fi
  process=$(cat "$state/node$1")
  shift
  exec nsenter --target "$process" --net --uts --ipc --mount --root "--wd=$PWD" -- "$@"
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
  hosts=$state/hosts.$mpi.$ranks.$(echo "$turn" | tr , .) # PRRTE takes several files, with commas
  case $mpi in
  openmpi)
    places "$ranks" "$turn" >"$hosts"
    run_in 0 mpirun.openmpi --allow-run-as-root --mca plm_rsh_agent "$me agent" --mca btl tcp,vader,self \
      --mca oob_tcp_if_include eth0 --mca mpi_yield_when_idle 1 --bind-to none --hostfile "$hosts" --map-by seq \
      -n "$ranks" "$@"
    ;;
  mpich)
    echo "$turn" | tr , '\n' | awk '$1 { print "node" NR - 1 ":" $1 }' >"$hosts"
    run_in 0 mpiexec.mpich -launcher ssh -launcher-exec "$here/agent.sh" -iface eth0 -f "$hosts" -n "$ranks" "$@"
    ;;
  *) fail 2 "$mpi is neither openmpi nor mpich" ;;
  esac
}

# BED_RANK, BED_SIZE and BED_MEET, a folder of the job's, say to job.h what the job is.
start() { # RANKS TURN COMMAND...
  export BED_SIZE="$1"
  BED_MEET=$(mktemp -d "$state/meet.XXXXXX")
  export BED_MEET
  nodes=$(places "$1" "$2")
  shift 2
  rank=0 processes=
  for node in $nodes; do
    BED_RANK=$rank sh "$me" exec "${node#node}" "$@" &
    processes="$processes $rank=$!"
    rank=$((rank + 1))
  done
  failed=0
  for process in $processes; do
    wait "${process#*=}" && continue || echo "rank ${process%=*} ended with status $?" >&2
    failed=1
  done
  rm -rf "$BED_MEET"
  return $failed
}

# ---- what happens to it ----

link() { # NODE NIC up|down
  [ -e "$state/node$1" ] || fail 1 "there is no node $1 up"
  case $3 in
  up | down) enter_room --net ip link set "port$1.$2" "$3" ;;
  *) fail 2 "a link is set up or down, not $3" ;;
  esac
}

links() { # NODE up|down
  for nic in $(nics_of "$1"); do
    link "$1" "$nic" "$2"
  done
}

nics_of() { # NODE
  run_in "$1" sh -c 'cd /sys/class/net && echo eth*' | sed 's/eth//g'
}

rate() { # NODE NIC RATE
  check_rates "$3"
  run_in "$1" sh "$me" shape "eth$2" "$3"
  enter_room --net sh "$me" shape "port$1.$2" "$3"
}

# In the room: all processes of that one's network. Their sockets are closed when there is nothing left of them but a
# zombie, not before.
kill_all() { # PROCESS
  net=$(readlink "/proc/$1/ns/net" | tr -dc 0-9)
  while found=$(find /proc/[0-9]*/ns/net -maxdepth 0 -lname "*$net*" 2>/dev/null | cut -d/ -f3); [ -n "$found" ]; do
    kill -9 $found 2>/dev/null || true
    for process in $found; do
      while grep -qs '^State:.[^Z]' "/proc/$process/status"; do sleep 0.001; done
    done
  done
}

# As when the node's own system has come down: what its kernel says at the programs' ends gets out, and nothing
# afterwards. (links NODE down before: nobody hears of it.) What is in the node is known by its network.
crash() { # NODE
  [ -e "$state/node$1" ] || fail 1 "there is no node $1 up"
  nics=$(nics_of "$1")
  enter_room --net sh "$me" kill_all "$(cat "$state/node$1")"
  for nic in $nics; do
    enter_room --net ip link set "port$1.$nic" down 2>/dev/null || true # it goes with its network, sooner or later
  done
  rm "$state/node$1"
}

bytes() { # [NODE]
  if [ $# = 1 ]; then
    run_in "$1" sh -c 'cd /sys/class/net; for nic in eth*; do
      echo "$nic $(cat $nic/statistics/tx_bytes) $(cat $nic/statistics/rx_bytes)"; done'
    return
  fi
  for file in "$state"/node*; do
    sh "$me" bytes "${file##*node}" | awk '{ sum += $2 } END { printf "%d\n", sum }'
  done
}

[ $# -gt 0 ] || fail 2 "a command is missing; they are at the top of $me"
command=$1
shift
case $command in
up | down | rooted | room | node | port | shape | agent | kill_all | start | link | links | rate | crash | bytes) $command "$@" ;;
exec) run_in "$@" ;;
launch) run_in 0 "$@" ;;
mpirun) run_mpi "$@" ;;
slurm | srun)
  [ -e "$state/node0" ] || fail 1 "there is no node 0 up"
  BED_STATE=$state BED_SH=$me exec sh "$here/slurm.sh" "$command" "$@"
  ;;
places) places "$@" ;;
*) fail 2 "there is no command $command" ;;
esac
