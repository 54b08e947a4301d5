# A cable is cut in the middle of a sum of 64 MB: the result is the same to the bit, and once the cable is back it carries
# data again. Times are printed, not judged.
set -eu
. "$TUTTI_SOURCE/tests/cluster/support.sh"
export TUTTI_TIMEOUT=120s
times=3
! is_long || times=20
megabytes=64
enough=4000000 # bytes that say: it carries data

# One line of the job; nothing where it has ended.
answer() {
  said=
  read -r said <&4 || true
  echo "   $1: ${said:-no answer}"
  [ "${said%% *}" = "$2" ] || fail "expected '$2'"
}

sum() { echo sum >&3; }

# Sums until the cable carries data.
await_cable() {
  for _ in $(seq 20); do
    before=$(sent_by 1 eth1)
    sum
    answer "cable is in" right
    [ $(($(sent_by 1 eth1) - before)) -lt $enough ] || return 0
  done
  fail "node 1's eth1 carries nothing, though it has its cable again"
}

# Whether it was in the middle: a whole sum sends 3/2 of the vector, half of that by eth1.
cut() { # TIME
  before=$(sent_by 1 eth1)
  sum
  await_bytes 1 eth1 $enough "$before" 60 || fail "node 1's eth1 carries nothing"
  bed link 1 1 down
  answer "cable $1 is cut" right
  cut_after=$(($(sent_by 1 eth1) - before))
  bed link 1 1 up
  await_cable
  [ $cut_after -lt $((megabytes << 19)) ]
}

# The other ranks' data waits for rank 1, whose window is closed when its cable is cut: what it says then is lost.
late() {
  echo late >&3
  sleep 2
  bed link 1 1 down
  answer "cable of a late rank is cut" right
  bed link 1 1 up
  await_cable
}

# Each calls itself.
separate() {
  ! TUTTI_NICS=lo start 2 1,1 rails 1 /dev/null /dev/null >"$work/separate" 2>&1 || fail "two machines met by loopback"
  grep -q "ranks 0 and 1 are on different machines, but cannot reach each other" "$work/separate" || {
    cat "$work/separate"
    fail "no word of loopback"
  }
}

# The next sum takes twice as long.
slow_down() {
  rate=$((rate / 2))
  for node in 0 1 2 3; do
    bed rate $node 0 ${rate}mbit
    bed rate $node 1 ${rate}mbit
  done
}

rate=400
up 4 2 ${rate}mbit
mkfifo "$work/commands" "$work/answers"
start 4 1,1,1,1 rails $megabytes "$work/commands" "$work/answers" &
job=$!
exec 3>"$work/commands" 4<"$work/answers"
answer "first sum" begun
await_cable
in_time=0
for time in $(seq $((3 * times))); do
  if cut $time; then
    in_time=$((in_time + 1))
  elif [ $rate -gt 50 ]; then
    slow_down
  fi
  [ $in_time -lt $times ] || break
done
late
exec 3>&- 4<&-
wait $job
separate
[ $in_time = $times ] || fail "the cable was cut too late, $((time - in_time)) of $time times"
