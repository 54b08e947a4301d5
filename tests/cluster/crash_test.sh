# Node 1 of 4 is lost while all ranks are in collectives: it crashes, or all its cables are cut, or both at once. All
# other ranks get an error that names one of its ranks. How long that took is printed; more than 30 s is too much.
set -eu
. "$TUTTI_SOURCE/tests/cluster/support.sh"
longest=30

crash() { bed crash 1; }
unplug() { bed links 1 down; }
darken() {
  bed links 1 down
  bed crash 1
}

# Numbers of the ranks that are on node 1, or are not.
ranks_of() { # RANKS TURN is|not
  bed places "$1" "$2" | awk -v here="$3" '($1 == "node1") == (here == "is") { print NR - 1 }'
}

# As many files as there are ranks to say something.
await_words() { # COUNT
  for _ in $(seq 600); do
    [ "$(find "$work/said" -type f -size +0 | wc -l)" -lt "$1" ] || return 0
    sleep 0.1
  done
  fail "only $(find "$work/said" -type f -size +0 | wc -l) of $1 ranks got an error within 60 s"
}

judge() { # RANKS TURN AT WANTED
  names=$(ranks_of "$1" "$2" is | sed 's/.*/rank & of the job/' | paste -sd'|')
  for rank in $(ranks_of "$1" "$2" not); do
    cat "$work/said/$rank"
  done | awk -v at="$3" -v wanted="$4" -v names="$names" -v longest=$longest '
    $2 !~ "^(" wanted ")$" { print "expected " wanted ": " $0; wrong = 1 }
    $0 !~ "(" names ")([^0-9]|$)" { print "expected " names ": " $0; wrong = 1 }
    { took = $1 - at; slowest = took > slowest ? took : slowest; text = $0 }
    END { printf "   %d ranks, the slowest after %.2f s, such as: %s\n", NR, slowest, text
          exit wrong || slowest > longest }' || fail "see above"
}

lose() { # HOW RANKS TURN WANTED [one]: the status of ranks of other nodes; calls on one communicator
  up 4 2 0
  rm -rf "$work/said"
  mkdir "$work/said"
  start "$2" "$3" crash "$work/said" ${5:-} 2>"$work/log" &
  job=$!
  await_bytes 1 eth0 10000000 0 60 || { cat "$work/log"; fail "the job has not begun"; }
  at=$(cut -d' ' -f1 /proc/uptime)
  echo "== $1 node 1"
  $1
  await_words "$(ranks_of "$2" "$3" not | wc -l)"
  wait $job || true # node 1's ranks ended as they had to
  for rank in $(ranks_of "$2" "$3" not); do
    ! grep -q "^rank $rank ended" "$work/log" || { cat "$work/log"; fail "rank $rank, after its error"; }
  done
  judge "$2" "$3" "$at" "$4"
}

turns=2,2,2,2
! is_long || turns="2,2,2,2 1,3,1,2 1,1,1,1 2,2,2,2 1,3,1,2 1,1,1,1 2,2,2,2 1,3,1,2 1,1,1,1"
export TUTTI_TIMEOUT=0
for turn in $turns; do
  lose crash 8 $turn TUTTI_ERR_PEER
done
export TUTTI_TIMEOUT=6s
lose unplug 5 1,2,1,1 'TUTTI_ERR_(PEER|TIMEOUT)' one
! is_long || lose darken 8 2,2,2,2 'TUTTI_ERR_(PEER|TIMEOUT)' one
