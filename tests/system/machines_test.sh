# What is said of NICs and machines that a user has named wrongly: by a job on all ranks alike, and by `tutti topo`.
set -eu
tutti=$TUTTI_BIN/tutti
. "$TUTTI_SOURCE/tests/support/expect.sh"

job() { # STATUS TEXT VARIABLES...
  status=$1 text=$2
  shift 2
  expect "$status" "$text" env "$@" "$tutti" run -n 4 "$tutti" bench barrier --seconds 0
}

job 1 "TUTTI_NODES: group map '3x3' does not place 4 ranks" TUTTI_NODES=3x3
job 1 "TUTTI_GROUPS: group map 'x' does not place 4 ranks" TUTTI_GROUPS=x
job 1 "no NIC reaches other machines: TUTTI_NICS: no NIC 'nosuch'" TUTTI_NICS=nosuch TUTTI_NODES=2x2
job 0 "right" TUTTI_NICS=nosuch # on one machine nobody needs it

expect 2 "TUTTI_NICS: no NIC 'nosuch'" env TUTTI_NICS=nosuch "$tutti" topo
expect 0 '^lo .* yes$' env TUTTI_NICS=lo "$tutti" topo
expect 2 '^tutti topo: --ranks abc: write 4x8' "$tutti" topo --ranks abc
expect 2 '^tutti topo: --record writes this machine' "$tutti" topo --record "$work/here" --file "$work"
expect 1 'was measured: mpirrun -n 4 (exit code 127)' "$tutti" bench barrier --launch 'mpirrun -n 4'
