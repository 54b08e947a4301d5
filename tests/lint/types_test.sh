# docs/types.md says what the tables of types and operators say; `make docs` writes it.
"$TUTTI_BIN/gen_types" | diff -u "$TUTTI_SOURCE/docs/types.md" -
