# Every source is formatted as `make format` would.
exec "$TUTTI_SOURCE/scripts/format.sh" --check
