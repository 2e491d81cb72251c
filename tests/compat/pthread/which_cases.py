# SPDX-License-Identifier: Apache-2.0
"""Which cases cannot be as they are natively, and why."""

# The run time cannot tell the program's code from the C library's: a handler waits for the next call of a thread that computes.
ONLY_SHARED = {"at_computing", "left_to_process", "kept_out_of_computing", "jumps_of_handlers", "cancelled_computing", "signals_after_main",
               "interrupted_one_by_one", "called_at_tries"}
