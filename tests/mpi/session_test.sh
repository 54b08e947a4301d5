# Communicators of sessions, where the MPI has them: served, with one report at the end, and nothing is left.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

# serves MPI RANKS WHAT: with one report, of all ranks.
serves() {
  TUTTI_STATS=$work/report.json mpi_run $1 $2 "$program" $3
  mpi_served "$work/report.json"
  grep -q "\"ranks\": $2" "$work/report.json"
  rm "$work/report.json"
  TUTTI_STATS=1 mpi_run $1 $2 "$program" $3 2>"$work/said" || { cat "$work/said"; exit 1; }
  [ "$(grep -c 'MPI collectives of' "$work/said")" = 1 ] || { cat "$work/said"; exit 1; }
}

ran=0
for mpi in $mpis; do
  "mpicc.$mpi" -fsyntax-only "$TUTTI_SOURCE/cmake/sessions.c" 2>/dev/null || continue
  ran=1
  mpi_build $mpi session_calls
  program=$work/session_calls-$mpi
  for ranks in 2 3 ${long:+4}; do
    for what in only beside before; do serves $mpi $ranks $what; done
  done
  mpi_run $mpi 3 "$program" after
  TUTTI_PROFILE=/none mpi_run $mpi 3 "$program" before 2>"$work/said" # it cannot start, which is tried once
  [ "$(grep -c "MPI's own collectives run" "$work/said")" = 1 ] || { cat "$work/said"; exit 1; }
  # MPICH 4.0 cannot begin again when all sessions have ended, and one rank alone has none of tutti's to prevent it.
  mpi_run $mpi 1 "$program" beside
  if mpi_plain $mpi 4 "$program" parts >"$work/said" 2>&1; then # MPICH 4.0 takes groups of all ranks only
    TUTTI_STATS=1 mpi_run $mpi 4 "$program" parts 2>"$work/said" || { cat "$work/said"; exit 1; }
    grep -q 'communicator of a session whose ranks tutti has not joined' "$work/said"
  fi
  if mpi_plain $mpi 3 "$program" none >"$work/said" 2>&1; then # nor empty groups
    mpi_run $mpi 3 "$program" none
  fi
  code=0 # of the rank that has failed, or of one that the launcher has killed; 14 of one that has waited too long
  mpi_run $mpi 3 "$program" fail >"$work/said" 2>&1 || code=$?
  [ $code = 3 ] || [ $code = 9 ] || { echo "exit code $code" && cat "$work/said" && exit 1; }
  TUTTI_NODES=2,1 mpi_run $mpi 3 "$program" only
  TUTTI_MPI=off TUTTI_STATS=1 mpi_run $mpi 2 "$program" only 2>"$work/said"
  grep -q 'TUTTI_MPI=off' "$work/said"
  left=$(pgrep -f "$program" || true)
  [ -z "$left" ] || { echo "processes are left: $left"; exit 1; }
done
[ $ran = 1 ] || { echo "no MPI with sessions"; exit 77; }
