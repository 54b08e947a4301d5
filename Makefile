# The front door: each line below is a command to remember. CMake and Ninja do the work, in build/.
#
#   make            the command build/bin/tutti, the libraries build/lib, the examples build/bin/examples
#   make run        the main job: installs missing Debian packages, trains a network on 4 ranks, compares with MPI
#   make check      builds, and runs the tests that are quick: what to run between two edits. make check WHAT=shm: all tests
#                   of src/transport/shm; WHAT is a folder, or a regular expression of tests' names
#   make test       all tests, also under sanitizers and with clang; closes with "N passed, N failed, N skipped"
#   make test-long  the same with more cases
#   make test-cluster    those of several nodes (docs/cluster.md) with more cases
#   make test-arm64      those that an emulator of 64-bit ARM can run (docs/arm64.md)
#   make bench      all measurements
#   make install PREFIX=/usr/local
#   make deb        Debian packages, in build/deb; make test-packages tries them in a fresh Debian 12 and 13
#   make format docs clean abi

PREFIX ?= /usr/local
.PHONY: all run check test test-long test-cluster test-arm64 bench install deb test-packages abi format docs deps clean

all: build/build.ninja
	@cmake --build build

build/build.ninja:
	@cmake --preset release || { echo "scripts/deps.sh installs all that is needed"; exit 1; }

deps:
	@scripts/deps.sh

run: deps
	@scripts/run.sh

check: build/build.ninja
	@python3 scripts/test.py --check '$(value WHAT)'

test: deps
	@python3 scripts/test.py

test-long: deps
	@python3 scripts/test.py --long

test-cluster: deps all
	@scripts/deps.sh cluster
	@TUTTI_TEST_LONG=1 ctest --test-dir build -R '^cluster/' --output-on-failure --no-tests=error

test-arm64:
	@scripts/deps.sh arm64
	@scripts/arm64_sysroot.sh
	@python3 scripts/test.py --arm64

bench: deps
	@$(MAKE) --no-print-directory all
	@scripts/bench.sh

# What root leaves in build/ is of whoever the tree is: that user goes on building there.
install:
	$(if $(word 2,$(PREFIX)),$(error PREFIX has a space: "$(PREFIX)"))
	@trap '[ "$$(id -u)" != 0 ] || chown -R --reference=. build/' EXIT; \
	  cmake --preset release -DCMAKE_INSTALL_PREFIX=$(abspath $(PREFIX)) && cmake --build build && cmake --install build

deb:
	@scripts/deps.sh deb
	@scripts/deb.sh

test-packages:
	@scripts/packages.sh bookworm
	@scripts/packages.sh trixie

format:
	@scripts/format.sh

abi: all
	@python3 scripts/abi.py build/lib/libtutti.so --write

docs: all
	@build/bin/gen_environment > docs/environment.md
	@rm -rf docs/pictures/algorithms
	@build/bin/gen_algorithms docs
	@build/bin/gen_types > docs/types.md
	@python3 scripts/gen_manual.py build/bin/tutti > docs/man/tutti.1

clean:
	@rm -rf build
