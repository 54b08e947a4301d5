# Installs what was built into a folder of its own, and builds programs against that alone. For tests in sh, which source
# this: $work is the folder, gone afterwards.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$(dirname "$TUTTI_BIN")" --prefix "$work/tutti" >/dev/null
library=$(dirname "$(find "$work/tutti" -name pkgconfig)")
export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"

# Where the library has sanitizers, a program needs them too.
sanitize=$(grep -o '^TUTTI_SANITIZE:.*' "$(dirname "$TUTTI_BIN")/CMakeCache.txt" | cut -d= -f2)

# build_example NAME: examples/NAME.c -> $work/NAME
build_example() {
  cp "$TUTTI_SOURCE/examples/$1.c" "$work"
  cc -std=gnu11 -Wall -Wextra -Werror ${sanitize:+-fsanitize=$sanitize} "$work/$1.c" -o "$work/$1" \
    $(pkg-config --cflags --libs tutti)
}
