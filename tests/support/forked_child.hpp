// SPDX-License-Identifier: Apache-2.0
// What a child process of fork(2) can be tested for.
#pragma once

#include "base/sanitize.hpp"

// ThreadSanitizer ends a forked child that starts a thread.
inline constexpr bool k_child_may_start_threads = !tulle::base::k_thread_sanitizer;
