# The same algorithm takes the same time in SMPI and as a plan of tutti's that SimGrid plays: the median difference is at
# most 1 %. So docs/simulated.md compares like with like.
set -eu
[ -x "$TUTTI_BIN/../tests/simulated_plans" ] || { echo "skipped: built without SimGrid (libsimgrid-dev), or with a sanitizer"; exit 77; }
command -v smpicxx > /dev/null || { echo "skipped: no smpicxx (libsimgrid-dev)"; exit 77; }
python3 "$TUTTI_SOURCE/scripts/bench_simulated.py" check
