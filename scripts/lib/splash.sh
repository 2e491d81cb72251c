# SPDX-License-Identifier: Apache-2.0
#
# splash_on_two_hosts: the programs of SPLASH at small sizes on two hosts with two processes each, over each MPI; each result must be that of as
# many POSIX threads. TULLE_SPLASH_SOURCES names the folder of their sources, which are not a part of Tulle. Where it, or what two hosts need, is
# missing, this is said, also in the variable `not_run`.
splash_on_two_hosts() {
    if [ -z "${TULLE_SPLASH_SOURCES:-}" ]; then
        not_run="SPLASH on two hosts: TULLE_SPLASH_SOURCES names no folder with the sources of SPLASH-2 or SPLASH-3"
    else
        code=0
        OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 scripts/two-hosts build/release/bin/tulle bench splash --quick \
            --sources "$TULLE_SPLASH_SOURCES" --hosts a:2,b:2 --places 4 || code=$?
        [ "$code" -eq 125 ] || return "$code"
        not_run="SPLASH on two hosts: scripts/two-hosts cannot make them"
    fi
    echo "not run: $not_run"
}
