// SPDX-License-Identifier: Apache-2.0
// What a child process of fork(2) can be tested for.
#pragma once

#include "base/sanitize.hpp"

// ThreadSanitizer ends a forked child that starts a thread.
inline constexpr bool k_child_may_start_threads = !tulle::base::k_thread_sanitizer;

// The allocator of AddressSanitizer stays locked in the child if another OS thread was in it at the
// fork, as one is when it starts. There, only a process of one OS thread may fork and then
// allocate: one worker, and the option max_substitutes off, without which there is a watcher.
inline constexpr bool k_may_fork_beside_threads = !tulle::base::k_address_sanitizer;
