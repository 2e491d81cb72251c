// SPDX-License-Identifier: Apache-2.0
// Where a mutex keeps the number of its holder: a tulle::mutex does without NDEBUG only, a
// recursive one always.
#pragma once

#include <tulle/detail/thread_core.hpp>
#include <tulle/mutex.hpp>

#include <atomic>
#include <cstddef>

namespace tulle::detail {

struct mutex_owner {
    // relaxed: a waiter is known to wait, so the owner has written it.
    static thread_id of(mutex const& m) noexcept {
        return m.m_owner.load(std::memory_order_relaxed);
    }
    static void const* address(mutex const& m) noexcept { return &m.m_owner; }
    // Others with their front at the beginning may say that they are waited for as a tulle::mutex,
    // if they have it at the same offset.
    static constexpr std::size_t offset() noexcept { return offsetof(mutex, m_owner); }
};

} // namespace tulle::detail
