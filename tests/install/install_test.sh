#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# install_test.sh BUILD WORK COMPILER LIBDIR VERSION [FLAVOUR=MPIRUN...]: what is installed from BUILD can be found, linked and run by
# find_package(tulle) and by pkg-config, shared and static, also after the installed tree has been moved; alone, and as places of each MPI.
set -eu
build=$1 work=$2 compiler=$3 libdir=$4 version=$5
shift 5
consumer=$(cd "$(dirname "$0")/consumer" && pwd)
scripts=$(cd "$(dirname "$0")/../../scripts" && pwd)
two_hosts=$scripts/two-hosts

fail() {
    echo "install_test: $*" >&2
    exit 1
}

expect_version() {
    printed=$("$@") || fail "$* failed"
    [ "$printed" = "$version" ] || fail "$* printed '$printed', expected '$version'"
}

rm -rf "$work"
mkdir -p "$work"
cmake --install "$build" --prefix "$work/first" >"$work/install.log"
mv "$work/first" "$work/prefix"
prefix=$work/prefix

[ -f "$prefix/include/tulle/version.hpp" ] || fail "the headers are not installed"
[ -n "$(find "$prefix" -name tulle_thread_join.3)" ] || fail "the man page of tulle_thread_join is not installed"
[ -n "$(find "$prefix" -name tulle-c++.1)" ] || fail "the man page of tulle c++ is not installed"
for plugin in "$build"/lib/libtulle-mpi-*.so; do
    [ ! -f "$plugin" ] || [ -f "$prefix/$libdir/${plugin##*/}" ] || fail "${plugin##*/} is not installed"
done
[ -f "$prefix/share/tulle/tulle-gdb.py" ] || fail "the script for gdb is not installed"
[ -f "$prefix/share/gdb/auto-load$work/first/$libdir/libtulle.so.$version-gdb.py" ] || fail "gdb will not find its script by itself"
if grep -rqs "$build\|$work/first" "$prefix/$libdir/cmake" "$prefix/$libdir/pkgconfig" "$prefix/$libdir/tulle"; then
    fail "an installed file names the folder that it was built in"
fi

if grep -h 'file(INSTALL.*TYPE EXECUTABLE' "$build"/bench/cmake_install.cmake | grep -v OPTIONAL; then
    fail "what has been built without benchmarks (the target product) cannot be installed"
fi

echo "install_test: find_package"
cmake -S "$consumer" -B "$work/cmake" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" -DEXPECTED_VERSION="$version" \
    >"$work/configure.log"
cmake --build "$work/cmake" >"$work/build.log"
expect_version "$work/cmake/shared"
expect_version "$work/cmake/static"
# Whichever of the two is used, only one of them needs the shared library.
ldd "$work/cmake/shared" | grep -q libtulle || fail "the program that links tulle::tulle does not load libtulle"
if ldd "$work/cmake/static" | grep -q libtulle; then fail "the program that links tulle::tulle_static loads libtulle"; fi

refused_component() { # COMPONENT EXPECTED
    if cmake -S "$consumer/../component" -B "$work/component" -DCMAKE_PREFIX_PATH="$prefix" -DCOMPONENT="$1" >"$work/component.log" 2>&1; then
        fail "find_package finds a component $1"
    fi
    tr -s '\n ' ' ' <"$work/component.log" | grep -q "$2" || fail "find_package does not say '$2': $(cat "$work/component.log")"
}
refused_component nonsense "it has no component 'nonsense'; there are static, qthread, tnt, myth, parmacs"
mv "$prefix/$libdir/cmake/tulle/tulle-myth-targets.cmake" "$work/kept"
refused_component myth "its component 'myth' is not installed (in Debian: the package libtulle-myth)"
mv "$work/kept" "$prefix/$libdir/cmake/tulle/tulle-myth-targets.cmake"

