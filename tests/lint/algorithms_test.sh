# docs/algorithms.md and its pictures say what the tables of collectives and presets say; `make docs` writes them.
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$TUTTI_BIN/gen_algorithms" "$folder" || exit 1
diff -u "$TUTTI_SOURCE/docs/algorithms.md" "$folder/algorithms.md" &&
  diff -r "$TUTTI_SOURCE/docs/pictures/algorithms" "$folder/pictures/algorithms"
