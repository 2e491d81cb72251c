# SPDX-License-Identifier: Apache-2.0
"""Which signals OS threads of the library leave to those of the program, as the program `conduct` prints the masks that they have."""
import signal

OF_FAULTS = (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGFPE, signal.SIGTRAP)
OF_OTHERS = (signal.SIGHUP, signal.SIGINT, signal.SIGALRM, signal.SIGTERM, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCHLD, signal.SIGPROF,
             signal.SIGRTMIN)


def blocks(mask, one):
    return (mask >> (one - 1)) & 1 != 0


def masks(output):
    """{(place, name of the OS thread): its mask}, of `conduct blocked-signals` without tags; not of workers, tulle-1 and so on."""
    lines = [line.split() for line in output.splitlines()]
    return {(int(place), name): int(mask, 16) for place, name, mask in lines if name.startswith("tulle-") and not name[6:].isdigit()}


def check(test, output, names):
    """Those OS threads are there at each of two places, and they and others of the library's own block what is to be blocked."""
    found = masks(output)
    test.assertLessEqual({(place, name) for place in range(2) for name in names}, set(found))
    for key, mask in found.items():
        for one in OF_OTHERS:
            test.assertTrue(blocks(mask, one), (key, one))
        for one in OF_FAULTS:
            test.assertFalse(blocks(mask, one), (key, one))
