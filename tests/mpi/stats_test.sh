# TUTTI_STATS says what ran and what passed through, to the call. TUTTI_MPI, TUTTI_MPI_ONLY and a context that cannot be
# made turn tutti off on all ranks, with a message that names the value.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"

# expect TEXT...: each is an extended regular expression that some line of the output must match.
expect() {
  for text in "$@"; do
    grep -Eq "$text" "$work/output" || { echo "$mpi: no '$text' in:"; cat "$work/output"; exit 1; }
  done
}

run() { mpi_run $mpi 2 "$work/stats_calls-$mpi" >"$work/output" 2>&1; }

for mpi in $mpis; do
  mpi_build $mpi stats_calls
  TUTTI_STATS=1 run
  expect 'of 2 ranks: all calls; on tutti, their bytes,' 'allreduce +220 +1.80 KiB .* 100.00%' 'bcast +100 +320 B .* 80.00%' \
    ' 20  passed through: .*communicator' 'barrier +50 +0 B .* 100.00%' 'all +370 .* 94.59%'

  TUTTI_STATS=$work/stats.json run
  python3 - "$work/stats.json" <<'EOF'
import json, sys
stats = json.load(open(sys.argv[1]))
rows = {row["name"]: row for row in stats["collectives"]}
assert stats["ranks"] == 2 and stats["served"] == 350 and stats["passed"] == 20 and stats["off"] == "", stats
assert rows["allreduce"]["served"] == 220 and rows["allreduce"]["bytes"] == 200 * 8 + 20 * 12, rows["allreduce"]
assert sum(line["calls"] for line in rows["allreduce"]["params"]) == 220, rows["allreduce"]
assert all(line["media"] for line in rows["allreduce"]["params"]), rows["allreduce"]
assert all(line["authority"].startswith("profile default.json:") for line in rows["allreduce"]["params"]), rows["allreduce"]
assert all(line["text"] for row in rows.values() for line in row["params"] + row["reasons"]), rows
assert [line["calls"] for line in rows["bcast"]["reasons"]] == [20], rows["bcast"]
assert rows["allreduce"]["ns"] > 0 and set(rows) == {"allreduce", "bcast", "barrier"}, rows
EOF

  # calls that are outstanding at once are not taken for each other
  mpi_build $mpi stats_queue
  TUTTI_STATS=$work/queue.json mpi_run $mpi 2 "$work/stats_queue-$mpi"
  TUTTI_STATS=$work/apart.json mpi_run $mpi 2 "$work/stats_queue-$mpi" apart
  python3 - "$work/queue.json" "$work/apart.json" <<'EOF'
import json, sys
queue, apart = ([[(line["calls"], line["text"], line["authority"]) for line in row["params"]]
                 for row in json.load(open(path))["collectives"]] for path in sys.argv[1:])
assert queue == apart and len(queue[0]) == 2, (queue, apart)
EOF

  TUTTI_STATS=1 TUTTI_MPI_ONLY=bcast,bcats run
  expect "TUTTI_MPI_ONLY: 'bcats' is not a collective" 'allreduce +220 .* 0.00%' '220  passed through: .*TUTTI_MPI_ONLY' \
    'bcast +100 .* 80.00%'
  TUTTI_STATS=1 TUTTI_MPI=off run
  expect 'nothing ran on tutti: TUTTI_MPI=off' 'all +370 .* 0.00%'
  TUTTI_MPI=of run
  expect "TUTTI_MPI: 'of' is none of on, off, always; using 'on'"
  TUTTI_STATS=1 TUTTI_PROFILE=/none run
  expect "MPI's own collectives run: .*/none" 'nothing ran on tutti: tutti could not start' 'all +370 .* 0.00%'
  TUTTI_STATS=/none/stats.json run
  expect "TUTTI_STATS: cannot write '/none/stats.json': No such file or directory" 'all +370 '
  TUTTI_STATS=/dev/full run
  expect "TUTTI_STATS: cannot write '/dev/full': No space left on device"
done
