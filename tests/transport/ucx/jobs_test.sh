# Jobs whose ranks are on pretended machines, over ucx: calls give the right data, and TUTTI_FAR is checked.
set -eu
tutti=$TUTTI_BIN/tutti
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export TUTTI_NICS=lo UCX_TLS=tcp,self
export UCX_MEM_EVENTS=n # it would patch the memory functions that the thread sanitizer has patched

# expect STATUS TEXT VARIABLES...: how a job of 4 ranks ends, and a line of what it says
expect() {
  status=$1 text=$2
  shift 2
  is=0
  timeout -k 5 120 env "$@" "$tutti" run -n 4 "$tutti" bench allreduce broadcast all-to-all --sizes 8,64K,1M --seconds 0 \
    >"$work/out" 2>&1 || is=$?
  [ "$is" = "$status" ] && grep -q "$text" "$work/out" && return
  echo "$*: status $is for $status, or no '$text':"
  cat "$work/out"
  exit 1
}

expect 1 "TUTTI_FAR is 'rdma'; it may be tcp or ucx" TUTTI_FAR=rdma
"$tutti" run -n 1 env TUTTI_FAR=ucx "$tutti" bench barrier --seconds 0 >"$work/out" 2>&1 || {
  grep -q "built without UCX" "$work/out" || { cat "$work/out"; exit 1; }
  echo "skipped: tutti was built without UCX"
  exit 77
}
for nodes in 2x2 4x1 3,1; do
  expect 0 "right" TUTTI_FAR=ucx "TUTTI_NODES=$nodes"
  [ "$(grep -c 'right$' "$work/out")" = 9 ] || { cat "$work/out"; exit 1; }
done
