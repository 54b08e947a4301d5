# A transport and a boot of a user's own: examples/sockets.c, built against what is installed, runs all collectives, and
# ranks that call different things are told so.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$(dirname "$TUTTI_BIN")" --prefix "$work/tutti" >/dev/null
library=$(dirname "$(find "$work/tutti" -name pkgconfig)")
export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"

# Where the library has sanitizers, the program needs them too.
sanitize=$(grep -o '^TUTTI_SANITIZE:.*' "$(dirname "$TUTTI_BIN")/CMakeCache.txt" | cut -d= -f2)
cp "$TUTTI_SOURCE/examples/sockets.c" "$work"
cc -std=gnu11 -Wall -Wextra -Werror ${sanitize:+-fsanitize=$sanitize} "$work/sockets.c" -o "$work/sockets" \
  $(pkg-config --cflags --libs tutti)

for ranks in 1 2 3 5; do
  timeout 60 "$work/sockets" $ranks | grep -q "^$ranks ranks: all results are right"
done
for params in chain recursive-doubling bruck 'linear channels=2 slice=4K'; do
  TUTTI_PARAMS=$params timeout 60 "$work/sockets" 4 | grep -q 'right'
done
timeout 60 "$work/sockets" 3 mismatch | grep 'call 1: rank . of the job sent data of another call'
