#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# in_root.sh VERSION: in a root where nothing of Tulle has been: installs the packages beside it step by step, and builds and runs programs as a user
# would; in the end removes them (scripts/packages).
set -eu
version=$1
cd /try
CMAKE_GENERATOR=Ninja
export CMAKE_GENERATOR

fail() {
    echo "in_root: $*" >&2
    exit 1
}
quietly() {
    "$@" >log 2>&1 || { cat log >&2; fail "$* failed"; }
}
expect() { # WORDS COMMAND...
    wanted=$1
    shift
    printed=$("$@" 2>log) || { cat log >&2; fail "$* failed"; }
    [ "$printed" = "$wanted" ] || fail "$* printed '$printed', expected '$wanted'"
}
install() {
    for package; do quietly dpkg -i /try/"${package}"_*.deb; done
}

echo "in_root: the library and the program alone"
install "libtulle${version%%.*}" tulle-tools
tulle info | grep -q workers || fail "tulle info does not run"
[ ! -e /usr/include/tulle ] || fail "the library brings headers"

echo "in_root: programs of C++, without any face"
install libtulle-dev
quietly cmake -S component -B without -DCOMPONENT=static
if cmake -S component -B without -DCOMPONENT=qthread >log 2>&1; then fail "find_package finds a face that is not installed"; fi
tr -s '\n ' ' ' <log | grep -q "in Debian: the package libtulle-qthread" || { cat log >&2; fail "find_package does not say which package is missing"; }
# shellcheck disable=SC2046
quietly g++ -std=c++20 consumer/main.cpp -o by-pkg-config $(pkg-config --cflags --libs tulle)
expect "$version" ./by-pkg-config

echo "in_root: each face"
install libtulle-qthread libtulle-myth libtulle-tnt libtulle-parmacs
quietly cmake -S consumer -B built -DEXPECTED_VERSION="$version"
quietly cmake --build built
expect "$version" built/shared
expect "$version" built/static
expect 42 built/qthread
expect 42 built/myth
expect "2 places in 2 processes" tulle run -n 2 --no-tags built/places-shared
m4 "$(pkg-config --variable=macros tulle-parmacs)" consumer/parmacs.c.in >parmacs.c
# shellcheck disable=SC2046
quietly g++ -x c -std=c11 parmacs.c -x none -o parmacs $(pkg-config --cflags --libs tulle-parmacs)
expect 42 ./parmacs
printf '#include <tnt.h>\n' >tnt.c
# shellcheck disable=SC2046
quietly gcc -c tnt.c $(pkg-config --cflags tulle-tnt)

echo "in_root: programs of POSIX threads, unchanged"
install tulle-preload
printf '%s\n' '#include <pthread.h>' '#include <stdio.h>' 'static void *f(void *a) { return a; }' \
    'int main(void) { pthread_t t; void *r = 0; pthread_create(&t, 0, f, "42"); pthread_join(t, &r); puts((char *)r); return 0; }' >posix.c
quietly gcc posix.c -o posix -pthread
expect 42 tulle run --pthreads ./posix

echo "in_root: removed, nothing is left"
quietly dpkg -P tulle-tools tulle-preload libtulle-qthread libtulle-myth libtulle-tnt libtulle-parmacs libtulle-dev "libtulle${version%%.*}"
left=$(find /usr /etc -iname '*tulle*' | head -n 5)
[ -z "$left" ] || fail "these are left: $left"
