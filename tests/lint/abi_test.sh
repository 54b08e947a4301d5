# What programs rely on that are built with libtutti.so is what is recorded: `make abi` writes it anew, on purpose. A line
# that is gone or changed breaks programs of before, which takes another soname.
set -eu
record=$TUTTI_SOURCE/tests/lint/abi.txt
python3 "$TUTTI_SOURCE/scripts/abi.py" "$(dirname "$TUTTI_BIN")/lib/libtutti.so" | diff -u "$record" -
sed -n '/@TUTTI_[0-9]*$/p' "$record" | while read -r symbol; do
  grep -qF " $symbol " "$TUTTI_SOURCE/debian/libtutti0.symbols" || { echo "debian/libtutti0.symbols has no $symbol"; exit 1; }
done
