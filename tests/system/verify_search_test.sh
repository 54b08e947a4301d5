# `tutti verify --search`: all plans that a call could run with are proven, and wrong arguments are refused.
set -u
tutti=$TUTTI_BIN/tutti
failed=0

# proven TEXT LEAST ARGUMENTS...: at least so many plans
proven() {
  text=$1 least=$2
  shift 2
  found=$("$tutti" verify --search "$@" 2>&1)
  code=$?
  plans=$(echo "$found" | sed -n 's/.*; \([0-9]*\) proven, 0 failed$/\1/p')
  [ $code -eq 0 ] && [ "${plans:-0}" -ge "$least" ] && case $found in "$text: "*) true ;; *) false ;; esac && return
  echo "tutti verify --search $*: expected '$text' and $least plans or more, got exit $code and '$found'"
  failed=1
}

refused() { # TEXT ARGUMENTS...
  text=$1
  shift
  found=$("$tutti" verify --search "$@" 2>&1)
  code=$?
  [ $code -eq 2 ] && case $found in *"$text"*) true ;; *) false ;; esac && return
  echo "tutti verify --search $*: expected exit 2 and '$text', got exit $code and '$found'"
  failed=1
}

proven "allreduce, 4 ranks" 100 allreduce -n 4
proven "broadcast, 6 ranks" 100 broadcast -n 6 --root 2 --in-place
proven "scan, 6 ranks" 20 scan --groups 3,1,2
proven "reduce, 4 ranks" 20 reduce -n 4 --nodes 2 --ordered --root 3
proven "all-to-allv, 5 ranks" 1 all-to-allv -n 5
proven "neighbor-allgather, 9 ranks" 20 neighbor-allgather --graph 3x3
proven "barrier, 1 ranks" 1 barrier -n 1

# Without memory nothing is proven, and nothing is wrong. Sanitizers need more for themselves.
little() {
  (ulimit -v 40000 && "$tutti" "$@" 2>&1)
}
if little --version > /dev/null; then
  found=$(little verify --search all-to-allv -n 96)
  code=$?
  case "$code $found" in *FAILED*) false ;; "2 "*"no memory"*) true ;; *) false ;; esac || {
    echo "--search without memory: expected exit 2, got exit $code and '$found'"
    failed=1
  }
  little verify --max-ranks 0 --random 1000 > /dev/null
  code=$?
  [ $code -eq 2 ] || { echo "random cases without memory: expected exit 2, got exit $code"; failed=1; }
fi

refused "unknown collective 'nothing'" nothing -n 4
refused "the number of ranks is missing" scan
refused "the limit is 256 ranks" scan -n 1000
refused "--root 4 is not a rank below 4" reduce -n 4 --root 4
exit $failed
