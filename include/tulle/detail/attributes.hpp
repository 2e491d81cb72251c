// SPDX-License-Identifier: Apache-2.0
// Compiler attributes used by the inline hot path.
#pragma once

#define TULLE_INLINE __attribute__((always_inline)) inline
#define TULLE_COLD __attribute__((noinline, cold))
#define TULLE_NOINLINE __attribute__((noinline))
#define TULLE_API __attribute__((visibility("default")))
#define TULLE_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define TULLE_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)
