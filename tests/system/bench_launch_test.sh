# `tutti bench` as ranks of a launcher, and as the driver of jobs that launchers start, in turn; tutti run stands for them.
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

# That many rows are right.
rows() {
  count=$1
  shift
  "$@" >"$work/out" 2>"$work/err" || complain "$@"
  [ "$(grep -c 'right$' "$work/out")" = "$count" ] || complain "$count rows: $*"
}

# Ends with `code`; says `text` once.
refuses() {
  code=$1 text=$2
  shift 2
  got=0
  "$@" >"$work/out" 2>"$work/err" || got=$?
  [ "$got" = "$code" ] && [ "$(grep -c -e "$text" "$work/err")" = 1 ] || complain "code $got, not $code with '$text': $*"
}

# ---- ranks of a launcher: only one of them prints ----

rows 43 "$tutti" run -n 3 "$tutti" bench all --sizes 8,64K --seconds 0 --json "$work/one.json"
[ "$(grep -c '^# 3 ranks on 1 machine,' "$work/out")" = 1 ] || complain "who is where"
rows 1 "$tutti" run -n 2 "$tutti" bench scan -n 2 --sizes 100 --seconds 0 --mode persistent --apart --alloc \
  --json "$work/one.json"
python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["rows"]) == 1' "$work/one.json" # not 43 before it
! grep -q 'of bound' "$work/out" || complain "a link bound on one machine"

# Two machines, pretended, of uneven ranks: what crosses between them is counted and compared with what is needed.
export TUTTI_NODES=3,1
rows 6 "$tutti" run -n 4 "$tutti" bench allreduce allgather all-to-all broadcast gather scan --sizes 1M --seconds 0.05 \
  --rate 1G --nics --json "$work/two.json"
grep -q '^# 4 ranks on 2 machines' "$work/out" || complain "two machines"
python3 - "$work/two.json" <<'PYTHON'
import json, sys
told = json.load(open(sys.argv[1]))
assert told["ranks"] == 4 and told["machine_of_rank"] == [0, 0, 0, 1], told
assert [(m["ranks"], m["host"]) for m in told["machines"]] == [(3, 0), (1, 0)], told["machines"]
needed = {"allreduce": 1, "allgather": 3 / 4, "all-to-all": 3 / 4, "broadcast": 3 / 4, "gather": 3 / 16, "scan": 1}
both = {"allreduce": 2, "allgather": 1, "all-to-all": 3 / 2, "scan": 1}  # directions
for row in told["rows"]:
    name, size = row["collective"], row["bytes"]
    assert abs(row["bound_bytes"] - needed[name] * size) < 1, row
    assert abs(row["bound_ns"] - row["bound_bytes"] * 8 * 2) < 10, row  # 1 Gbit/s, shared by two
    times = row["times"][0]
    assert abs(times["of_bound"] - times["median_ns"] / row["bound_ns"]) < 1e-6, row
    (nic,) = times["nics"]
    assert nic["nic"] == "lo" and abs(nic["sent_bytes"] - nic["received_bytes"]) < size / 100, nic
    if name in both:  # how many roots have had their turn is a matter of time
        assert both[name] * size <= nic["sent_bytes"], (row, both[name] * size)
PYTHON
unset TUTTI_NODES

refuses 1 'the launcher started 2 ranks' "$tutti" run -n 2 "$tutti" bench scan -n 3
refuses 1 'srun started 4 tasks, and each is a job of its own' env SLURM_STEP_NUM_TASKS=4 SLURM_PROCID=0 \
  "$tutti" bench scan --sizes 8
