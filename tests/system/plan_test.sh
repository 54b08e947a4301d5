# `tutti plan`: what it prints, draws and refuses.
set -u
tutti=$TUTTI_BIN/tutti
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# expect TEXT ARGUMENTS...: the output, blanks squeezed, contains TEXT
expect() {
  text=$1
  shift
  "$tutti" plan "$@" 2>&1 | tr -s ' ' | grep -qF -e "$text" && return
  echo "tutti plan $*: expected '$text', got:"
  "$tutti" plan "$@" 2>&1
  failed=1
}

# refuse CODE TEXT ARGUMENTS...: exit code and error text
refuse() {
  code=$1 text=$2
  shift 2
  "$tutti" plan "$@" > "$folder/out" 2> "$folder/error"
  [ $? -eq "$code" ] && grep -qF -e "$text" "$folder/error" && return
  echo "tutti plan $*: expected exit $code and '$text', got:"
  cat "$folder/error"
  failed=1
}

# for programs: the same numbers as in the report
expect '"params": "form=split [core:chain]"' allreduce -n 8 --params ring --json
expect '"rounds": 14' allreduce -n 8 --params ring --json
expect '"messages": 14' allreduce -n 8 --params ring --json
expect '"messages": 7' broadcast -n 100 --root 37 --params binomial --json
expect '"compiled": 16' broadcast -n 5000 --root 37 --params binomial --json
expect '"predicted_ns": 2100.0' broadcast -n 2 --params binomial --json --sizes 1000 --alpha 2us --beta 0.1
expect '"root": 5' broadcast -n 8 --root 5 --nodes 2 --json
refuse 2 "--json is of one preset" allreduce -n 8 --params all --json
refuse 2 "only one of --json, --composition and --text can be printed" allreduce -n 8 --json --composition
refuse 2 "only one of --json, --composition and --rank can be printed" allreduce -n 8 --json --rank 0
refuse 2 "only one of --json, --composition and --text can be printed" allreduce -n 8 --composition --text
refuse 2 "cannot both go to standard output" allreduce -n 8 --json --svg -
refuse 2 "cannot both go to standard output" allreduce -n 8 --dot - --svg -
refuse 2 "--dot draws nothing with --text" allreduce -n 8 --text --dot "$folder/dot"
refuse 2 "--svg draws nothing with --params all" allreduce -n 8 --params all --svg -

# messages, blocks and bytes that each rank sends; then all of them
expect " core 3 3 3 n 24 24 n" allreduce -n 8 --params recursive-doubling
expect " rounds in total: 3" allreduce -n 8 --params recursive-doubling
expect " core 6 14 1.75 n 48 14 n" allreduce -n 8 --params rabenseifner
expect " core 14 14 1.75 n 112 14 n" allreduce -n 8 --params ring
expect " core 4 15 0.9375 n 64 15 n" allgather -n 16 --params bruck
expect " core 0 .. 3 0 .. 3 0 .. 3 n 7 7 n" broadcast -n 8 --root 5 --params binomial
expect " all levels 3 3 0.375 n 24 3 n" allgather -n 8 --nodes 2 --params two-level-ring
expect " all levels 7 7 0.875 n 56 7 n" allgather -n 8 --nodes 2 --params two-level-ring --no-publish
expect " node 4 4 chain rotate - 3" allgather --groups 7,8,3,1 --params two-level-ring
expect " core 1 1 1 n 4 4 n" allreduce -n 4
expect " core 3 3 3 n 12 12 n" allreduce -n 4 --no-publish
expect "0 core cell 1 1024 1" allreduce -n 4 --sizes 1K --by-rank
expect "core published 1 65536 1" allreduce -n 4 --sizes 64K
expect "core lent 1 65536 1" allreduce -n 4 --sizes 64K --alloc
expect "it cannot run: ranks would pass on blocks" gatherv -n 4 --params chain --sizes 1K
expect "only 16 evenly spaced ones" allreduce -n 1000 --params recursive-doubling
expect "for i < 4: R(all, i, block i) in -> out" allreduce -n 4 --params rabenseifner --composition
expect "plan rank 3 of 4 blocks 1 parts 1" allreduce -n 4 --rank 3
expect "claim allreduce ranks 4 blocks 4" allreduce -n 4 --text --params rabenseifner
expect "plan rank 3 of 4 blocks 4 parts 1" allreduce -n 4 --text --params rabenseifner
expect " rabenseifner 6 6 1.75 n" allreduce -n 8 --params all
expect " recursive-doubling 13 13 13 n 6.5 us" barrier -n 8192 --params all
expect " two-level-ring the topology has no level 'node'" allreduce -n 8 --params all
expect " core 13 13 13 n" allreduce --groups "$(seq -s, 2000000000 2000008191):" --params "[core:2-nomial,xor]" --alpha 1us
expect "usage: tutti plan" --help

