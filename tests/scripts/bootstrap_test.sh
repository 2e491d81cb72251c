#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# bootstrap_test.sh PROJECT: bootstrap is silent when all is there, and says what is missing when not, without touching anything.
set -eu
bootstrap=$1/scripts/bootstrap
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

fail() {
    echo "bootstrap_test: $*" >&2
    exit 1
}

# Stand-ins come first in PATH: a dpkg that knows all packages or none, an apt-get that must not be reached.
stand_in() {
    printf '#!/bin/sh\n%s\n' "$2" >"$work/$1"
    chmod +x "$work/$1"
}
PATH=$work:$PATH
stand_in apt-get 'echo "$@" >>"$(dirname "$0")/apt-calls"; exit 100'
stand_in sudo 'exit 1'
stand_in id 'echo 1000'

stand_in dpkg 'echo "Status: install ok installed"'
said=$("$bootstrap" 2>&1) || fail "fails although every package is there: $said"
[ -z "$said" ] || fail "is not silent although every package is there: $said"

stand_in dpkg '[ "$2" != libomp-dev ] && echo "Status: install ok installed"'
said=$("$bootstrap" 2>&1) || fail "wants a package although an alternative is there: $said"

stand_in dpkg 'exit 1'
if said=$("$bootstrap" 2>&1); then fail "succeeds although packages are missing and there is no root"; fi
case $said in
    *"apt-get install"*libhwloc-dev*) ;;
    *) fail "does not say what to install: $said" ;;
esac
if "$bootstrap" --check >/dev/null 2>&1; then fail "--check succeeds although packages are missing"; fi
for package in $("$bootstrap" docs --list); do
    if [ "$package" != python3 ] && "$bootstrap" --list | grep -qx "$package"; then fail "$package is for the site alone, but all sets have it"; fi
done
[ ! -e "$work/apt-calls" ] || fail "calls apt-get without root"

stand_in id 'echo 0'
if said=$("$bootstrap" 2>&1); then fail "succeeds although apt-get fails"; fi
case $said in
    *"could not install:"*libhwloc-dev*network*) ;;
    *) fail "does not explain that it could not install: $said" ;;
esac

stand_in dpkg 'echo "Status: deinstall ok config-files"'
if "$bootstrap" --check >/dev/null 2>&1; then fail "takes a removed package for an installed one"; fi
if "$bootstrap" --nonsense >/dev/null 2>&1; then fail "takes an unknown argument"; fi
