# Legal programs that trap interposers end well; misuse ends with an error that names ranks and their calls; nothing is
# left behind.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

fail() {
  echo "$mpi $1: $2"
  cat "$work/said" "$work/launcher"
  exit 1
}

# run NAME RANKS: its exit code is $code, what it said is in $work/said. Ranks write there themselves: launchers lose what
# comes late when a job is aborted.
run() {
  code=0
  : >"$work/said"
  mpi_run $mpi "$2" sh -c 'exec "$@" >>"$0" 2>&1' "$work/said" "$work/traps-$mpi" $1 >"$work/launcher" 2>&1 </dev/null ||
    code=$?
  if [ $code = 124 ]; then fail "$1" "has not ended"; fi
}

# What may end together runs together: all that end, of a number of ranks.
run_good() {
  for ranks in 1 2 3 4 5; do
    names=$(awk -v ranks=$ranks -v kind=$1 '$2 == ranks && $3 == kind { print $1 }' "$work/list")
    if [ $mpi = mpich ]; then names=$(echo "$names" | grep -vx spawn || true); fi # Debian's MPICH cannot
    [ -n "$names" ] || continue
    run "$names" $ranks
    [ $code = 0 ] || fail "$ranks ranks" "exit code $code"
  done
}

run_bad() {
  grep -E " (misuse|alone|fatal|fails)$" "$work/list" >"$work/bad"
  while read -r name ranks kind; do
    run $name $ranks
    [ $code != 0 ] || fail $name "ended as if nothing was wrong"
    case $kind in misuse | alone) [ $code = 40 ] || fail $name "exit code $code" ;; esac
    case $kind in
    misuse | fatal) says="rank.* called .*rank.* called " ;; # those that had come by then
    alone) says="rank 1 sends int32 and receives float32" ;;
    *) says= ;;
    esac
    grep -q "$says" "$work/said" || fail $name "no ranks and calls are named"
    case $name in types_of_*) says="int32.*float32" ;; types_in_*) says="types of their elements differ" ;; *) says= ;; esac
    grep -q "$says" "$work/said" || fail $name "no types are named"
  done <"$work/bad"
}

# A rank that was aborted may still be on its way out when its launcher has ended.
check_none_left() {
  for _ in $(seq 100); do
    pgrep -af "^$work/traps-$mpi" >"$work/launcher" || return 0
    sleep 0.1
  done
  fail "all" "processes are left"
}

for mpi in $mpis; do
  "mpicc.$mpi" -std=gnu11 -D_GNU_SOURCE -O2 -w -o "$work/traps-$mpi" "$TUTTI_SOURCE"/tests/mpi/traps/*.c -lpthread
  "$work/traps-$mpi" --list >"$work/list"
  run_good ends
  run_good threads
  run_bad
  check_none_left
done
