# SPDX-License-Identifier: Apache-2.0
#
# For shell scripts whose comment at the top, behind the licence, says what they do and how they are called. `$0` must still lead to the script.

# answer_help "$@": where the first argument asks for help, prints that comment and ends.
answer_help() {
    case ${1:-} in
        -h | --help) ;;
        *) return 0 ;;
    esac
    say_usage
    exit 0
}

say_usage() {
    sed -n '/^#/!q; 4,$s/^# \{0,1\}//p' "$0"
}

# refuse_usage WHY: ends with 2, the code for wrong usage.
refuse_usage() {
    echo "$(basename "$0"): $1 (--help says more)" >&2
    exit 2
}
