# Installs the packages of ../../deb where nothing but Debian is, uses each of them, and purges them: nothing may be left.
# As root, in a Debian that may be spoilt: scripts/packages.sh starts it there.
set -eu
cd "$(dirname "$0")/../.."
export DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
packages=$(for deb in deb/*.deb; do dpkg-deb -f "$deb" Package; done)
work=$(mktemp -d)
bed=$PWD/tests/cluster/bed.sh
trap '"$bed" down 2>/dev/null || true; rm -rf "$work"' EXIT
fail() {
  echo "$*"
  [ ! -f "$work/out" ] || cat "$work/out"
  exit 1
}
files() { find / -xdev \( -path "$work" -o -path /tmp -o -path /root -o -path /var/cache -o -path /var/log -o -path /run \
  -o -path /var/lib/dpkg -o -path /var/lib/apt \) -prune -o -print | sort; }
add() { apt-get install -q -y --no-install-recommends "$@" >"$work/out" 2>&1 || fail "apt-get install $*"; }
purge() { dpkg --purge $packages >"$work/out" 2>&1 || fail "purge"; }

# expect TEXT COMMAND...: it ends well and prints a line with TEXT
expect() {
  text=$1
  shift
  timeout "${limit:-120}" "$@" >"$work/out" 2>&1 || fail "$*: status $?"
  grep -q "$text" "$work/out" || fail "$*: no '$text'"
}

# What the packages depend on is there before and after; they alone come and go.
printf '#!/bin/sh\nexit 101\n' >/usr/sbin/policy-rc.d # no daemon starts by itself
chmod +x /usr/sbin/policy-rc.d
apt-get update -q >/dev/null
purge
add gcc libc6-dev cmake make python3 python3-numpy openmpi-bin libopenmpi-dev mpich libmpich-dev
add slurmctld slurmd slurm-client munge iproute2 # for the trial of PyTorch
add ./deb/*.deb
purge
files >"$work/before"
add ./deb/*.deb
ln -sfn /usr/share/doc/libtutti-dev/examples examples # where tests look for them

# README's program, as README says it
sed -n '/^```c$/,/^```$/p' README.md | sed '1d;$d' >"$work/hello.c"
cd "$work"
cc hello.c -o hello $(pkg-config --cflags --libs tutti)
expect "rank 3 of 4: the sum of all ranks is 6" tutti run -n 4 ./hello
ldd hello | grep -q 'libtutti.so.0' || fail "hello needs no libtutti.so.0"
cc hello.c -o hello-static $(pkg-config --static --cflags --libs tutti | sed 's/-ltutti/-l:libtutti.a/')
ldd hello-static | grep libtutti && fail "hello-static needs libtutti.so"
expect "rank 3 of 4: the sum of all ranks is 6" tutti run -n 4 ./hello-static

# The same by CMake
cat >CMakeLists.txt <<'EOF'
cmake_minimum_required(VERSION 3.22)
project(hello LANGUAGES C)
find_package(tutti REQUIRED)
foreach(kind shared static)
  add_executable(hello_${kind} hello.c)
  target_link_libraries(hello_${kind} PRIVATE tutti::${kind})
endforeach()
EOF
expect "hello_static" sh -c "cmake -S . -B made && cmake --build made"
expect "rank 3 of 4: the sum of all ranks is 6" tutti run -n 4 made/hello_shared
expect "rank 3 of 4: the sum of all ranks is 6" tutti run -n 4 made/hello_static

# The command
expect "^tutti [0-9]" tutti version
expect "allreduce" tutti bench allreduce -n 2 --sizes 8 --against openmpi,mpich
grep "left out" out && fail "an MPI is left out"
expect "libtutti-heap.so" tutti run --shared-heap -n 1 cat /proc/self/maps
expect "rounds in total: 3" tutti plan allreduce -n 8 --params recursive-doubling
expect "tutti" zcat /usr/share/man/man1/tutti.1.gz

# Python
cat >sum.py <<'EOF'
import numpy, tutti
comm = tutti.world()
total = comm.allreduce(numpy.full(3, comm.rank))
print(f"rank {comm.rank} of {comm.size}: {total.tolist()}, {tutti.plan('allreduce', 8, params='ring').rounds} rounds")
EOF
expect "rank 2 of 3: \[3, 3, 3\], 14 rounds" tutti run -n 3 python3 sum.py
expect "^tutti [0-9]" python3 -m tutti version

# PyTorch: the examples by every launcher, also Slurm's, which has a machine of its own for it
"$bed" up 1 1 0
"$bed" slurm
export SLURM_CONF=/run/tutti-bed/bed/slurm/slurm.conf PYTHONDONTWRITEBYTECODE=1
limit=1800 expect "2 ranks, .*srun" "$bed" exec 0 python3 "$OLDPWD/tests/python/torch_examples_test.py"
cat out
"$bed" down

# MPI programs, also beside another version, in LD_LIBRARY_PATH, which they do not use
mkdir other
echo 'const char *tutti_version(void) { return "0.0.1"; }' >other.c
cc -shared -fPIC -Wl,-soname,libtutti.so.0 other.c -o other/libtutti.so.0
for mpi in openmpi mpich; do
  "mpicc.$mpi" "$OLDPWD/tests/packages/sum.c" -o "sum-$mpi" || fail "mpicc.$mpi"
  for folder in none other; do
    expect "the sum of 2 ranks is 1" env "LD_LIBRARY_PATH=$work/$folder" tutti mpirun --stats --mpi "$mpi" -n 2 "./sum-$mpi"
    grep -Eq 'allreduce .* ([89][0-9]|100)\.[0-9]+%' out || fail "$mpi: calls did not run on tutti"
  done
done
cd - >/dev/null

purge
files >"$work/after"
diff "$work/before" "$work/after" || fail "purge leaves something"
echo "packages were installed, used and purged"
