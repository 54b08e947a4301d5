#!/bin/sh
# build/arm64-root: the arm64 libraries that tutti needs, beside this machine's own.
#
# apt finds and fetches them with lists and a state of their own, and dpkg unpacks them there without running any of their
# scripts: nothing of this machine changes and nothing of arm64 has to run. They come from where this machine's packages
# come from, which must be a Debian.
set -eu
cd "$(dirname "$0")/.."
packages="libc6-dev linux-libc-dev libjansson-dev libhwloc-dev libsodium-dev libudev-dev libpmix-dev libucx-dev
libcmocka-dev"
dir=$PWD/build/arm64-root
complete=$dir/complete # the packages that are there
if [ -e "$complete" ] && [ "$(cat "$complete")" = "$packages" ]; then exit 0; fi

apt() { # COMMAND ARGUMENT...
  apt-get -o APT::Architecture=arm64 -o APT::Architectures::=arm64 -o Dir::State="$dir/apt/state" \
    -o Dir::State::status="$dir/apt/status" -o Dir::Cache="$dir/apt/cache" -o APT::Sandbox::User= \
    -o Debug::NoLocking=1 -q "$@"
}

rm -rf "$dir"
mkdir -p "$dir/apt/state/lists/partial" "$dir/apt/cache/archives/partial"
: >"$dir/apt/status"
echo "fetching arm64 libraries into $dir"
apt update
apt install -y --no-install-recommends --download-only $packages
# Folders that are links in a Debian, such as /lib: packages of before and after that change meet there.
mkdir -p "$dir/usr/lib" "$dir/usr/bin" "$dir/usr/sbin"
for folder in lib bin sbin; do
  ln -s "usr/$folder" "$dir/$folder"
done
for package in "$dir"/apt/cache/archives/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$dir" --keep-directory-symlink --no-same-owner
done
rm -r "$dir/apt"
echo "$packages" >"$complete"
