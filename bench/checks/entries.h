// SPDX-License-Identifier: Apache-2.0
// Slow paths that can count how often they are called, in place of the library's entries.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern int counts_checks; // else they do what the library does
extern uint64_t checks_counted;

#ifdef __cplusplus
}
#endif
