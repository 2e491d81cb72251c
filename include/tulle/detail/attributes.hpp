// SPDX-License-Identifier: Apache-2.0
// Compiler attributes used by the inline hot path. All headers include this one, most of them
// first, so it also says which standard they need.
#pragma once

#if __cplusplus < 202002L
#error "Tulle needs C++20: compile with -std=c++20, or a later standard"
#endif

#define TULLE_INLINE __attribute__((always_inline)) inline
#define TULLE_COLD __attribute__((noinline, cold))
#define TULLE_NOINLINE __attribute__((noinline))
#define TULLE_API __attribute__((visibility("default")))
#define TULLE_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define TULLE_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)