refuses 1 '--against: .* --launch' "$tutti" run -n 2 "$tutti" bench scan --against openmpi
refuses 1 '--launch: a launcher started this process' "$tutti" run -n 2 "$tutti" bench scan --launch 'mpirun -n 2'
refuses 1 '--cores 1: ' "$tutti" run -n 2 "$tutti" bench scan --cores 1
refuses 1 '--overlap ' "$tutti" run -n 2 "$tutti" bench scan --overlap
refuses 2 "unknown collective 'nonsense'" "$tutti" run -n 3 "$tutti" bench nonsense
refuses 1 "json: $work/no/folder: No such file" "$tutti" run -n 2 "$tutti" bench scan --json "$work/no/folder"
refuses 1 '--nics: all of these ranks are on this machine' "$tutti" bench scan -n 2 --nics
refuses 2 "--rate: '12 parsecs' is not a rate" "$tutti" bench scan --rate '12 parsecs'
refuses 2 "--rounds: '0' is not a number" "$tutti" bench scan --rounds 0

# ---- jobs in turn ----

rows 4 "$tutti" bench reduce gather --sizes 8,64K --seconds 0 --rounds 3 --reproducible --launch "$tutti run -n 3" \
  --json "$work/turn.json"
grep -Eq '^gather .* - +- +-  right' "$work/out" || complain "nothing is combined in a gather"
grep -Eq '^reduce +8 .* [0-9.]+\.\.[0-9.]+  right' "$work/out" || complain "an interval"
python3 - "$work/turn.json" <<'PYTHON'
import json, math, sys
told = json.load(open(sys.argv[1]))
assert [library["name"] for library in told["libraries"]] == ["tutti", "reproducible"], told
for row in told["rows"]:
    times = {one["library"]: one for one in row["times"]}
    assert row["rounds"] == 3 and len(times["tutti"]["rounds_ns"]) == 3, row
    if row["collective"] == "reduce":
        own, other = times["tutti"]["rounds_ns"], times["reproducible"]
        ratio = math.exp(sum(math.log(b / a) for a, b in zip(own, other["rounds_ns"])) / 3)
        assert abs(ratio / other["ratio"] - 1) < 1e-6, row
        assert other["ratio_low"] <= ratio <= other["ratio_high"], row
PYTHON

# A launcher is read as a shell would, and may label what its ranks print. Options of the environment reach the ranks.
rows 1 "$tutti" bench allreduce --sizes 1K --seconds 0 --rounds 1 --launch "A='b c' $tutti run --label -n 2 env"
rows 1 "$tutti" bench allreduce --sizes 1K --seconds 0 --rounds 1 --launch "A=$(printf %01100d 0) $tutti run -n 2"
grep -q '^# 2 ranks on 1 machine' "$work/out" || complain "of a long command line the end is missing"
rows 1 "$tutti" bench allreduce --sizes 1K --seconds 0 --rounds 1 --launch "A=$(printf 'x\351') $tutti run -n 2" \
  --json "$work/bytes.json"
python3 - "$work/bytes.json" <<'PYTHON'
import json, sys
told = json.load(open(sys.argv[1]))
assert [library["command"][:4] for library in told["libraries"]] == ["A=x?"], told
assert "cores" not in told, told
PYTHON
TUTTI_NODES=2x1 rows 1 "$tutti" bench allreduce --sizes 1K --seconds 0 --rounds 1 --nics --launch "env -i $tutti run -n 2"
grep -q '^# 2 ranks on 2 machines' "$work/out" || complain "TUTTI_NODES does not reach the ranks"
rows 1 "$tutti" bench allreduce --sizes 1K --seconds 0 --rounds 2 --launch "$tutti run -n 2" \
  --against "tutti:linear=env TUTTI_PARAMS=linear"
grep -q '^# tutti:linear tutti .* env TUTTI_PARAMS=linear$' "$work/out" || complain "a variant"

# Each library's bytes have the names of its own NICs.
rows 1 env -u TUTTI_NICS "$tutti" bench scan --sizes 64K --seconds 0 --rounds 2 --nics --launch "$tutti run -n 2" \
  --against 'tutti:lo=env TUTTI_NICS=lo' --json "$work/nics.json"
grep -q '^#   tutti:lo .*  lo out ' "$work/out" || complain "the NICs of a variant"
python3 - "$work/nics.json" <<'PYTHON'
import json, sys
(row,) = json.load(open(sys.argv[1]))["rows"]
nics = {one["library"]: {nic["nic"] for nic in one["nics"]} for one in row["times"]}
assert nics["tutti:lo"] == {"lo"} and "lo" not in nics["tutti"], row
PYTHON

