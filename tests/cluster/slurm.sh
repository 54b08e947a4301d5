# tests/cluster/slurm.sh - a real Slurm in the nodes of bed.sh, which calls this: slurmctld in node 0, slurmd in each.
#
#   slurm.sh slurm                            starts it; status 77 and a reason where Debian's packages are not installed
#   slurm.sh srun TYPE RANKS TURN COMMAND...  TYPE as --mpi has it: pmix, pmi2
#
# All it writes is in the bed's folder; its processes end with the bed. Who may do what is munge's business: one munged
# serves all nodes, which reach it by a socket that is a file.
set -eu
bed=$BED_SH
slurm=$BED_STATE/slurm
export SLURM_CONF="$slurm/slurm.conf"
PATH=$PATH:/usr/sbin

nodes() { ls "$BED_STATE" | grep -x 'node[0-9]*' | sed s/node// | sort -n; }

# More ranks than cores are welcome.
configure() {
  cat >"$slurm/cgroup.conf" <<END
CgroupPlugin=cgroup/v1
CgroupMountpoint=$slurm/cgroup
END
  echo "PMIxCliTmpDirBase=$BED_STATE/own" >"$slurm/mpi.conf" # where each node has files of its own
  cat >"$SLURM_CONF" <<END
ClusterName=bed
SlurmctldHost=node0(10.77.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$slurm/munge.socket
CredType=cred/munge
StateSaveLocation=$slurm/state
SlurmdSpoolDir=$slurm/spool.%n
SlurmctldPidFile=$slurm/slurmctld.pid
SlurmdPidFile=$slurm/slurmd.%n.pid
SlurmctldLogFile=$slurm/slurmctld.log
SlurmdLogFile=$slurm/slurmd.%n.log
SlurmdParameters=config_overrides
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
ReturnToService=2
MpiDefault=none
END
  for node in $(nodes); do
    echo "NodeName=node$node NodeAddr=10.77.0.$((node + 1)) CPUs=64 State=UNKNOWN" >>"$SLURM_CONF"
  done
  echo "PartitionName=all Nodes=ALL Default=YES State=UP" >>"$SLURM_CONF"
}

start_munge() {
  head -c 128 /dev/urandom >"$slurm/munge.key"
  chmod 600 "$slurm/munge.key"
  "$bed" exec 0 munged --force --socket="$slurm/munge.socket" --key-file="$slurm/munge.key" --num-threads=4 \
    --pid-file="$slurm/munged.pid" --log-file="$slurm/munged.log" --seed-file="$slurm/munged.seed" 2>>"$slurm/log"
}

# Until all nodes are idle, at most half a minute.
await() {
  wanted=$(nodes | wc -l)
  for _ in $(seq 150); do
    [ "$("$bed" exec 0 sinfo --noheader --Node --states=idle 2>/dev/null | wc -l)" = "$wanted" ] && return
    sleep 0.2
  done
  cat "$slurm"/*.log >&2
  echo "slurm.sh: the nodes were not ready in time" >&2
  exit 1
}

start() {
  for program in slurmctld slurmd srun sinfo munged; do
    command -v $program >/dev/null || {
      echo "slurm.sh: there is no $program here; Debian: apt install slurmctld slurmd slurm-client munge" >&2
      exit 77
    }
  done
  mkdir -p "$slurm/state"
  configure
  start_munge
  "$bed" exec 0 slurmctld
  for node in $(nodes); do
    "$bed" exec "$node" slurmd -N "node$node"
  done
  await
}

run() { # TYPE RANKS TURN COMMAND...
  type=$1 ranks=$2
  hosts=$slurm/hosts.$2.$3
  "$bed" places "$2" "$3" >"$hosts"
  shift 3
  "$bed" exec 0 env SLURM_HOSTFILE="$hosts" srun "--mpi=$type" --distribution=arbitrary --overcommit -n "$ranks" "$@"
}

command=$1
shift
case $command in
slurm) start ;;
srun) run "$@" ;;
esac
