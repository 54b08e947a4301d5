# Our simulator says what SimGrid says of the same plans on the same machines, where nothing waits for a link: the median
# difference is at most 10 %. The contended rows are printed beside it. With TUTTI_TEST_LONG=1 up to 1,024 ranks.
set -eu
ranks=64
[ -z "${TUTTI_TEST_LONG:-}" ] || ranks=1024
compare="$TUTTI_BIN/../tests/simgrid_compare"
[ -x "$compare" ] || { echo "skipped: built without SimGrid (libsimgrid-dev), or with a sanitizer"; exit 77; }
"$compare" "$ranks"