refuses 2 '-n 2: --launch gives the number of ranks' "$tutti" bench scan -n 2 --launch 'mpirun -n 2'
refuses 2 "openmpi+tutti: it has no launcher" "$tutti" bench scan --launch "$tutti run -n 2" --against openmpi+tutti
refuses 2 "is not LIBRARY:NAME=ARGUMENTS" "$tutti" bench scan --against openmpi:=x
refuses 2 "unknown library 'nompi'" "$tutti" bench scan --against nompi:x=y
refuses 1 'tutti: its job ended before everything was measured: false' "$tutti" bench scan --launch false
refuses 1 'tutti: its job ended before' "$tutti" bench scan --launch 'echo noise; true'
refuses 1 'has 2 ranks and .* 3: give both' "$tutti" bench scan --launch "$tutti run -n 2" \
  --against 'tutti:more=-n 3'

# A library that fails on its way is left out; the others go on, and the exit code tells.
cat >"$work/fails" <<'SCRIPT'
#!/bin/sh
case "$*" in
*,) exit 3 ;; # it has a point to measure
esac
exec "$@"
SCRIPT
chmod +x "$work/fails"
refuses 1 'tutti:ill: its .* ended' "$tutti" bench scan --sizes 8 --seconds 0 --rounds 3 --launch "$tutti run -n 2" \
  --against "tutti:ill=$work/fails"
grep -q '^# tutti:ill is left out from round 1 on' "$work/out" || complain "it does not say who is left out"
grep -Eq '^scan .* - +- +-  right$' "$work/out" || complain "the others do not go on"

# Jobs that begin elsewhere from some round on are no pairs with those before.
cat >"$work/moves" <<SCRIPT
#!/bin/sh
echo >>"$work/jobs"
[ \$(wc -l <"$work/jobs") -gt 2 ] && exec $tutti run -n 3 "\$@"
exec $tutti run -n 2 "\$@"
SCRIPT
chmod +x "$work/moves"
refuses 1 'tutti: its ranks are not where they were at first' "$tutti" bench scan --sizes 8 --seconds 0 --rounds 3 \
  --launch "$work/moves" --json "$work/moved.json"
grep -q '"rounds": 1,' "$work/moved.json" || complain "only round 0 is of 2 ranks"

# Nothing is left behind when it is interrupted, once it has begun: what is there of the run before says nothing.
: >"$work/out"
"$tutti" bench scan --sizes 8 --seconds 600 --launch "$tutti run -n 2 env LEFT_BY=$$" --json "$work/left.json" \
  >"$work/out" 2>"$work/err" &
driver=$!
until grep -q '^collective' "$work/out"; do kill -0 $driver || complain "it has ended"; done
kill -TERM $driver
! wait $driver || complain "an interrupted run is no success"
grep -q 'interrupted' "$work/err" || complain "it does not say so"
grep -q '"result": "not measured"' "$work/left.json" || complain "a row without a time is ok"
! grep -ls "LEFT_BY=$$" /proc/[0-9]*/environ || complain "left behind"

libexec=$TUTTI_BIN/../libexec/tutti
if [ -x "$libexec/peer-openmpi" ] && [ -x "$libexec/peer-mpich" ]; then
  rows 2 "$tutti" bench allreduce broadcast --sizes 1K --op average --seconds 0 --rounds 2 --launch "$tutti run -n 2" \
    --launch-openmpi 'mpirun.openmpi --allow-run-as-root --oversubscribe --bind-to none --mca mpi_yield_when_idle 1 -n 2' \
    --launch-mpich 'mpiexec.mpich -n 2 env BENCH_YIELD=1' --against openmpi,mpich
  grep -q '^# openmpi is not compared: it has no such operator' "$work/out" || complain "what openmpi lacks"
  grep -Eq '^broadcast .* [0-9.]+\.\.[0-9.]+ .* [0-9.]+\.\.[0-9.]+  right$' "$work/out" || complain "both are compared"
fi
