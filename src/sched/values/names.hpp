// SPDX-License-Identifier: Apache-2.0
// Names of threads, by identity: few threads have one, so they are kept apart.
#pragma once

#include <tulle/detail/thread_core.hpp>

#include <string>
#include <string_view>

namespace tulle::sched {

// Throws std::bad_alloc.
void remember_name(thread_id id, std::string_view name);
[[nodiscard]] std::string find_name(thread_id id);
void forget_name(thread_id id) noexcept;
// Reports call this: it takes no memory, and does not wait for long. False: it has none, or the
// table is in use.
[[nodiscard]] bool copy_name(thread_id id, char* buffer, std::size_t size) noexcept;

// These are called around fork(2).
void lock_names() noexcept;
void unlock_names() noexcept;

} // namespace tulle::sched
