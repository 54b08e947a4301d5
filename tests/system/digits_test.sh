# The main job: 4 ranks learn to read digits, well enough, and come to the same weights in every run.
set -eu
train() { "$TUTTI_BIN/tutti" run -n 4 "$TUTTI_BIN/examples/digits" "$TUTTI_SOURCE/examples/data/digits.csv"; }

first=$(train)
echo "$first"
echo "$first" | awk '/^held-out accuracy/ { found = 1; if ($3 < 95) exit 1 } END { exit !found }'
weights=$(echo "$first" | grep '^weights [0-9a-f]\{16\}, identical on all ranks$')
[ "$(train | grep '^weights')" = "$weights" ]
[ "$(TUTTI_VERIFY=1 train | grep '^weights')" = "$weights" ]
