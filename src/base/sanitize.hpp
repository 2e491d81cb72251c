// SPDX-License-Identifier: Apache-2.0
// For functions that look at memory of which a sanitizer would say that they must not: other threads' stacks, say.
#pragma once

#if defined(__clang__)
#define TULLE_NO_SANITIZE __attribute__((noinline, no_sanitize("address", "thread", "undefined")))
#else
#define TULLE_NO_SANITIZE __attribute__((noinline, no_sanitize_address, no_sanitize_thread, no_sanitize_undefined))
#endif
