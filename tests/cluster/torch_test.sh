# A program that trains with torch is started on 2 nodes, unevenly, by each launcher of MPI there is. Its ranks find each other
# through the launcher, between nodes too, and come to the same weights.
set -eu
. "$TUTTI_SOURCE/tests/cluster/support.sh"
package=$(dirname "$TUTTI_BIN")/lib/python
ls "$package"/tutti/torch/_torch*.so >/dev/null 2>&1 || { echo "skipped: the backend for PyTorch is not built here"; exit 77; }
digits="env PYTHONPATH=$package /usr/bin/python3 $TUTTI_SOURCE/examples/python/ddp_digits.py"
: >"$work/weights"

train() { # NAME COMMAND...
  name=$1
  shift
  timeout -k 5 300 "$here/bed.sh" "$@" >"$work/said" 2>"$work/errors" || { cat "$work/said" "$work/errors"; fail "$name"; }
  grep -q '^4 ranks: loss' "$work/said" || { cat "$work/said"; fail "$name started something else than 4 ranks"; }
  grep '^weights' "$work/said" >>"$work/weights" || fail "$name says no weights"
  tail -1 "$work/weights" | sed "s/^/$name: /"
}

up 2 1 0
! command -v mpirun.openmpi >/dev/null || train openmpi mpirun openmpi 4 1,3 $digits
! command -v mpiexec.mpich >/dev/null || train mpich mpirun mpich 4 1,3 $digits
! bed slurm || train slurm srun pmix 4 1,3 $digits
for launcher in openmpi mpich; do
  command -v mpiexec.$launcher >/dev/null || continue
  timeout -k 5 120 "$here/bed.sh" mpirun $launcher 4 1,3 env PYTHONPATH="$package" /usr/bin/python3 \
    "$TUTTI_SOURCE/tests/python/programs/torch_twins.py" >"$work/said" 2>&1 || { cat "$work/said"; fail "twins, $launcher"; }
  grep -q '^twins: right' "$work/said" || { cat "$work/said"; fail "twins, $launcher"; }
done
[ -s "$work/weights" ] || { echo "skipped: no launcher"; exit 77; }
[ "$(sort -u "$work/weights" | wc -l)" = 1 ] || fail "other weights"
bed bytes | awk '$1 < 1000000 { exit 1 }' || fail "a node has sent nothing"