echo "install_test: pkg-config"
PKG_CONFIG_PATH=$prefix/$libdir/pkgconfig
export PKG_CONFIG_PATH
[ "$(pkg-config --modversion tulle)" = "$version" ] || fail "pkg-config reports another version"
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$consumer/main.cpp" -o "$work/by-pkg-config" $(pkg-config --cflags --libs tulle)
LD_LIBRARY_PATH=$prefix/$libdir expect_version "$work/by-pkg-config"
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$consumer/main.cpp" -o "$work/by-pkg-config-static" $(pkg-config --cflags tulle) \
    "$prefix/$libdir/libtulle.a" $(pkg-config --static --libs-only-l --libs-only-other tulle | sed 's/-ltulle//')
expect_version "$work/by-pkg-config-static"

echo "install_test: a project in C alone, and one in C and Fortran"
c_compiler=${CC:-cc}
in_c=$consumer/../in_c
build_in_c() { # NAME [OPTION...]
    folder=$work/$1
    shift
    cmake -S "$in_c" -B "$folder" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_C_COMPILER="$c_compiler" "$@" >"$folder.log" 2>&1 &&
        cmake --build "$folder" >>"$folder.log" 2>&1 || fail "a project in C cannot be built, $*: $(cat "$folder.log")"
    for program in "$folder"/with-* "$folder"/in-*; do
        [ ! -f "$program" ] || [ "$("$program")" = 42 ] || fail "the program ${program##*/} of a project in C fails"
    done
}
build_in_c in_c
[ -x "$work/in_c/with-tnt_static" ] || fail "a project in C has no program for TNT"
if command -v "${FC:-gfortran}" >/dev/null; then
    build_in_c in_fortran -DWITH_FORTRAN=ON
    [ -x "$work/in_fortran/in-fortran_static" ] || fail "a project in Fortran has no program"
fi

echo "install_test: a program for Qthreads"
qthread=$consumer/qthread.c
# shellcheck disable=SC2046
"$compiler" -x c -std=c11 "$qthread" -x none -o "$work/qthread" $(pkg-config --cflags --libs tulle-qthread)
[ "$(LD_LIBRARY_PATH=$prefix/$libdir "$work/qthread")" = 42 ] || fail "the program for Qthreads fails"
# shellcheck disable=SC2046
"$compiler" -x c -std=c11 "$qthread" -x none -o "$work/qthread-static" $(pkg-config --cflags tulle-qthread) \
    "$prefix/$libdir/libtulle-qthread.a" "$prefix/$libdir/libtulle.a" $(pkg-config --static --libs-only-l --libs-only-other tulle | sed 's/-ltulle//')
[ "$("$work/qthread-static")" = 42 ] || fail "the program for Qthreads fails, linked statically"
[ "$("$work/cmake/qthread")" = 42 ] || fail "the program for Qthreads fails, made by CMake"
# With no shared library at all; the linker warns of dlopen, which only an MPI needs.
# shellcheck disable=SC2046
"$compiler" -static -x c -std=c11 "$qthread" -x none -o "$work/qthread-whole" $(pkg-config --cflags tulle-qthread) -L"$prefix/$libdir" \
    $(pkg-config --static --libs tulle-qthread) 2>"$work/static.log" || fail "a program cannot be linked with -static: $(cat "$work/static.log")"
[ "$("$work/qthread-whole")" = 42 ] || fail "the program for Qthreads fails, linked with -static"
# shellcheck disable=SC2046
"$c_compiler" -static -std=c11 "$qthread" -o "$work/qthread-whole-in-c" $(pkg-config --cflags tulle-qthread) -L"$prefix/$libdir" \
    $(pkg-config --static --libs tulle-qthread) 2>"$work/static.log" || fail "a C compiler cannot link with -static: $(cat "$work/static.log")"
[ "$("$work/qthread-whole-in-c")" = 42 ] || fail "the program for Qthreads fails, linked with -static by a C compiler"

