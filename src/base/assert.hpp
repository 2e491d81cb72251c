// SPDX-License-Identifier: Apache-2.0
// Assertions on the library's own invariants and on its callers' use of it. The message should
// state both numbers that disagree and what to do about it:
//     TULLE_CHECK(size <= k_largest, "a stack of %zu bytes is above the limit of %zu; set
//     TULLE_STACK_SIZE lower", ...);
#pragma once

#include "base/error.hpp"

// Checked in every build.
#define TULLE_CHECK(condition, ...)                                                                \
    (__builtin_expect(static_cast<bool>(condition), 1) ? static_cast<void>(0)                      \
                                                       : ::tulle::base::fatal(__VA_ARGS__))

// Checked in debug builds only; the condition is compiled but not evaluated in a release build.
#ifdef NDEBUG
#define TULLE_ASSERT(condition, ...)                                                               \
    (true ? static_cast<void>(0) : TULLE_CHECK(condition, __VA_ARGS__))
#else
#define TULLE_ASSERT(condition, ...) TULLE_CHECK(condition, __VA_ARGS__)
#endif
