# `tutti bench` measures every collective, with presets, types and other libraries, checks the data, and writes JSON that
# says the same.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bench="$TUTTI_BIN/tutti bench"

# Runs a benchmark of so many rows, or some, all of them right; its output is in $work/out.
rows() {
  count=$1
  shift
  $bench "$@" --seconds 0 >"$work/out" || { cat "$work/out"; echo "failed: tutti bench $*"; exit 1; }
  right=$(grep -c 'right$' "$work/out")
  [ "$right" = "$count" ] || [ "$count" = some ] || { cat "$work/out"; echo "$right rows are right, not $count: tutti bench $*"; exit 1; }
}

# Says `text` on stderr and ends with `code`.
refuses() {
  code=$1 text=$2
  shift 2
  set +e
  $bench "$@" >"$work/out" 2>"$work/err"
  got=$?
  set -e
  grep -q "$text" "$work/err" && [ "$got" = "$code" ] && return
  cat "$work/out" "$work/err"
  echo "code $got, not $code with '$text': tutti bench $*"
  exit 1
}

rows 43 all -n 3 --sizes 8,64K --json "$work/all.json"
cat "$work/out"
grep -q '^# flags  .* takes [0-9.]* us' "$work/out"
python3 - "$work/all.json" <<'PYTHON'
import json, sys
told = json.load(open(sys.argv[1]))
rows = {(row["collective"], row["bytes"]): row for row in told["rows"]}
assert told["ranks"] == 3 and told["cores"] > 0, told
assert told["type"] == "float32" and told["op"] == "sum" and told["flags_ns"] > 0, told
assert len({name for name, size in rows}) == 22, rows.keys()
for (name, size), row in rows.items():
    assert row["result"] == "ok", row
    assert (row["copy_ns"] > 0) == (name != "barrier"), row
    assert row["times"][0]["library"] == "tutti" and row["times"][0]["median_ns"] > 0, row
    assert row["times"][0]["p99_ns"] >= row["times"][0]["median_ns"], row
    assert row["times"][0]["media"] and row["times"][0]["ran"], row
assert rows["allreduce", 8]["times"][0]["media"] == "cell", rows["allreduce", 8]
PYTHON
grep -Eq '^allreduce +8 cell ' "$work/out"

rows some allreduce -n 2 --sizes 8 --params all
for preset in linear chain ring binomial bruck recursive-doubling rabenseifner two-level-ring two-level-halving; do
  grep -q "$preset .*right$" "$work/out"
done

rows 22 all -n 4 --sizes 1000 --mode persistent --alloc
grep -q ', persistent calls, ' "$work/out"
rows 22 all -n 1 --sizes 100
rows 3 all-to-all all-to-allv all-to-allw -n 5 --sizes 20 --per-pair --sparse --apart
[ "$(grep -c '^all-to-all.* 20 ' "$work/out")" = 3 ]
for arithmetic in "float64 product" "bfloat16 average" "float16 sum" "int8 bit-xor" "uint16 max" "bool logical-and" \
  "long-double-complex sum" "byte bit-or" "int16-int32 min-loc" "long-double-int32 max-loc"; do
  set -- $arithmetic
  rows 4 allreduce exscan reduce-scatterv all-to-allw -n 3 --sizes 5000 --type "$1" --op "$2"
  grep -q "^# 3 ranks .*, $1, $2," "$work/out"
done

rows 2 scan -n 2 --sizes 64K --overlap --json "$work/overlap.json"
grep -q '^scan .* tutti  *31 .*%  right' "$work/out"
grep -q '"hidden": ' "$work/overlap.json"
rows 2 reduce gather -n 3 --sizes 64K --reproducible
grep -Eq '^gather .* - +-  right' "$work/out" # nothing is combined
grep -Eq '^reduce +geometric mean +reproducible +[0-9]' "$work/out"

rows 22 all -n 3 --sizes 1000 --delay 10 --apart --json "$work/delay.json"
grep -q '^# calls of tutti are delayed by 10 %' "$work/out"
grep -q '"delay": 0.1' "$work/delay.json"
$TUTTI_BIN/tutti run -n 2 $bench gather --sizes 8,64K --seconds 0 --delay 50 >"$work/out"
[ "$(grep -c 'right$' "$work/out")" = 2 ]
refuses 2 "delay: 'ten' is not a percentage" scan --delay ten
refuses 2 "delay: '0' is not a percentage" scan --delay 0
refuses 2 "delay does not work with --overlap" scan --delay 10 --overlap
refuses 2 "mode persistent does not work with --overlap" scan --mode persistent --overlap

refuses 2 "unknown collective 'nonsense'" nonsense
refuses 2 "unknown type 'float31'" scan --type float31
refuses 2 "op sum does not combine elements of --type byte" scan --type byte
refuses 2 "^tutti bench: unrecognized option" scan --nonsense
for params in nope 'linear slice=x' '[core:9-star'; do
  refuses 2 "^tutti bench: --params: .*'" scan -n 2 --sizes 8 --params linear --params "$params"
  [ ! -s "$work/out" ] || { cat "$work/out"; echo "a header before the error of --params $params"; exit 1; }
done
refuses 1 "json: $work/no/folder: No such file" scan --json "$work/no/folder"
[ ! -s "$work/out" ] # before anything was measured
refuses 1 "json: /dev/full: No space left" scan -n 2 --sizes 8 --seconds 0 --json /dev/full
cp "$work/all.json" "$work/again.json"
refuses 1 "rate: all of these ranks are on this machine" scan -n 2 --rate 1G --json "$work/again.json"
cmp "$work/all.json" "$work/again.json" # until there is something in its place
rows 1 scan -n 2 --sizes 8 --json "$work/again.json"
python3 -c 'import json, sys; assert len(json.load(open(sys.argv[1]))["rows"]) == 1' "$work/again.json"

# Each rank takes two descriptors of the driver's.
(ulimit -Sn 48 && rows 1 barrier -n 24) || exit 1
(ulimit -n 48 && refuses 1 '24 ranks .* need 80 descriptors here, the limit is 48 (ulimit -Hn)' barrier -n 24) || exit 1

libexec=$TUTTI_BIN/../libexec/tutti
if [ -x "$libexec/peer-openmpi" ] && [ -x "$libexec/peer-mpich" ]; then
  rows 22 all -n 2 --sizes 1000 --against openmpi,mpich
  rows 2 allreduce broadcast -n 2 --sizes 1000 --op average --against openmpi
  grep -q '^# openmpi is not compared: it has no such operator (float32, average)' "$work/out"
  grep -Eq '^broadcast .* [0-9.]+  right$' "$work/out"
  rows 4 reduce -n 2 --sizes 1000 --overlap --against mpich
  rows 1 reduce -n 2 --sizes 1000 --mode persistent --against mpich
  grep -q ', persistent calls of tutti, blocking ones of the others' "$work/out"
fi
