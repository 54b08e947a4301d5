#!/bin/sh
# Installs the Debian packages that building, testing and comparing need; does nothing when they are all there.
# deps.sh cluster: also Slurm, whose daemons no test of one machine needs.
set -eu

build="gcc g++ libc6-dev cmake ninja-build pkg-config python3 libjansson-dev libpmix-dev libhwloc-dev libsodium-dev
libucx-dev"
tests="libcmocka-dev clang clang-format iproute2"
mpi="openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran"
programs="hpcc python3-mpi4py scalapack-mpi-test" # that tests run over the interposer
slurm="slurmctld slurmd slurm-client libpmi2-0 munge"
[ "${1:-}" = cluster ] || slurm=

missing=
for package in $build $tests $mpi $programs $slurm; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || { echo "please install:$missing"; exit 1; }
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
echo "installing with apt:$missing"
$sudo apt-get update -q
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $missing