echo "install_test: a build that looks for Qthreads in a prefix of its own"
for_qthreads=$prefix/$libdir/tulle/qthread
expect_42() { # COMMAND...
    printed=$("$@") || fail "$* failed"
    [ "$printed" = 42 ] || fail "$* printed '$printed', expected 42"
}
cmake -S "$consumer/foreign" -B "$work/foreign" -DCMAKE_PREFIX_PATH="$for_qthreads" >"$work/foreign.log"
cmake --build "$work/foreign" >>"$work/foreign.log"
expect_42 "$work/foreign/program"
by_hand() { # PREFIX PROGRAM: as Chapel's build links it
    "$compiler" -x c -std=c11 -I"$1/include" "$qthread" -x none -o "$2" -L"$1/lib" -Wl,-rpath,"$1/lib" -lqthread
    expect_42 "$2"
    ldd "$2" | grep -q "$1/lib/libtulle" || fail "$2 does not load the libraries of $1"
}
by_hand "$for_qthreads" "$work/foreign/by-hand"
cp -rL "$for_qthreads" "$work/copied"
by_hand "$work/copied" "$work/foreign/of-a-copy"
echo '#include "qthread-chapel.h"' | "$compiler" -x c -I"$work/copied/include" -c - -o "$work/foreign/chapel.o"
(
    PKG_CONFIG_PATH=$for_qthreads/lib/pkgconfig
    pkg-config --atleast-version 1.23 qthread || fail "pkg-config does not find qthread 1.23"
    # shellcheck disable=SC2046
    "$compiler" -x c -std=c11 "$qthread" -x none -o "$work/foreign/by-pkg-config" $(pkg-config --cflags --libs qthread)
    LD_LIBRARY_PATH=$for_qthreads/lib expect_42 "$work/foreign/by-pkg-config"
    # shellcheck disable=SC2046
    "$compiler" -static -x c -std=c11 "$qthread" -x none -o "$work/foreign/whole" $(pkg-config --static --cflags --libs qthread) \
        2>"$work/static.log" || fail "a program for Qthreads cannot be linked with -static: $(cat "$work/static.log")"
    expect_42 "$work/foreign/whole"
)
[ -z "$(find "$for_qthreads" -type l -lname '/*')" ] || fail "a link in $for_qthreads is absolute"
echo "install_test: a program for MassiveThreads"
myth=$consumer/myth.c
# shellcheck disable=SC2046
"$compiler" -x c -std=c11 "$myth" -x none -o "$work/myth" $(pkg-config --cflags --libs tulle-myth)
[ "$(LD_LIBRARY_PATH=$prefix/$libdir "$work/myth")" = 42 ] || fail "the program for MassiveThreads fails"
# shellcheck disable=SC2046
"$compiler" -x c -std=c11 "$myth" -x none -o "$work/myth-static" $(pkg-config --cflags tulle-myth) \
    "$prefix/$libdir/libtulle-myth.a" "$prefix/$libdir/libtulle.a" $(pkg-config --static --libs-only-l --libs-only-other tulle | sed 's/-ltulle//')
[ "$("$work/myth-static")" = 42 ] || fail "the program for MassiveThreads fails, linked statically"
[ "$("$work/cmake/myth")" = 42 ] || fail "the program for MassiveThreads fails, made by CMake"

if command -v m4 >/dev/null; then
    echo "install_test: a program with PARMACS macros"
    m4 "$(pkg-config --variable=macros tulle-parmacs)" "$consumer/parmacs.c.in" >"$work/parmacs.c"
    # shellcheck disable=SC2046
    "$compiler" -x c -std=c11 "$work/parmacs.c" -x none -o "$work/parmacs" $(pkg-config --cflags --libs tulle-parmacs)
    [ "$(LD_LIBRARY_PATH=$prefix/$libdir "$work/parmacs")" = 42 ] || fail "the program with PARMACS macros fails"
fi

echo "install_test: exported symbols"
foreign=$(nm -DC --defined-only "$prefix/$libdir/libtulle-qthread.so" | awk '$2 != "A"' | cut -d' ' -f3- |
    grep -vE '^(q(thread|t|timer|util|array|dqueue|lfqueue|swsrqueue|pool|alloc)_|future_|spr_)' || true)
