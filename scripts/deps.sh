#!/bin/sh
# Installs the Debian packages that building, testing and comparing need; does nothing when they are all there. Of a|b the
# first that is installed or that apt has: releases differ.
# deps.sh cluster: also Slurm, whose daemons no test of one machine needs. deps.sh deb: what `make deb` needs, no more.
# deps.sh arm64: what `make test-arm64` needs on this machine, no more; scripts/arm64_sysroot.sh fetches the rest.
set -eu

build="gcc g++ libc6-dev cmake ninja-build pkg-config python3 libjansson-dev libpmix-dev libhwloc-dev libsodium-dev
libucx-dev libudev-dev libsvm-dev"
tests="libcmocka-dev clang libclang-rt-dev clang-format-19|clang-format iproute2 procps strace libsimgrid-dev
python3-dev python3-numpy libdlpack-dev python3-torch libtorch-dev pybind11-dev mypy"
mpi="openmpi-bin libopenmpi-dev mpich libmpich-dev gfortran"
programs="hpcc python3-mpi4py scalapack-mpi-test" # that tests run over the interposer
slurm="slurmctld slurmd slurm-client libpmi2-0|libpmi2-0t64 munge"
deb="build-essential debhelper dh-python libcmocka-dev libdlpack-dev libmpich-dev libopenmpi-dev lintian python3-dev
python3-torch libtorch-dev pybind11-dev"
arm64="cmake ninja-build pkg-config python3 gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
case "${1:-}" in
cluster) wanted="$build $tests $mpi $programs $slurm" ;;
deb) wanted="$build $deb" ;;
arm64) wanted=$arm64 ;;
*) wanted="$build $tests $mpi $programs" ;;
esac

is_installed() {
  [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null || true)" = installed ]
}

first_of() { # PACKAGE|...; what there is not, apt will say
  for package in $(echo "$1" | tr '|' ' '); do
    if is_installed "$package" || apt-cache show "$package" >/dev/null 2>&1; then break; fi
  done
  echo "$package"
}

missing=
for package in $wanted; do
  is_installed "$(first_of "$package")" || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

command -v apt-get >/dev/null || { echo "please install:$missing"; exit 1; }
sudo=
[ "$(id -u)" = 0 ] || sudo=sudo
$sudo apt-get update -q
packages=
for package in $missing; do
  packages="$packages $(first_of "$package")"
done
echo "installing with apt:$packages"
$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends $packages
