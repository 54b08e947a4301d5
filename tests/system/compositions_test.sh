# Compositions of a user's own: examples/compositions.c, built against what is installed, is right on any number of
# ranks, and its pictures are drawn.
set -eu
. "$TUTTI_SOURCE/tests/support/installed.sh"
build_example compositions

for ranks in 1 2 3 4 6 9; do
  timeout 60 "$TUTTI_BIN/tutti" run -n $ranks "$work/compositions" "$work" | grep "right on $ranks ranks"
done
TUTTI_GROUPS=2x3 TUTTI_VERIFY=1 timeout 60 "$TUTTI_BIN/tutti" run -n 6 "$work/compositions" | grep 'right on 6 ranks'
for picture in halves halo push pull; do
  grep -q '</svg>' "$work/$picture.svg"
done
