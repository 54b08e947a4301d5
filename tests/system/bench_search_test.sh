# `tutti bench --params search`: candidates are tried, the best are in a table with how much they differ, and what a call
# runs with is marked. Never how long anything took.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tutti=$TUTTI_BIN/tutti

fail() {
  cat "$work/out" "$work/err"
  echo "FAILED: $1"
  exit 1
}

# A table of at most `count` rows, the fastest first, one of them what a call runs with. What is far slower is left out.
table() { # COUNT
  awk -v count="$1" '
    /plans differ/ { rows = 0; best = 0; next }
    $1 == ">" { marked++; sub(/^>/, " ") }
    $1 ~ /^[0-9.]+$/ && $2 ~ /^[0-9.]+$/ {
      if (rows == 0 && $2 != "1.000") exit 1
      if ($1 + 0 < best) exit 1
      best = $1 + 0
      rows++
    }
    END { exit !(rows >= 2 && rows <= count && marked == 1) }' "$work/out" || fail "no table of at most $1 rows with one that runs"
}

search() { # ARGUMENTS...
  "$tutti" "$@" --params search --seconds 0 >"$work/out" 2>"$work/err" || fail "tutti $*"
}

refuses() { # TEXT ARGUMENTS...
  text=$1
  shift
  ! "$tutti" bench "$@" >"$work/out" 2>"$work/err" || fail "tutti bench $* is accepted"
  grep -q -- "$text" "$work/err" || fail "tutti bench $* does not say '$text'"
}

search bench allreduce -n 2 --sizes 64K --limit 12
grep -q '^allreduce 64K: [0-9]* plans differ; 12 tried' "$work/out" || fail "12 of an allreduce's"
table 11

# As ranks of a launcher; more than there are.
search run -n 3 "$tutti" bench scan --sizes 8 --type int64 --op max --limit 1000
tried=$(sed -n 's/^scan 8: \([0-9]*\) plans differ; \([0-9]*\) tried.*/\1 \2/p' "$work/out")
[ "${tried% *}" = "${tried#* }" ] || fail "'$tried': not all were tried"

# All that the space has, as explain lists it.
differ=$("$tutti" explain reduce 1K -n 3 --all --json | python3 -c 'import json, sys
print(len(json.load(sys.stdin)["candidates"]))')
search bench reduce -n 3 --sizes 1K
grep -q "^reduce 1020: $differ plans differ; $differ tried" "$work/out" ||
  grep -q "^reduce 1K: $differ plans differ; $differ tried" "$work/out" || fail "explain has $differ candidates"

# A choice without a plan is nothing to compare with.
TUTTI_PARAMS=ring
export TUTTI_PARAMS
refuses 'scan: the choice: .* does not keep rank order' scan -n 4 --sizes 64 --seconds 0 --params search
unset TUTTI_PARAMS

refuses 'does not work with --against' allreduce -n 2 --params search --against mpich
refuses 'does not work with another --params' allreduce -n 2 --params search --params ring
refuses 'does not work with --json' allreduce -n 2 --params search --json "$work/json"
refuses 'has a graph' neighbor-allgather -n 2 --params search
refuses 'for --params search' allreduce -n 2 --limit 3