# modelled times: the literature's for recursive doubling, log2 p (alpha + n (beta + gamma)), and a linear gather
rates="--alpha 1us --beta 0.1 --gamma 0.05"
expect " recursive-doubling 3 3 3 n 3 us* 32.5 us " allreduce -n 8 --params all $rates --sizes 8,64K
expect " linear 1 7 0.875 n 7 us 12.7 us " gather -n 8 --params all --sizes 8,64K $rates
expect " n = 1000 1.1 us" broadcast -n 2 $rates --sizes 1000
expect "node:alpha=5us,beta=0.1,links=2;core:alpha=1us,beta=0.1;gamma=0.05" allreduce -n 4 --nodes 2 $rates --model "node:alpha=5us,links=2"
expect "measured between two ranks of this machine: core:alpha=" allreduce -n 2 --measure
"$tutti" plan allreduce -n 2 --measure --text 2>/dev/null | "$tutti" verify --plan - >/dev/null || {
  echo "--measure --text is no text of plans"
  failed=1
}

# single links and ranks, and several calls: 3 messages of 1000 bytes over NICs of 10 and 5 bytes a ns; ranks that are late;
# a call that has the port first
expect "node.*.1:beta=0.2" broadcast -n 4 --nodes 4 --params linear $rates --model "ports=3;node:links=2;node.*.1:beta=0.2" --sizes 1000
expect " n = 1000 1.2 us" broadcast -n 4 --nodes 4 --params linear $rates --model "ports=3;node:links=2;node.*.1:beta=0.2" --sizes 1000
expect " n = 1000 1.2 us" broadcast -n 2 --nodes 2 $rates --model "node.1:load=50%" --sizes 1000
expect " n = 1000 8.1 us" broadcast -n 2 $rates --model "rank.0:late=7us" --sizes 1000
expect " n = 1000 1.1 us" broadcast -n 2 $rates --sizes 1000 --also "broadcast size=2000"
expect " also 2000 2.3 us broadcast" broadcast -n 2 $rates --sizes 1000 --also "broadcast size=2000"
expect " also 1000 6.1 us broadcast" broadcast -n 2 $rates --sizes 1000 --also "broadcast root=1 at=5us params=[core:star] slice=1K"

