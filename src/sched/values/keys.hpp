// SPDX-License-Identifier: Apache-2.0
// Thread-local keys as POSIX has them, for Tulle threads and guests. A key is {sequence, index} of
// a slot in a fixed table; a thread's values are an array that it makes when it stores its first
// one, and that its identity points to. A value remembers the sequence of its key, so that one of a
// deleted key is never seen through a newer key in the same slot.
// create and destroy: anyone. The others: the thread itself.
#pragma once

#include "sched/fiber.hpp"

#include <cstdint>

namespace tulle::sched {

using key = std::uint64_t;

inline constexpr std::size_t k_most_keys = 1024;
inline constexpr int k_destructor_rounds = 4; // as PTHREAD_DESTRUCTOR_ITERATIONS

// 0 or EAGAIN: too many keys.
[[nodiscard]] int create_key(key& made, void (*destructor)(void*)) noexcept;
// 0 or EINVAL. Values of the key are forgotten, not destroyed.
[[nodiscard]] int delete_key(key deleted) noexcept;

// 0, EINVAL: no such key, ENOMEM.
[[nodiscard]] int set_value(thread_identity& thread, key wanted, void* value) noexcept;
// Null: none, or no such key.
[[nodiscard]] void* value_of(thread_identity const& thread, key wanted) noexcept;

// Calls the destructors, in rounds as long as they store new values, and frees the array. By the
// thread, at its end.
void end_values(thread_identity& thread) noexcept;

} // namespace tulle::sched
