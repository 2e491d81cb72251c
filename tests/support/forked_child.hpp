// SPDX-License-Identifier: Apache-2.0
// What a child process of fork(2) can be tested for.
#pragma once

#include "arch/fiber_annotations.hpp"

#if defined(TULLE_ANNOTATE_THREAD)
inline constexpr bool k_child_may_start_threads = false; // ThreadSanitizer ends a forked child that starts a thread
#else
inline constexpr bool k_child_may_start_threads = true;
#endif
