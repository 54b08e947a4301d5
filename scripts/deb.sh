#!/bin/sh
# Debian packages of this tree, built from a copy of it into build/deb. Fetches nothing: deps.sh deb has installed all that
# they are built with. DEB_BUILD_OPTIONS=nocheck builds them without their tests.
set -eu
cd "$(dirname "$0")/.."
name=tutti-$(dpkg-parsechangelog -S Version)
rm -rf build/deb
mkdir -p "build/deb/$name"
tar -cf - --exclude=./.git --exclude=./build --exclude='./build-*' . | tar -xf - -C "build/deb/$name"
(cd "build/deb/$name" && dpkg-buildpackage --no-sign)
rm -rf "build/deb/${name:?}"
ls build/deb
