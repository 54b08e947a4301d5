# `tutti verify --plan`: what `tutti plan --text` prints is proven, and what is wrong in it is said.
set -u
tutti=$TUTTI_BIN/tutti
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# proven TEXT ARGUMENTS OF tutti plan...
proven() {
  text=$1
  shift
  found=$("$tutti" plan "$@" --text 2>&1 | "$tutti" verify --plan - 2>&1)
  [ $? -eq 0 ] && [ "$found" = "proven: $text" ] && return
  echo "tutti plan $* --text | tutti verify --plan -: expected 'proven: $text', got: $found"
  failed=1
}

# verdict CODE TEXT FILE: exit code, and what is printed contains TEXT
verdict() {
  found=$("$tutti" verify --plan "$3" 2>&1)
  code=$?
  [ $code -eq "$1" ] && case $found in *"$2"*) true ;; *) false ;; esac && return
  echo "tutti verify --plan $3: expected exit $1 and '$2', got exit $code and '$found'"
  failed=1
}

# changed CODE TEXT SED: of the plans in $folder/ring, changed
changed() {
  sed "$3" "$folder/ring" > "$folder/changed"
  cmp -s "$folder/ring" "$folder/changed" && { echo "'$3' changes nothing"; failed=1; }
  verdict "$1" "$2" "$folder/changed"
}

proven "allreduce on 4 ranks, 16 steps, 8 messages" allreduce -n 4 --params recursive-doubling
proven "allreduce on 3 ranks, in place, 24 steps, 12 messages" allreduce -n 3 --params ring --in-place
proven "broadcast on 5 ranks, root 3, 9 steps, 4 messages" broadcast -n 5 --root 3 --params binomial
proven "scan on 4 ranks, ordered, 12 steps, 5 messages" scan -n 4 --params scan --ordered
proven "reduce on 4 ranks, root 0, reproducible, 6 steps, 3 messages" reduce -n 4 --params "binomial reproducible"
proven "neighbor-all-to-all on 4 ranks, 16 edges, 32 steps, 8 messages" neighbor-all-to-all --graph 2x2
proven "allgather on 3 ranks, 12 steps, 3 messages" allgather -n 3
proven "barrier on 1 rank, 1 step, 0 messages" barrier -n 1

# every collective, with what fits it
turns=0
for collective in $("$tutti" plan --help | sed -n '/^collectives: /,/^$/p' | tr -d , | sed 's/^collectives://'); do
  case $collective in neighbor*) ranks="--graph 2x4" ;; *) ranks="-n 8" ;; esac
  count=0
  for params in linear ring bruck rabenseifner binomial two-level-ring ordered-doubling scan "linear reproducible"; do
    "$tutti" plan "$collective" $ranks --nodes 2 --params "$params" --text > "$folder/text" 2> "$folder/error" || continue
    verdict 0 "proven: $collective on 8 ranks" "$folder/text"
    count=$((count + 1))
  done
  [ $count -ge 2 ] || { echo "$collective: only $count presets make plans"; failed=1; }
  turns=$((turns + 1))
done
[ $turns = 22 ] || { echo "$turns collectives in the help"; failed=1; }

# a wait dropped, another place, a receive and a send that are not there, another claim: rank, lane, step and reason
"$tutti" plan allreduce -n 3 --params ring --in-place --text > "$folder/ring"
verdict 0 "proven: allreduce" "$folder/ring"
changed 1 "refused: allreduce: rank 0 lane 1 step 1 (reduce <-1 b0): race: it writes what another step reads without waiting: rank 0 lane 0 step 2 (send ->1 b0)" \
  '8s/ wait 1.1//'
changed 1 "refused: allreduce: rank 0 lane 0 step 1 (send ->2 b2): it reads what was never written" '11s/tmp.0/out.2/'
changed 1 "refused: allreduce: rank 2 lane 0 step 3 (send ->0 b1): rank 0 never receives it" '14d'
changed 1 "refused: allreduce: rank 1 lane 1 step 3 (recv <-0 b2): rank 0 sends nothing (more) in lane id 0" '9d'
changed 1 "refused: rank 0 lane 1 step 3: it waits for an invalid step" '14s/wait 0.0/wait 0.9/'
changed 1 "refused: scan: " '2s/allreduce/scan/'
changed 1 "which is not rank order" '2s/$/ ordered/'

# no such text: the line; ranks that are missing; nothing to prove
changed 2 "line 6: expected 'send, recv, reduce or copy' at 'sing ->2" '6s/send/sing/'
changed 2 "line 2: expected 'a number from 1 to 1048576' at '999999999999 " '2s/ranks 3/ranks 999999999999/'
changed 2 "too large to prove: it would take 16 GiB" '3s/tmp 1/tmp 4294967295/'
changed 2 "'gossip' has no meaning to verify" '2s/allreduce/gossip/'
changed 2 "the plans of ranks 1 of 3 are missing" '15,26d'
"$tutti" plan allreduce -n 8 --rank 3 > "$folder/alone"
verdict 2 "alone: plan text, line 1: expected 'plans 1', then a claim; the plans of ranks 0 to 2, 4 to 7 of 8 are missing" "$folder/alone"
: > "$folder/empty"
verdict 2 "line 1: expected 'plans 1' at ''" "$folder/empty"
verdict 2 "nowhere: cannot read it: No such file or directory" "$folder/nowhere"
verdict 2 "cannot read it: Is a directory" "$folder"
verdict 2 "more than 256 MiB of text" /dev/zero
for number in "" 4611686018427387904; do
  "$tutti" verify --max-ranks 0 --random "$number" > /dev/null 2> "$folder/error"
  [ $? -eq 2 ] && grep -q "unknown argument" "$folder/error" || { echo "--random '$number' runs nothing and succeeds"; failed=1; }
done
"$tutti" verify --max-ranks 65 > /dev/null 2> "$folder/error"
[ $? -eq 2 ] && grep -q "unknown argument '65'" "$folder/error" || { echo "--max-ranks 65 proves 64 and succeeds"; failed=1; }
"$tutti" verify --max-ranks 2 --random 1 | grep -q '^every form x [0-9]* presets x 1..2 ranks x roots' || {
  echo "the header has more ranks than the table"
  failed=1
}
"$tutti" verify --max-ranks 0 --random 1 | grep -q '^every form' && { echo "a header without its grid"; failed=1; }

"$tutti" verify --plan "$folder/ring" --seed 1 > /dev/null 2> "$folder/error"
[ $? -eq 2 ] && grep -q "excludes other options" "$folder/error" || { echo "--plan and --seed together"; failed=1; }
"$tutti" plan allreduce -n 4 --text --rank 2 | head -n 1 | grep -q '^plan rank 2 of 4 ' || { echo "--text --rank 2"; failed=1; }

# the documentation shows what the commands print now
"$tutti" plan broadcast -n 2 --text > "$folder/shown"
sed -n '/^    plans 1$/,/^$/ { /^$/d; s/^    //; p }' "$TUTTI_SOURCE/docs/plan.md" | diff - "$folder/shown" ||
  { echo "docs/plan.md shows another text"; failed=1; }
"$tutti" plan allreduce -n 4 --params recursive-doubling --text > "$folder/plans"
for line in "$("$tutti" verify --plan "$folder/plans")" \
  "$(sed '0,/ wait 1.0/s///' "$folder/plans" | "$tutti" verify --plan -)"; do
  grep -qxF -e "        $line" "$TUTTI_SOURCE/docs/verifier.md" || { echo "docs/verifier.md does not show: $line"; failed=1; }
done
exit $failed
