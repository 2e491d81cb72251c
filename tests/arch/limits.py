# SPDX-License-Identifier: Apache-2.0
"""How many instructions one context switch may take on each architecture."""

# What a switch takes by a routine in assembly that stores all the registers which the ABI asks a called function to preserve, and the FP control
# word: counted as scripts/switch-counts counts (loop and call included), compiled by gcc 12 with -O2. A switch that is inlined, or that leaves
# registers to the compiler, has no reason to take more.
MOST_INSTRUCTIONS = {"x86_64": 26.5, "aarch64": 35.5, "riscv64": 64.0, "ppc64le": 146.8, "ppc64": 144.8, "sparc64": 19.5, "sparc": 18.5,
                     "i386": 26.5, "armhf": 19.5, "s390x": 28.5}
