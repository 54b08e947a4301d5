# What tests of a command's words share: a folder $work for files, and expect.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# expect STATUS TEXT COMMAND...: how it ends, and a line of what it says
expect() {
  status=$1 text=$2
  shift 2
  is=0
  timeout -k 5 120 "$@" >"$work/out" 2>&1 || is=$?
  [ "$is" = "$status" ] && grep -q "$text" "$work/out" && return
  echo "$*: status $is for $status, or no '$text':"
  cat "$work/out"
  exit 1
}
