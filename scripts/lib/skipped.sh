# SPDX-License-Identifier: Apache-2.0
#
# skipped FOLDER: the tests of that build which did not run, a line for each: those of ctest, and those of programs and scripts that run many
# (scripts/whole, tests/support/run_script.py). test.log there is what ctest has printed.
skipped() {
    sed -n '/The following tests did not run:/,/^$/p' "$1/test.log" | grep -E '\((Skipped|Disabled|Not Run)\)' | sed 's/^[^-]*- /    not run: /'
    [ ! -f "$1/Testing/Temporary/LastTest.log" ] ||
        sed -n 's/^whole: .*: not run: /    not run: /p; s/^script: \(.*\): not run: /    not run: \1: /p' "$1/Testing/Temporary/LastTest.log" | sort -u
}
