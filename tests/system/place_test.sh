# `tutti topo --place`: times by hand, launchers' options, files of hosts, statistics, and what it refuses.
set -u
tutti=$TUTTI_BIN/tutti
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
failed=0

# expect TEXT ARGUMENTS...: the output, blanks squeezed, contains TEXT
expect() {
  text=$1
  shift
  "$tutti" topo --place "$@" 2>&1 | tr -s ' ' | grep -qF -e "$text" && return
  echo "tutti topo --place $*: expected '$text', got:"
  "$tutti" topo --place "$@" 2>&1
  failed=1
}

# refuse TEXT ARGUMENTS...: exit code 2 and the error's text
refuse() {
  text=$1
  shift
  "$tutti" topo "$@" > "$folder/out" 2> "$folder/error"
  [ $? -eq 2 ] && grep -qF -e "$text" "$folder/error" && return
  echo "tutti topo $*: expected exit 2 and '$text', got:"
  cat "$folder/out" "$folder/error"
  failed=1
}

# A ring of 4 ranks on 2 nodes, only NICs take time, 1 ns a byte. In rank order, one hop of each node goes over its NIC: 3
# blocks of 400 bytes. Cyclic, both do.
ring="--params [core:chain] --model alpha=0,beta=0;node:beta=1,links=1"
expect "cyclic, as it is 2.4 us 1.000 --map-by node -ppn 1 --distribution=cyclic cyclic:2" $ring -n 4 --groups cyclic:2 allgather 1600
expect "block 1.2 us 0.500 --map-by slot -ppn 2 --distribution=block 2x2" $ring -n 4 --groups cyclic:2 allgather 1600
expect "'block' is 2.00 times as fast" $ring -n 4 --groups cyclic:2 allgather 1600
expect "No placement is faster" $ring -n 4 --nodes 2 allgather 1600
expect "-f FILE --distribution=block 0,0,0,1:" $ring -n 4 --groups 3,1 allgather 1600
expect "cyclic 1.2 us 1.000 --map-by node -f FILE --distribution=cyclic 0,1,0,0:" $ring -n 4 --groups 3,1 allgather 1600
expect "--map-by node -ppn 1 --distribution=cyclic 0,1,0,1,0:" $ring -n 5 --groups 3,2 allgather 1600

# Ranks 0 and 3, and 1 and 2, are neighbors: neither block nor cyclic brings them together.
printf '0 3\n3 0\n1 2\n2 1\n' > "$folder/pairs"
pairs="--graph $folder/pairs --params [core:star] --model alpha=1us,beta=0;node:alpha=9us"
expect "block, as it is 9 us 1.000" $pairs --nodes 2 neighbor-all-to-all 100
expect "by traffic 1 us 0.111 --map-by seq --hostfile FILE -f FILE --distribution=arbitrary 0,1,1,0:" $pairs --nodes 2 neighbor-all-to-all 100

# Two switches of two nodes, a rank on each node: the ring of nodes a c b d crosses them four times, a b c d twice.
printf 'a s0\nb s0\nc s1\nd s1\n' > "$folder/network"
switches="--file $folder/network --params [core:chain] --model alpha=0,beta=0;switch:beta=1,links=1"
expect "across switches, as it is 2.4 us 1.000 --map-by seq --hostfile FILE -f FILE --distribution=arbitrary" $switches -n 4 --groups 0,2,1,3: allgather 1600
expect "block 1.2 us 0.500" $switches -n 4 --groups 0,2,1,3: --write "$folder/hosts" allgather 1600
[ "$(tr '\n' ' ' < "$folder/hosts")" = "a b c d " ] || { echo "hosts:"; cat "$folder/hosts"; failed=1; }
expect "block, as it is 1.2 us 1.000" $switches -n 4 --nodes 4 allgather 1600
expect "across switches 2.4 us 2.000" $switches -n 4 --nodes 4 allgather 1600

# 100 allgathers of 1600 bytes by 4 ranks, as TUTTI_STATS has them
cat > "$folder/stats" <<'END'
{"tutti": "0.1.0", "ranks": 4, "served": 400, "passed": 4, "alone": 0, "bytes": 640000, "native": 0.99, "off": "",
 "collectives": [
  {"name": "allgather", "ns": 1, "served": 400, "passed": 0, "alone": 0, "bytes": 640000, "native": 1.0,
   "params": [{"calls": 400, "text": "[core:chain]", "media": "slot", "authority": "profile"}], "reasons": []},
  {"name": "neighbor_alltoall", "ns": 1, "served": 4, "passed": 0, "alone": 0, "bytes": 64, "native": 1.0,
   "params": [{"calls": 4, "text": "linear", "media": "slot", "authority": "profile"}], "reasons": []},
  {"name": "bcast", "ns": 1, "served": 0, "passed": 4, "alone": 0, "bytes": 0, "native": 0.0, "params": [], "reasons": []}]}
END
nic="--model alpha=0,beta=0;node:beta=1,links=1"
expect "cyclic, as it is 240 us 1.000" $nic --groups cyclic:2 --stats "$folder/stats" -n 4
expect "block 120 us 0.500" $nic --groups cyclic:2 --stats "$folder/stats" -n 4
expect "left out: neighbor_alltoall (needs --graph), bcast (no call ran on tutti)" $nic --nodes 2 --stats "$folder/stats"
printf '# none\n' > "$folder/none"
expect "left out: neighbor_alltoall (its graph has no edges), bcast" $nic --nodes 2 --stats "$folder/stats" --graph "$folder/none"
sed 's/"bytes": 640000/"bytes": 1e300/' "$folder/stats" > "$folder/endless"
expect "too many packets" $nic,slot=1 --nodes 2 --stats "$folder/endless"
expect "as it is 0 ns 1.000" -n 1 --nodes 1 allreduce

# The shipped profile's parameters, where none are named
expect "block, as it is" -n 16 --nodes 4 allreduce

refuse "the collective is missing" --place -n 4
refuse "unknown collective 'sing'" --place -n 4 sing
refuse "'1Q' is not a size" --place -n 4 --nodes 2 allreduce 1Q
refuse "'2000G' is not a size from 1 to 1024G" --place -n 4 --nodes 2 allreduce 2000G
refuse "one word too many" --place -n 4 --nodes 2 allreduce 1M 2M
refuse "the number of ranks is missing" --place allreduce 1M
refuse "leave single links such as node.0 out" --place -n 4 --nodes 2 --model "node.0:load=50%" allreduce
refuse "use -n 4" --place -n 8 --nodes 2 --stats "$folder/stats"
echo '{}' > "$folder/pairs.json"
refuse "is no file of statistics" --place -n 8 --nodes 2 --stats "$folder/pairs.json"
refuse "rank 4 is on node 4" --place --file "$folder/network" -n 5 --nodes 5 allreduce
expect "none stand for others: nodes, switches or links differ" -n 4096 --nodes 128 --params ring allgather 16M
refuse "5000 ranks; the limit is 4096" --place -n 5000 --nodes 4 allreduce
refuse "go with --place" --nodes 4
exit $failed
