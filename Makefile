# SPDX-License-Identifier: Apache-2.0
#
# A thin front for CMake presets and scripts/.
PREFIX ?= /usr/local
JOBS ?= $(shell nproc)
export JOBS

.PHONY: help demo check test nightly bench soak docs install build clean bootstrap

help:
	@echo "make demo      install what is missing, build, and run the example programs on real input (ARGS=--quick: on small input)"
	@echo "make check     build and test what you have changed, with the address sanitizer, and check the sources: for while you work"
	@echo "make test      build with gcc (Release; Debug and address sanitizer) and clang (Debug and thread sanitizer), and run all kinds of tests"
	@echo "make nightly   every preset, all architectures under an emulator, all programs whole, all benchmarks, and soak; takes hours"
	@echo "make bench     run the benchmarks beside the packaged peers and print a table"
	@echo "make soak      run random programs of threads against a model for 10 minutes, 10,000 of places, and 5,000 of coherent memory (ARGS=--help)"
	@echo "make docs      make a site of the guide, the reference and the man pages in build/docs/html (ARGS=\"--bench PAGE...\": with pages of 'tulle bench')"
	@echo "make install   install to PREFIX ($(PREFIX)); DESTDIR is honoured"
	@echo "make build     build what is installed into build/release"
	@echo "make clean     remove build/"
	@echo "Variables: PREFIX, DESTDIR, JOBS ($(JOBS)), ARGS (handed to scripts/demo, scripts/check, scripts/test, scripts/soak, scripts/docs or 'tulle bench')"

bootstrap:
	@scripts/bootstrap

build:
	@scripts/bootstrap demo
	@scripts/build --part product,benchmarks release

demo:
	@scripts/bootstrap demo
	@scripts/build --part tulle_shared,tulle_program,examples release
	@scripts/demo $(ARGS)

check: bootstrap
	@scripts/check $(ARGS)

test: bootstrap
	@scripts/bootstrap cross sparc || echo "make test: tests of SPARC will be skipped" >&2
	@scripts/test $(ARGS)

nightly: bootstrap
	@scripts/nightly

bench: bootstrap
	@scripts/build --part product,benchmarks release
	@build/release/bin/tulle bench $(ARGS)

soak: bootstrap
	@scripts/build --part product,test.soak,test.soak.places,test.soak.coherent release
	@scripts/soak $(ARGS)
	@scripts/soak --places $(ARGS)
	@scripts/soak --coherent $(ARGS)

docs:
	@scripts/bootstrap docs
	@scripts/docs $(ARGS)

install: build
	@cmake --install build/release --prefix "$(PREFIX)"

clean:
	rm -rf build
