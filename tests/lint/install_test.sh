# What is installed is enough: a program builds against it with pkg-config and with CMake, shared and static, and runs. The
# loader is told of it where it can be.
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
find_package(tutti REQUIRED) # as another package of the same program may
foreach(kind ${KINDS})
  add_executable(user_${kind} main.c)
  target_link_libraries(user_${kind} PRIVATE tutti::${kind})
endforeach()
EOF

export PKG_CONFIG_PATH="$library/pkgconfig"
cc "$work/main.c" -o "$work/user" $(pkg-config --cflags --libs tutti)
LD_LIBRARY_PATH=$library "$work/user"
cc "$TUTTI_SOURCE/examples/hello.c" -o "$work/hello" $(pkg-config --static --cflags --libs tutti | sed 's/-ltutti/-l:libtutti.a/')
"$work/hello" | grep -q '^rank 0 of 1: the sum of all ranks is 0$'
! ldd "$work/hello" | grep libtutti || exit 1
configure() { cmake -S "$work" -B "$work/$1" -DCMAKE_PREFIX_PATH="$work/tutti" -DKINDS="$2" >"$work/said" 2>&1; }
configure build "tutti;shared;static" || { cat "$work/said"; exit 1; }
cmake --build "$work/build" >/dev/null
"$work/build/user_tutti"
"$work/build/user_shared"
"$work/build/user_static"
PKG_CONFIG_PATH='' PKG_CONFIG_LIBDIR=/nowhere configure bare "tutti;shared" || { cat "$work/said"; exit 1; } # without jansson
cmake --build "$work/bare" >/dev/null
"$work/bare/user_tutti"

# A loader of the test's own: it knows the folder $KNOWN, and leaves $RUN where it is told to look again.
mkdir "$work/sbin"
cat >"$work/sbin/ldconfig" <<'EOF'
#!/bin/sh
case $* in *-N*) echo "$KNOWN: (from a test)" ;; *) : >"$RUN" ;; esac
EOF
chmod +x "$work/sbin/ldconfig"
again() { # KNOWN
  rm -f "$work/run"
  KNOWN=$1 RUN=$work/run PATH=$work/sbin:$PATH cmake --install "$build" --prefix "$work/tutti" >"$work/said"
}
wrong() {
  echo "$1:"
  cat "$work/said"
  exit 1
}
again /nowhere
grep -q "LD_LIBRARY_PATH=$library" "$work/said" && [ ! -e "$work/run" ] || wrong "a folder that is none of the loader's"
again "$library"
if [ "$(id -u)" = 0 ]; then
  [ -e "$work/run" ] || wrong "root does not run ldconfig"
else
  grep -q 'Run ldconfig as root' "$work/said" || wrong "ldconfig is not asked for"
fi
DESTDIR=$work/stage again "$library"
[ -d "$work/stage$library" ] && [ ! -e "$work/run" ] || wrong "DESTDIR"

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

# make install: where root runs it, build/ is still of whoever the tree is.
mkdir "$work/tree" "$work/stub"
cp "$TUTTI_SOURCE/Makefile" "$work/tree"
printf '#!/bin/sh\nmkdir -p build && : >"build/made$1"\n' >"$work/stub/cmake"
chmod +x "$work/stub/cmake"
[ "$(id -u)" != 0 ] || chown 65534 "$work/tree"
user=$(stat -c %u "$work/tree")
make_install() { PATH=$work/stub:$PATH MAKEFLAGS='' make -C "$work/tree" install "PREFIX=$1" >"$work/said" 2>&1; }
make_install "$work/tools" || wrong "make install"
[ -e "$work/tree/build/made--install" ] && [ -z "$(find "$work/tree/build" ! -uid "$user")" ] || wrong "build/ is not of $user"
if make_install "$work/my tools" || ! grep -q "PREFIX has a space" "$work/said"; then wrong "a PREFIX with a space"; fi

# ON means that its lack is an error.
if cmake -S "$TUTTI_SOURCE" -B "$work/on" -DTUTTI_PYTHON=OFF -DTUTTI_TORCH=ON >"$work/said" 2>&1; then wrong "TUTTI_TORCH=ON"; fi
grep -q "TUTTI_TORCH is ON, which needs" "$work/said" || wrong "TUTTI_TORCH=ON"

# Debian's packages have each file.
mkdir -p "$work/debian/tmp"
mv "$work/tutti" "$work/debian/tmp/usr"
cd "$work/debian/tmp"
find usr ! -type d | sort >"$work/files"
for list in "$TUTTI_SOURCE"/debian/*.install; do
  if [ -x "$list" ]; then
    (cd "$work" && "$list") 2>/dev/null || true
  else
    find $(sed 's,/lib/\*,/lib,' "$list") ! -type d
  fi
done | sort -u | comm -13 - "$work/files" >"$work/said"
[ ! -s "$work/said" ] || wrong "these are in none of debian/*.install"
