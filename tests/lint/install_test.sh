# What is installed is enough: a program builds against it with pkg-config and with CMake, and runs.
set -eu
build=$(dirname "$TUTTI_BIN")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/tutti" >/dev/null
library=$(dirname "$(find "$work/tutti" -name pkgconfig)")

cat >"$work/main.c" <<'EOF'
#include <tutti/tutti.h>
#include <string.h>
int main(void) { return strcmp(tutti_status_name(TUTTI_OK), "TUTTI_OK"); }
EOF
cat >"$work/CMakeLists.txt" <<'EOF'
cmake_minimum_required(VERSION 3.22)
project(user LANGUAGES C)
find_package(tutti 0.1 REQUIRED)
foreach(kind shared static)
  add_executable(user_${kind} main.c)
  target_link_libraries(user_${kind} PRIVATE tutti::${kind})
endforeach()
EOF

export PKG_CONFIG_PATH="$library/pkgconfig"
cc "$work/main.c" -o "$work/user" $(pkg-config --cflags --libs tutti)
LD_LIBRARY_PATH=$library "$work/user"
cmake -S "$work" -B "$work/build" -DCMAKE_PREFIX_PATH="$work/tutti" >/dev/null
cmake --build "$work/build" >/dev/null
"$work/build/user_shared"
"$work/build/user_static"

for interposer in "$build"/lib/libtutti-*.so; do
  [ -f "$interposer" ] || continue
  name=$(basename "$interposer")
  [ -f "$library/$name" ] || { echo "$name is not installed"; exit 1; }
  mpi=${name#libtutti-} mpi=${mpi%.so}
  "$work/tutti/bin/tutti" mpirun --mpi "$mpi" --show true | grep -q "$library/$name" || {
    echo "the installed command does not find $name"
    exit 1
  }
done

[ -f "$work/tutti/share/man/man1/tutti.1" ] || { echo "the manual page is not installed"; exit 1; }
foreign=$(nm -D --defined-only "$library/libtutti.so" | awk '$2 ~ /[A-Z]/ && $3 !~ /^(tutti_|TUTTI_)/ {print $3}')
[ -z "$foreign" ] || { echo "libtutti.so exports other names: $foreign"; exit 1; }
