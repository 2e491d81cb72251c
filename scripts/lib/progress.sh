# SPDX-License-Identifier: Apache-2.0
#
# For shell scripts that run a long command: watched says how far it has come. The script that includes this file defines `progress WORDS`, which
# prints one line without its end.

# watched VERB LOG COMMAND...: runs the command, which writes to LOG lines that begin with "[7/31]" or "7/31", and says so: on a terminal every
# second, in one line; elsewhere a line every 15 seconds. Returns what the command returns.
watched() {
    verb=$1 log=$2
    shift 2
    "$@" &
    child=$!
    ticks=0
    while kill -0 "$child" 2>/dev/null; do
        sleep 1
        ticks=$((ticks + 1))
        step=$(grep -oE '^ *\[?[0-9]+/[0-9]+' "$log" 2>/dev/null | tail -n 1 | tr -d ' [')
        if [ -t 1 ]; then
            printf '\r\033[K%s' "$(progress "$verb ${step:+[$step]}")"
        elif [ $((ticks % 15)) -eq 0 ]; then
            printf '%s\n' "$(progress "$verb ${step:+[$step]}")"
        fi
    done
    [ ! -t 1 ] || printf '\r\033[K'
    wait "$child"
}