[ -z "$foreign" ] || fail "the library for Qthreads exports more than its API: $foreign"
foreign=$(nm -DC --defined-only "$prefix/$libdir/libtulle-myth.so" | awk '$2 != "A"' | cut -d' ' -f3- | grep -v '^myth_' || true)
[ -z "$foreign" ] || fail "the library for MassiveThreads exports more than its API: $foreign"
foreign=$(nm -DC --defined-only "$prefix/$libdir/libtulle.so" | awk '$2 != "A"' | cut -d' ' -f3- |
    grep -vE '^(tulle_|tulle::|(typeinfo|typeinfo name|vtable|VTT|guard variable) for tulle::)' || true)
[ -z "$foreign" ] || fail "the shared library exports more than its API: $foreign"

"$scripts/check-abi" --symbols "$prefix/$libdir/libtulle.so" || fail "what programs that are linked already need is gone"

# --- places of each MPI: in processes of their own, and not each alone ----------------------------------------------------

OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_orte_tmpdir_base=$work PRTE_MCA_prte_tmpdir_base=$work # an mpirun that ends beside it must not take its files away
export OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM OMPI_MCA_orte_tmpdir_base PRTE_MCA_prte_tmpdir_base

expect_two_places() { # COMMAND...
    printed=$(timeout 60 "$@" 2>"$work/places.log") || fail "$* failed: $(cat "$work/places.log")"
    [ "$printed" = "2 places in 2 processes" ] || fail "$* printed '$printed': $(cat "$work/places.log")"
}

by_mpirun() { # FLAVOUR=MPIRUN PROGRAM
    options=
    [ "${1%%=*}" != openmpi ] || options="--oversubscribe --bind-to none"
    # shellcheck disable=SC2086
    expect_two_places "${1#*=}" $options -n 2 "$2"
}

by_tulle_run() { # FLAVOUR=MPIRUN PROGRAM PREFIX
    expect_two_places "$3/bin/tulle" run --mpi "${1%%=*}" --hosts localhost:2 "$2"
    if [ "$has_two_hosts" = yes ]; then expect_two_places "$two_hosts" "$3/bin/tulle" run --mpi "${1%%=*}" --hosts a,b "$2"; fi
}

[ $# -gt 0 ] || exit 0
has_two_hosts=no
if "$two_hosts" true 2>/dev/null; then has_two_hosts=yes; fi

echo "install_test: places of each MPI (two hosts: $has_two_hosts)"
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$consumer/places.cpp" -o "$work/places-linked" $(pkg-config --cflags --libs tulle)
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$consumer/places.cpp" -o "$work/places-static" $(pkg-config --cflags tulle) \
    "$prefix/$libdir/libtulle.a" $(pkg-config --static --libs-only-l --libs-only-other tulle | sed 's/-ltulle//')
mkdir "$work/links" # to the library alone
ln -s "$prefix/$libdir/libtulle.so.${version%%.*}" "$work/links/libtulle.so.${version%%.*}"
for mpi; do
    for program in "$work/cmake/places-shared" "$work/cmake/places-static" "$work/places-static"; do
        by_mpirun "$mpi" "$program"
        by_tulle_run "$mpi" "$program" "$prefix"
    done
    for folder in "$prefix/$libdir" "$work/links"; do
        LD_LIBRARY_PATH=$folder by_mpirun "$mpi" "$work/places-linked"
        LD_LIBRARY_PATH=$folder by_tulle_run "$mpi" "$work/places-linked" "$prefix"
    done
done

echo "install_test: places of each MPI, after the installed tree has been moved"
mv "$prefix" "$work/moved"
for mpi; do
    LD_LIBRARY_PATH=$work/moved/$libdir by_mpirun "$mpi" "$work/places-linked"
    LD_LIBRARY_PATH=$work/moved/$libdir by_tulle_run "$mpi" "$work/places-linked" "$work/moved"
    TULLE_PLUGIN_FOLDER=$work/moved/$libdir by_mpirun "$mpi" "$work/places-static"
    by_tulle_run "$mpi" "$work/places-static" "$work/moved"
done
