# Compositions of a user's own: examples/compositions.c, built against what is installed, is right on any number of
# ranks, and its pictures are drawn.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$(dirname "$TUTTI_BIN")" --prefix "$work/tutti" >/dev/null
library=$(dirname "$(find "$work/tutti" -name pkgconfig)")
export PKG_CONFIG_PATH="$library/pkgconfig" LD_LIBRARY_PATH="$library"

sanitize=$(grep -o '^TUTTI_SANITIZE:.*' "$(dirname "$TUTTI_BIN")/CMakeCache.txt" | cut -d= -f2)
cp "$TUTTI_SOURCE/examples/compositions.c" "$work"
cc -std=gnu11 -Wall -Wextra -Werror ${sanitize:+-fsanitize=$sanitize} "$work/compositions.c" -o "$work/compositions" \
  $(pkg-config --cflags --libs tutti)

for ranks in 1 2 3 4 6 9; do
  timeout 60 "$TUTTI_BIN/tutti" run -n $ranks "$work/compositions" "$work" | grep "right on $ranks ranks"
done
TUTTI_GROUPS=2x3 TUTTI_VERIFY=1 timeout 60 "$TUTTI_BIN/tutti" run -n 6 "$work/compositions" | grep 'right on 6 ranks'
for picture in halves halo push pull; do
  grep -q '</svg>' "$work/$picture.svg"
done
