# docs/man/tutti.1 says what the commands say of themselves; `make docs` writes it.
python3 "$TUTTI_SOURCE/scripts/gen_manual.py" "$TUTTI_BIN/tutti" | diff -u "$TUTTI_SOURCE/docs/man/tutti.1" -