# a barrier has no length: its token is not cut, and short beside long calls too
expect " time 3 us" barrier -n 8 --params recursive-doubling --alpha 1us --beta 0 --sizes 16M
expect " also 2.1 us barrier" broadcast -n 2 $rates --sizes 1000 --also "barrier params=recursive-doubling"
expect '"predicted_ns": 1001.0' barrier -n 2 --params recursive-doubling --json --sizes 1M --alpha 1us --beta 1 --gamma 0
refuse 1 "'rank.9223372036854775807' is no place" broadcast -n 4 --model "rank.9223372036854775807:late=5us"
refuse 1 "'node.4' is not there; the last node is 3" broadcast -n 4 --nodes 4 --model "node.4:load=50%"
refuse 1 "'node.0.2' is not there; each node has 1 link" broadcast -n 4 --nodes 4 --model "node.0.2:load=50%"
refuse 1 "'core.0' has no links that ranks share; add core:links=1" broadcast -n 4 --model "core.0:load=50%"
refuse 1 "'late=5' is unknown; links have beta and load" broadcast -n 4 --nodes 2 --model "node.0:late=5"
refuse 1 "too many packets to simulate: 16777216" broadcast -n 2 --sizes 1G --model slot=64
refuse 1 "too many packets to simulate: 16777216" allreduce -n 1 --sizes 1G --model slot=64
refuse 2 "'sing' is not a collective" broadcast -n 4 --also "sing size=1M"
refuse 2 "size=1Q is not a size" broadcast -n 4 --also "broadcast size=1Q"
refuse 2 "root=4 is not a rank below 4" broadcast -n 4 --also "broadcast root=4"
refuse 1 "'nosuch' is neither a preset nor" allreduce -n 4 --params all --also "broadcast params=nosuch"
refuse 1 "the topology has no level 'node'" allreduce -n 4 --params all --also "broadcast params=two-level-binomial"
refuse 2 "'now' is unknown; write size=1M" broadcast -n 4 --also "allreduce now=1us"

# every collective: n, roots, graphs
expect " core 3 12 1.5 n " all-to-all -n 8 --params bruck
expect "n: what one rank has for all, cut into 8 blocks" all-to-all -n 8
expect " core 0 .. 1 0 .. 1 0 .. 0.125 n 7 0.875 n" gather -n 8 --root 3
expect " core 4 4 4 n 64 64 n" neighbor-all-to-all --graph 4x4
expect "neighbor-allgather of 8 ranks, 32 edges" neighbor-allgather --graph 2x4
printf '# a star\n0 1\n0 2\n3 0\n' > "$folder/edges"
expect "neighbor-allgather of 4 ranks, 3 edges" neighbor-allgather --graph "$folder/edges"
expect "for i < 4: R({0 .. i}, i, block 0, ordered) in -> out" scan -n 4 --composition
expect "block 0, ordered) in -> out" allreduce -n 4 --ordered --composition
turns=0
for collective in $("$tutti" plan --help | sed -n '/^collectives: /,/^$/p' | tr -d , | sed 's/^collectives://'); do
  case $collective in neighbor*) ranks="--graph 2x4" ;; *) ranks="-n 8" ;; esac
  expect " linear " "$collective" $ranks --params all
  "$tutti" plan "$collective" $ranks --svg - | grep -q 'class="message l0"' || { echo "$collective: no picture"; failed=1; }
  turns=$((turns + 1))
done
[ $turns = 22 ] || { echo "$turns collectives in the help"; failed=1; }

