# What tests of several nodes share, which source it: a bed of their own that ends with them. $work is a folder, gone
# afterwards; $programs has what was built of programs/.
here=$TUTTI_SOURCE/tests/cluster
programs=$(dirname "$TUTTI_BIN")/tests
export BED=test$$
work=$(mktemp -d)
trap '"$here/bed.sh" down; rm -rf "$work"' EXIT
trap 'exit 1' HUP INT PIPE TERM

bed() { "$here/bed.sh" "$@"; }

up() { # NODES NICS RATES
  bed down
  bed up "$@" || exit
}

is_long() { [ -n "${TUTTI_TEST_LONG:-}" ]; }

fail() { # TEXT
  echo "FAILED: $1"
  exit 1
}

# Says what it runs; five minutes at most.
start() { # RANKS TURN PROGRAM ARGUMENTS...
  ranks=$1 turn=$2 program=$3
  shift 3
  echo "== $ranks ranks, in turn $turn: $program $*"
  timeout -k 5 300 "$here/bed.sh" start "$ranks" "$turn" "$programs/cluster_$program" "$@"
}

# Bytes that a NIC has sent.
sent_by() { # NODE NIC
  bed bytes "$1" | awk -v nic="$2" '$1 == nic { print $2 }'
}

# Until a NIC has sent so many bytes since `before`; at most so many seconds.
await_bytes() { # NODE NIC BYTES BEFORE SECONDS
  for _ in $(seq $(($5 * 50))); do
    [ $(($(sent_by "$1" "$2") - $4)) -lt "$3" ] || return 0
    sleep 0.01
  done
  return 1
}
