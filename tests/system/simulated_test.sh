# The same algorithm takes the same time in SMPI and as a plan of tutti's that SimGrid plays: the median difference is
# at most 1 %. So docs/simulated.md compares like with like.
set -eu
without() { echo "skipped: built without SimGrid (libsimgrid-dev), or with a sanitizer"; exit 77; }
[ -x "$TUTTI_BIN/../tests/simulated_plans" ] && command -v smpicxx > /dev/null || without
python3 "$TUTTI_SOURCE/scripts/bench_simulated.py" check
