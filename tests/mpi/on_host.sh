#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# Stands for ssh: `on_host.sh [OPTION...] HOST COMMAND...` runs the command in the network namespace HOST, with a host name and a /dev/shm of its
# own, so that nothing but the network leads to the other hosts.
while [ "${1#-}" != "$1" ]; do shift; done
host=$1
shift
exec ip netns exec "$host" unshare --uts --ipc --mount sh -c 'hostname "$0" && mount -t tmpfs tmpfs /dev/shm && exec sh -c "$1"' "$host" "$*"
