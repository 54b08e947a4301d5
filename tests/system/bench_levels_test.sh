# `tutti bench --levels`: parts of a call's time that add up to it, near and far, however the ranks are started.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tutti=$TUTTI_BIN/tutti
export TUTTI_NICS=lo

complain() {
  cat "$work/out" "$work/err"
  echo "failed: $*"
  exit 1
}

# That many rows are right, and so many say where their time goes.
rows() {
  count=$1
  shift
  "$@" --levels --json "$work/json" >"$work/out" 2>"$work/err" || complain "$@"
  [ "$(grep -c 'right$' "$work/out")" = "$count" ] || complain "$count rows: $*"
  [ "$(grep -c '^#   tutti: where .* us go' "$work/out")" = "$count" ] || complain "$count times where it goes: $*"
}

refuses() {
  text=$1
  shift
  ! "$@" >"$work/out" 2>"$work/err" || complain "no error: $*"
  grep -q -e "$text" "$work/err" || complain "not '$text': $*"
}

# Parts add up; `far` says whether there is one that is far.
check() {
  python3 - "$work/json" "$1" <<'PYTHON' || complain "$(cat "$work/json")"
import json, sys
far_expected = sys.argv[2] == "far"
for row in json.load(open(sys.argv[1]))["rows"]:
    spent = next(times["spent"] for times in row["times"] if times["library"] == "tutti")
    levels = spent["levels"]
    parts = sum(level["move_ns"] + level["wait_ns"] for level in levels)
    assert 0 < parts <= spent["call_ns"] + 1, spent
    assert abs(parts + spent["other_ns"] - spent["call_ns"]) < 1, spent
    shares = sum(level["move_share"] + level["wait_share"] for level in levels) + spent["other_share"]
    assert abs(shares - 1) < 1e-6, spent
    busiest = sum(level["busiest"]["move_ns"] + level["busiest"]["wait_ns"] for level in levels)
    assert abs(busiest + spent["busiest_other_ns"] - spent["busiest_call_ns"]) < 1, spent
    names = [(level["level"], level["far"]) for level in levels]
    assert len(set(names)) == len(names), names
    assert any(far for name, far in names) == far_expected, names
    assert any(name == "core" and not far for name, far in names), names
PYTHON
}

# This machine alone: cells, streams, requests, and a barrier before each call.
rows 4 "$tutti" bench allreduce broadcast -n 3 --sizes 8,256K --seconds 0
check near
! grep -q ', far ' "$work/out" || complain "something is far on one machine"
rows 22 "$tutti" bench all -n 3 --sizes 5000 --seconds 0 --mode persistent
rows 2 "$tutti" bench gather scan -n 2 --sizes 64K --seconds 0 --apart
check near
rows 1 "$tutti" bench reduce -n 3 --sizes 64K --seconds 0 --reproducible
grep -q '^#   reproducible: where ' "$work/out" || complain "the other parameters say it, too"

# Two pretended machines: an allreduce has both parts, and the machines' level is far.
export TUTTI_NODES=2,2
rows 2 "$tutti" run -n 4 "$tutti" bench allreduce --sizes 8,256K --seconds 0 --params '[node:2-nomial,xor/core:star]'
check far
[ "$(grep -c '^#   node, far ' "$work/out")" = 2 ] || complain "the level of machines"
[ "$(grep -c '^#   core, near ' "$work/out")" = 2 ] || complain "the level within"
rows 1 "$tutti" bench allreduce --sizes 8K --seconds 0 --rounds 2 --launch "$tutti run -n 4"
check far
unset TUTTI_NODES

refuses '--levels: .* leave out --overlap' "$tutti" bench scan -n 2 --levels --overlap
if [ -x "$TUTTI_BIN/../libexec/tutti/peer-openmpi" ]; then
  refuses '--levels: it works only for tutti' "$tutti" bench scan -n 2 --levels --library openmpi
  rows 1 "$tutti" bench allreduce -n 2 --sizes 1000 --seconds 0 --against openmpi
fi
