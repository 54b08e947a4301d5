# Ranks of MPI programs under another program: `tutti mpirun --wrap`, and `tutti wrap` on the MPI's own command line.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 PRTE_MCA_rmaps_default_mapping_policy=:oversubscribe # Open MPI 4; 5
before=${before:-}
cat >"$work/wrapper" <<'END'
#!/bin/sh
# wrapper FILE PROGRAM...: says in FILE how it was called
echo "$@" >"$1"
shift
exec "$@"
END
chmod +x "$work/wrapper"

fail() {
  echo "$1"
  cat "$work/said"
  exit 1
}

# start ARGUMENTS...: of tutti mpirun
start() {
  rm -f "$work"/rank.*
  code=0
  LD_PRELOAD=${before%:} timeout -k 5 120 "$TUTTI_BIN/tutti" mpirun "$@" >"$work/said" 2>&1 || code=$?
}

# The same where ranks fail: Hydra may lose all that they have said.
start_heard() {
  for try in 1 2 3; do
    start "$@"
    if [ $code = 0 ] || [ -s "$work/said" ]; then break; fi
  done
}

# expect_wrapped [RANK PROGRAM]...: these ranks and no others were, with the words of that program
expect_wrapped() {
  wrapped=0
  while [ $# -gt 0 ]; do
    [ "$(cat "$work/rank.$1")" = "$work/rank.$1 $2" ] || fail "$mpi: rank $1 was not wrapped"
    wrapped=$((wrapped + 1))
    shift 2
  done
  [ "$(ls "$work" | grep -c '^rank\.')" = $wrapped ] || fail "$mpi: others were wrapped too: $(cd "$work" && ls rank.*)"
}

# Whether the MPI's launcher starts two programs at once: PRRTE 3.0.8 crashes.
takes_two() {
  mpi_plain $1 1 true : -n 1 true >"$work/said" 2>&1 || { echo "$1: its launcher cannot start two programs"; false; }
}

for mpi in $mpis; do
  mpi_build $mpi mpirun
  program=$work/mpirun-$mpi

  start --wrap "0,2:$work/wrapper $work/rank.{rank}" -n 3 "$program" 0
  [ $code = 0 ] && grep -q "^3 ranks, 3 with tutti" "$work/said" || fail "$mpi: --wrap"
  expect_wrapped 0 "$program 0" 2 "$program 0"

  if takes_two $mpi; then
    start --mpi $mpi --wrap "1-2:$work/wrapper $work/rank.{rank}" -n 2 "$program" : -n 1 "$program" 0
    [ $code = 0 ] && grep -q "^3 ranks, 3 with tutti" "$work/said" || fail "$mpi: --wrap of two programs"
    expect_wrapped 1 "$program" 2 "$program 0"
  fi

  rm -f "$work"/rank.*
  mpi_plain $mpi 3 "$TUTTI_BIN/tutti" wrap "1:$work/wrapper $work/rank.{rank}" -- "$program" 0 >"$work/said" 2>&1 ||
    fail "$mpi: tutti wrap"
  grep -q "^3 ranks, 0 with tutti" "$work/said" || fail "$mpi: tutti wrap"
  expect_wrapped 1 "$program 0"

  start_heard --mpi $mpi --wrap "1:/no/such/wrapper" -n 2 true
  [ $code != 0 ] && grep -q "tutti wrap: rank 1: /no/such/wrapper: No such file" "$work/said" || fail "$mpi: no such wrapper"
  start_heard --mpi $mpi --wrap "2:true" -n 2 true
  [ $code != 0 ] && grep -q "'2:true': rank 2 is not in this job" "$work/said" || fail "$mpi: no such rank"

  start --mpi $mpi --wrap "1,x:true" -n 2 "$program"
  [ $code = 2 ] && grep -q "^tutti mpirun: --wrap '1,x:true': 'x' is not a rank" "$work/said" || fail "$mpi: a rule that is wrong"
  start --mpi $mpi --wrap "1:true" -n 2 /no/such/program
  [ $code = 127 ] && grep -q "none of the launcher's arguments is a program here" "$work/said" || fail "$mpi: no such program"
done

# The program is told from options' values that look like one.
mpi=${mpis##* }
ln -s /bin/true "$work/node"
export PATH="$work:$PATH"
for words in "--map-by node" "--mca node node" "-genv node node" "-host node,node" "-x node" "--wdir=/ --oversubscribe"; do
  start --mpi $mpi --wrap "0:a b" --show $words -n 2 true node
  grep -q -e " $words -n 2 [^ ]*/tutti wrap '0:a b' -- true node\$" "$work/said" || fail "the program behind $words"
done
