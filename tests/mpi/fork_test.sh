# A collective in a process that a rank has forked is an error there, and nowhere else: also where the MPI is faster.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

export TUTTI_WISDOM=$work/wisdom.json
"$TUTTI_BIN/tutti" tune barrier -n 2 --busy --budget 100ms >"$work/output"
python3 - "$TUTTI_WISDOM" <<'END'
import json, sys
rows = [{"library": library, "collective": "allreduce", "ranks": 3, "nodes": 1, "ranks_per_node": 3, "nics": 1,
         "bytes": 4, "wins": True, "ns": 500, "tutti_ns": 600}
        for library in ("openmpi-4.1", "openmpi-5.0", "mpich-4.0", "mpich-4.2")]
known = json.load(open(sys.argv[1]))
json.dump({**known, "outside": rows}, open(sys.argv[1], "w"))
END
for mpi in $mpis; do
  mpi_build $mpi fork_calls
  for wisdom in "$TUTTI_WISDOM" off; do
    TUTTI_WISDOM=$wisdom TUTTI_STATS=$work/stats.json mpi_run $mpi 3 "$work/fork_calls-$mpi" >"$work/output" 2>&1 ||
      { cat "$work/output"; exit 1; }
    grep -q 'all is well' "$work/output" || { cat "$work/output"; exit 1; }
    passes=$(grep -c 'MPI was measured to be faster' "$work/stats.json" || true)
    [ $wisdom = off ] || [ $passes -gt 0 ] || { cat "$work/stats.json"; exit 1; }
  done
done
