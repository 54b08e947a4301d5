#!/bin/sh
# Builds the Debian packages in a fresh Debian of one release, and tries them in another that has only what they depend on:
#
#   packages.sh bookworm|trixie [FOLDER]     as root, with network: debootstrap and apt; FOLDER: /var/tmp/tutti-packages-...
#
# FOLDER/build has what packages are built with, FOLDER/use is where they are used; both stay, so that a second run is
# short. packages.sh trixie FOLDER remove takes them away. /proc, /sys and /dev inside are this machine's.
set -eu
cd "$(dirname "$0")/.."
suite=${1:?bookworm or trixie}
folder=$(mkdir -p "${2:-/var/tmp/tutti-packages-$suite}" && cd "${2:-/var/tmp/tutti-packages-$suite}" && pwd)
[ "$(id -u)" = 0 ] || { echo "packages.sh makes a Debian beside this one, which takes root"; exit 1; }

mounts() { # DIR mount|umount
  for name in proc sys dev dev/pts dev/shm; do
    case $2-$(mountpoint -q "$1/$name" && echo there || echo missing)-$name in
    mount-missing-proc) mount -t proc proc "$1/proc" ;;
    mount-missing-sys) mount -t sysfs sysfs "$1/sys" ;;
    mount-missing-*) mount --bind "/$name" "$1/$name" ;;
    esac
  done
  [ "$2" = mount ] || for name in dev/shm dev/pts dev sys proc; do
    ! mountpoint -q "$1/$name" || umount "$1/$name"
  done
}

leave() {
  for name in build use; do
    [ ! -d "$folder/$name" ] || mounts "$folder/$name" umount
  done
}
trap leave EXIT
trap 'exit 1' INT TERM

if [ "${3:-}" = remove ]; then
  leave
  rm -rf --one-file-system "$folder"
  exit 0
fi

make_debian() {
  command -v debootstrap >/dev/null || { apt-get update -q && apt-get install -y -q debootstrap; }
  from=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -1)
  debootstrap --variant=minbase "$suite" "$folder/build" "$from" >"$folder/debootstrap.log"
  rm -f "$folder"/build/var/cache/apt/archives/*.deb
  rm -rf "$folder/use.part"
  cp -a "$folder/build" "$folder/use.part"
  mv "$folder/use.part" "$folder/use"
}
[ -d "$folder/use" ] || make_debian
for name in build use; do
  cp /etc/resolv.conf "$folder/$name/etc/resolv.conf"
  mounts "$folder/$name" mount
done

rm -rf "$folder/build/root/tutti" "$folder/use/root/tutti"
mkdir -p "$folder/build/root/tutti" "$folder/use/root/tutti"
tar -cf - --exclude=./.git --exclude=./build --exclude='./build-*' . | tar -xf - -C "$folder/build/root/tutti"
chroot "$folder/build" sh -c 'apt-get update -q && apt-get install -q -y --no-install-recommends make' >"$folder/apt.log"
chroot "$folder/build" env DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS:-}" make --no-print-directory -C /root/tutti deb \
  >"$folder/build.log" 2>&1 || { tail -50 "$folder/build.log"; exit 1; }
chroot "$folder/build" sh -c 'cd /root/tutti/build/deb && lintian --version && lintian --allow-root --fail-on error *.changes'
mkdir "$folder/use/root/tutti/tests"
cp -r "$folder/build/root/tutti/build/deb" README.md "$folder/use/root/tutti/"
cp -r tests/packages tests/python tests/cluster "$folder/use/root/tutti/tests/"
chroot "$folder/use" sh /root/tutti/tests/packages/use.sh
echo "$suite: packages build, install, run and go"
