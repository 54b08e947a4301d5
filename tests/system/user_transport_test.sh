# A transport and a boot of a user's own: examples/sockets.c, built against what is installed, runs all collectives, and
# ranks that call different things are told so.
set -eu
. "$TUTTI_SOURCE/tests/support/installed.sh"
build_example sockets

for ranks in 1 2 3 5; do
  timeout 60 "$work/sockets" $ranks | grep -q "^$ranks ranks: all results are right"
done
for params in chain recursive-doubling bruck 'linear channels=2 slice=4K'; do
  TUTTI_PARAMS=$params timeout 60 "$work/sockets" 4 | grep -q 'right'
done
timeout 60 "$work/sockets" 3 mismatch | grep 'call 1: rank . of the job sent data of another call'
