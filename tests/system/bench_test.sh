# `tutti bench` measures every collective, with every preset, checks the data, and writes JSON that says the same.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bench="$TUTTI_BIN/tutti bench"

$bench all -n 3 --sizes 8,64K --seconds 0 --json "$work/all.json" >"$work/all.txt"
cat "$work/all.txt"
[ "$(grep -c 'right$' "$work/all.txt")" -ge 9 ]
python3 - "$work/all.json" <<'PYTHON'
import json, sys
told = json.load(open(sys.argv[1]))
rows = {(row["collective"], row["bytes"]): row for row in told["rows"]}
assert told["ranks"] == 3
for collective in "allreduce", "broadcast", "allgather", "reduce-scatter":
    sizes = [size for name, size in rows if name == collective]
    assert len(sizes) == 2, (collective, sizes)
assert any(name == "barrier" for name, size in rows)
for name, row in rows.items():
    assert row["result"] == "ok", (name, row)
    assert row["times"][0]["library"] == "tutti" and row["times"][0]["median_ns"] > 0, (name, row)
    assert row["times"][0]["p99_ns"] >= row["times"][0]["median_ns"], (name, row)
PYTHON

$bench allreduce -n 2 --sizes 8 --params all --seconds 0 >"$work/params.txt"
cat "$work/params.txt"
for preset in linear chain ring binomial bruck recursive-doubling rabenseifner two-level-ring two-level-halving; do
  grep -q "$preset .*right$" "$work/params.txt"
done
! $bench nonsense 2>/dev/null