refuse 2 "allreduce, broadcast, allgather, reduce-scatter, barrier" sing -n 4
refuse 2 "-n N" allreduce
refuse 2 "the limit is 1048576 ranks" allreduce -n 1000000000
refuse 2 "the limit is 65536 ranks" allreduce -n 100000 --params all
refuse 2 "name one preset to print plans as text" allreduce -n 4 --params all --text
refuse 2 "name one preset to print plans as text" allreduce -n 4 --params all --rank 1
refuse 2 "needs --graph" neighbor-allgather -n 4
refuse 2 "does not use a graph" allgather -n 4 --graph 2x2
refuse 2 "--graph 3x3 has 9 ranks, but -n is 8" neighbor-allgather -n 8 --graph 3x3
refuse 2 "--graph 10000x10000: the limit is 1048576 ranks" neighbor-allgather --graph 10000x10000
echo "0 2000000000" > "$folder/far"
refuse 2 "line 1: an edge must be two ranks below 1048576" neighbor-allgather --graph "$folder/far"
refuse 2 "nor a file" neighbor-allgather --graph "$folder/missing"
refuse 2 "cannot read it: Is a directory" neighbor-allgather -n 8 --graph "$folder"
refuse 2 "line 4: rank 3 is not one of 3" neighbor-allgather -n 3 --graph "$folder/edges"
echo "0 x" > "$folder/bad"
refuse 2 "line 1: an edge must be two ranks" neighbor-allgather --graph "$folder/bad"
refuse 2 "'0' is not a size" allreduce -n 4 --sizes 8,0
refuse 2 "more than 8 sizes" allreduce -n 4 --sizes 1,2,3,4,5,6,7,8,9
refuse 1 "model: 'beta=x' has an invalid value" allreduce -n 4 --beta x
refuse 1 "no level 'rack'" allreduce -n 4 --params all --model rack:alpha=1us
refuse 2 "has no root" allreduce -n 4 --root 1
refuse 2 "--root 4 is not a rank below 4" broadcast -n 4 --root 4
refuse 1 "presets: linear" allreduce -n 4 --params fugue
refuse 1 "levels here: core" allreduce -n 4 --params two-level-ring
refuse 1 "it has one, allgather.scatter" broadcast -n 4 --params rabenseifner
refuse 1 "2x3" allreduce -n 4 --groups 2x3
refuse 2 "--groups '2x' is not a group map; write 4x8" allreduce --groups 2x
refuse 2 "--groups '0,1,x:' is not a group map; write 4x8" allreduce --groups 0,1,x:
refuse 2 "--groups 'cyclic:4' does not give the number of ranks; add -n N" allreduce --groups cyclic:4
echo "as it was" > "$folder/large.svg"
refuse 1 "the limit is 64" allreduce -n 65 --svg "$folder/large.svg"
[ "$(cat "$folder/large.svg")" = "as it was" ] || { echo "a picture that is refused destroys the old one"; failed=1; }
refuse 1 "cannot write" allreduce -n 4 --svg "$folder/missing/picture.svg"

"$tutti" plan allreduce -n 8 --params recursive-doubling --svg "$folder/picture.svg" --dot "$folder/graph.dot" > /dev/null || failed=1
[ "$(grep -c 'class="message l' "$folder/picture.svg")" = 24 ] || { echo "the picture has not 24 arrows"; failed=1; }
[ "$(grep -c 'style=bold' "$folder/graph.dot")" = 24 ] || { echo "the graph has not 24 messages"; failed=1; }

# to tutti explain, a map of one node is one machine
"$tutti" explain allreduce 1K -n 4 --json > "$folder/flat" || failed=1
"$tutti" explain allreduce 1K --groups 1x4 --json | cmp - "$folder/flat" || failed=1
# and what is no UTF-8 is JSON all the same
TUTTI_PARAMS=$(printf 'x\351') "$tutti" explain barrier -n 4 --brief --json | grep -q '"chosen": "x?"' || failed=1

# the documentation shows what the command does now
current() {
  picture=docs/pictures/$1.svg
  shift
  "$tutti" plan "$@" --svg "$folder/current.svg" > /dev/null || failed=1
  cmp -s "$folder/current.svg" "$TUTTI_SOURCE/$picture" && return
  echo "$picture is out of date; docs/plan.md has the command that makes it"
  failed=1
}
current ring-allreduce-4 allreduce -n 4 --params ring
current recursive-doubling-8 allreduce -n 8 --params recursive-doubling
current two-level-2x4 allreduce --groups 2x4 --params two-level-ring

"$tutti" plan --help | sed -n '/^presets:/,$ s/^  \([a-z][a-z-]*\) *\([[f].*\)/| `\1` | `\2` |/p' > "$folder/presets"
[ -s "$folder/presets" ] || { echo "tutti plan --help lists no presets"; failed=1; }
while read -r row; do
  grep -qF -e "$row" "$TUTTI_SOURCE/docs/algorithms.md" || { echo "docs/algorithms.md lacks $row"; failed=1; }
done < "$folder/presets"

"$tutti" plan allreduce -n 8 --params rabenseifner | grep -v 'bytes of memory' > "$folder/shown"
sed -n '/^    allreduce of 8 ranks/,/into 8 blocks/p' "$TUTTI_SOURCE/README.md" | sed 's/^    //' |
  diff - "$folder/shown" || { echo "README.md shows another output"; failed=1; }
exit $failed
