# Ranks of different nodes that call different things are told who called what: of many ranks, of one on each node.
set -eu
. "$TUTTI_SOURCE/tests/cluster/support.sh"
export TUTTI_TIMEOUT=60s
up 4 1 0
start 6 2,2,1,1 mismatch
start 5 1,1,1,1 mismatch
start 2 1,1 mismatch
