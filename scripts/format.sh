#!/bin/sh
# Formats all sources in place; with --check names those that are not formatted. Versions of clang-format differ: 19
# decides, which Debian 12 and 13 both have.
set -eu
cd "$(dirname "$0")/.."
clang_format=$(command -v clang-format-19 || command -v clang-format) || { echo "there is no clang-format"; exit 77; }
case $($clang_format --version) in
*"version 19."*) ;;
*) echo "$clang_format is not version 19"; exit 77 ;;
esac

files=$(find . '(' -path './build*' -o -path './.git' ')' -prune -o '(' -name '*.[ch]' -o -name '*.inc' ')' -print)
[ "${1:-}" = --check ] || exec $clang_format -i $files
exec $clang_format --dry-run --Werror $files
