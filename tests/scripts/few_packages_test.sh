#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# few_packages_test.sh PROJECT: where only the packages of `scripts/bootstrap demo` are, what `make demo` and `make install` build can be
# configured, and it is said that the tests are left out. A build of nothing but tests fails there.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "few_packages_test: $*" >&2
    tail -n 20 "$work/log" >&2
    exit 1
}

hidden=""
for package in GTest TBB Boost OpenMP; do hidden="$hidden -DCMAKE_DISABLE_FIND_PACKAGE_$package=ON"; done
cmake -S "$1" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DTULLE_BUILD_MPI=OFF $hidden >"$work/log" 2>&1 || fail "configuring needs more than these"
grep -q "no GoogleTest: tests are left out" "$work/log" || fail "nothing says that the tests are left out"
cmake --build "$work/build" --target help >"$work/targets"
for target in product tulle_shared tulle_program examples benchmarks; do
    grep -qw "$target" "$work/targets" || fail "there is no target $target"
done
! ctest --test-dir "$work/build" --no-tests=error >"$work/log" 2>&1 || fail "ctest takes no tests for passed ones"
grep -q 'ctest .*--no-tests=error' "$1/scripts/test" || fail "scripts/test takes no tests for passed ones"
