# A transport and a boot of a user's own: examples/sockets.c, built against what is installed, runs all collectives, and
# ranks that call different things are told so.
set -eu
. "$TUTTI_SOURCE/tests/support/installed.sh"
build_example sockets

# Also what comes behind those words is to end well.
right() { # RANKS
  timeout 60 "$work/sockets" $1 >"$work/said" || { cat "$work/said"; exit 1; }
  grep -q "^$1 ranks: all results are right" "$work/said"
}

for ranks in 1 2 3 5; do
  right $ranks
done
for params in chain recursive-doubling bruck 'linear channels=2 slice=4K'; do
  export TUTTI_PARAMS="$params"
  right 4
done
unset TUTTI_PARAMS
timeout 60 "$work/sockets" 3 mismatch | grep 'call 1: rank . of the job sent data of another call'
