# `tutti tune --mpi` writes a row for every task, says who wins as the file does, and measures nothing twice; MPI programs
# go by the file. A job that tutti does not serve is refused.
set -eu
. "$TUTTI_SOURCE/tests/support/mpi.sh"
tutti=$TUTTI_BIN/tutti

[ -z "${before:-}" ] || { echo "the program would need the sanitizer's library before tutti's"; exit 77; }
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

tune() {
  TUTTI_WISDOM=$work/wisdom.json timeout -k 5 240 "$tutti" tune scan barrier broadcast --mpi $mpi -n 2 --busy --sizes 64,8K \
    --budget 100ms --launch "$oversubscribe" "$@" >"$work/output" 2>&1 || { cat "$work/output"; exit 1; }
}

# Programs have an MPICH that never yields (4.0 does not), and so has `tutti tune`: ranks that share a core wait for its
# time slices.
case $mpis in
*mpich*)
  TUTTI_WISDOM=$work/slices.json timeout -k 5 240 taskset -c "$(taskset -cp $$ | sed 's/.*: *//; s/[,-].*//')" "$tutti" \
    tune barrier --mpi mpich -n 2 --busy --budget 100ms >"$work/output" 2>&1 || { cat "$work/output"; exit 1; }
  python3 - "$work/slices.json" <<'END'
import json, sys
row, = json.load(open(sys.argv[1]))["outside"]
assert row["ns"] > 100e3 or row["library"] != "mpich-4.0", row
END
  ;;
esac
export TUNE_YIELD=1

for mpi in $mpis; do
  oversubscribe=
  [ $mpi = mpich ] || oversubscribe=--oversubscribe
  # what is measured beside other programs is not kept
  for core in $(seq "$(nproc)"); do
    while :; do :; done &
    others="${others:-} $!"
  done
  TUTTI_WISDOM=$work/none.json timeout -k 5 240 "$tutti" tune barrier --mpi $mpi -n 2 --budget 100ms \
    --launch "$oversubscribe" >"$work/output" 2>&1
  kill $others
  others=
  grep -q "barrier  .*not kept: others use" "$work/output" && grep -q "1 of 1 tasks not kept" "$work/output" &&
    ! grep -q library "$work/none.json" || { cat "$work/output"; exit 1; }

  # no block is empty
  TUTTI_WISDOM=$work/empty.json timeout -k 5 240 "$tutti" tune broadcast --mpi $mpi -n 2 --busy --sizes 0,8 \
    --budget 100ms --launch "$oversubscribe" >"$work/output" 2>&1 || { cat "$work/output"; exit 1; }

  tune
  python3 - "$work/wisdom.json" "$work/output" $mpi <<'END'
import json, sys
rows = [row for row in json.load(open(sys.argv[1]))["outside"] if row["library"].startswith(sys.argv[3])]
said = [line.split() for line in open(sys.argv[2]) if line.split()[:1] in (["scan"], ["barrier"], ["broadcast"])]
wins = {(row["collective"], row["bytes"]): row["wins"] for row in rows}
asked = [("scan", 64), ("scan", 8192), ("barrier", 8), ("broadcast", 64), ("broadcast", 8192)]
assert set(asked) <= set(wins), rows
for name in ("scan", "broadcast"): # where winners differ, the border is known to a factor of two
    sizes = sorted(size for collective, size in wins if collective == name)
    assert all(high == 2 * low for low, high in zip(sizes, sizes[1:]) if wins[name, low] != wins[name, high]), rows
    assert len(sizes) == 2 or wins[name, 64] != wins[name, 8192], rows
assert len(said) == len(rows), said
bytes_of = lambda text: int(text[:-1]) * 1024 if text.endswith("K") else int(text)
assert {(words[0], bytes_of(words[2])): words[-1] == rows[0]["library"] for words in said} == wins, said
for row in rows:
    assert (row["ranks"], row["nodes"], row["ranks_per_node"]) == (2, 1, 2) and row["ns"] > 0 and row["tutti_ns"] > 0, row
    assert not row["wins"] or row["ns"] < 0.98 * row["tutti_ns"] + 1, row
END
  tune
  grep -q "all of it was measured before" "$work/output" || { cat "$work/output"; exit 1; }
  tune --again
  grep -q "broadcast  *2 " "$work/output" || { cat "$work/output"; exit 1; }
  mpi_build $mpi faster_calls
  TUTTI_WISDOM=$work/wisdom.json mpi_run $mpi 2 "$work/faster_calls-$mpi"

  # without tutti in front, the MPI would be compared with itself
  ! mpi_plain $mpi 2 "$TUTTI_BIN/../libexec/tutti/tune-$mpi" >"$work/output" 2>&1 || { cat "$work/output"; exit 1; }
  grep -q "tutti does not serve this job" "$work/output" || { cat "$work/output"; exit 1; }
done

is=0
"$tutti" tune --mpi lam >"$work/output" 2>&1 || is=$?
[ $is = 2 ] && grep -q "mpi lam: it is neither openmpi nor mpich" "$work/output" || { cat "$work/output"; exit 1; }
