# Every source is formatted as `make format` would. That leaves comments alone, as some are pictures, so their width is
# looked at here.
cd "$TUTTI_SOURCE" || exit 1
if grep -rnE '^.{121,}$' --include='*.[ch]' --include='*.inc' src include tools bench bindings examples tests; then
  echo "these lines are longer than 120 characters"
  exit 1
fi
exec scripts/format.sh --check
