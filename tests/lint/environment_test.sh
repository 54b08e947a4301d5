# docs/environment.md says what the options table says; `make docs` writes it.
"$TUTTI_BIN/gen_environment" | diff -u "$TUTTI_SOURCE/docs/environment.md" -
