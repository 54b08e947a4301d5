# A program that knows nothing of launchers is started on 4 nodes, unevenly, by each launcher there is, and comes to the
# same weights as on one node.
set -eu
. "$TUTTI_SOURCE/tests/cluster/support.sh"
export TUTTI_TIMEOUT=60s
ranks=8
turn=3,1,2,2
digits="env TUTTI_PARAMS=reproducible $TUTTI_BIN/examples/digits $TUTTI_SOURCE/examples/data/digits.csv"
weights=
tried=0

# What is not installed is said, and left out.
train() { # NAME COMMAND...
  name=$1
  shift
  echo "== $name: $ranks ranks"
  timeout -k 5 300 "$here/bed.sh" "$@" >"$work/said" || { cat "$work/said"; fail "$name"; }
  own=$(grep '^weights [0-9a-f]\{16\}, identical on all ranks$' "$work/said") || { cat "$work/said"; fail "$name"; }
  grep -q "^$ranks ranks train" "$work/said" || fail "$name started something else than $ranks ranks"
  tail -n 2 "$work/said"
  [ -z "$weights" ] || [ "$own" = "$weights" ] || fail "$name: other weights"
  weights=$own
  tried=$((tried + 1))
}

up 4 2 0
train "tutti, one node" exec 0 "$TUTTI_BIN/tutti" run -n $ranks $digits
tried=0
! command -v mpirun.openmpi >/dev/null || train openmpi mpirun openmpi $ranks $turn $digits
! command -v mpiexec.mpich >/dev/null || train mpich mpirun mpich $ranks $turn $digits
if bed slurm; then
  train "slurm, pmix" srun pmix $ranks $turn $digits
  train "slurm, pmi2" srun pmi2 $ranks $turn $digits
fi
[ $tried -gt 0 ] || { echo "skipped: no launcher"; exit 77; }
bed bytes | awk '$1 < 1000000 { exit 1 }' || fail "a node has sent nothing"
echo "$tried launchers"
