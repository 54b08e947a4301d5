# What `tutti topo` says of each recorded machine and network of tests/topologies is what tests/golden/topo has; with
# --write it is written there. Pictures of all of them are well-formed.
set -eu
recorded=$TUTTI_SOURCE/tests/topologies
golden=$TUTTI_SOURCE/tests/golden/topo
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 wrong=0

grep -v '^#' "$recorded/LIST" >"$work/list"
while read -r name map why; do
  [ -n "$why" ] || { echo "$name: tests/topologies/LIST does not say why it is odd"; wrong=1; }
  ranks=
  case $map in cyclic:*) ranks="-n 16" ;; esac
  "$TUTTI_BIN/tutti" topo --file "$recorded/$name" --ranks "$map" $ranks --svg "$work/$name.svg" >"$work/$name"
  [ "${1:-}" != --write ] || cp "$work/$name" "$golden/$name"
  diff -u "$golden/$name" "$work/$name" || wrong=1
  count=$((count + 1))
done <"$work/list"

for path in "$recorded"/*; do
  name=$(basename "$path")
  [ "$name" = LIST ] || grep -q "^$name " "$work/list" || { echo "tests/topologies/$name is not in LIST"; wrong=1; }
done
python3 -c 'import sys, xml.dom.minidom as dom; [dom.parse(name) for name in sys.argv[1:]]' "$work"/*.svg || wrong=1
echo "$count topologies"
[ "$count" -gt 0 ] && exit $wrong
