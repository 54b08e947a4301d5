# Compositions of a user's own: examples/compositions.c, built against what is installed, is right on any number of
# ranks, and its pictures are drawn.
set -eu
. "$TUTTI_SOURCE/tests/support/installed.sh"
build_example compositions

# Also what comes behind those words is to end well.
right() { # RANKS ARGUMENTS...
  ranks=$1
  shift
  timeout 60 "$TUTTI_BIN/tutti" run -n $ranks "$work/compositions" "$@" >"$work/said" || { cat "$work/said"; exit 1; }
  grep "right on $ranks ranks" "$work/said"
}

for ranks in 1 2 3 4 6 9; do
  right $ranks "$work"
done
export TUTTI_GROUPS=2x3 TUTTI_VERIFY=1
right 6
for picture in halves halo push pull; do
  grep -q '</svg>' "$work/$picture.svg"
done
