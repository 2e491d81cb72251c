// SPDX-License-Identifier: Apache-2.0
// Where a mutex keeps its holder: a recursive mutex, and a tulle::mutex without NDEBUG, the number
// of the thread; a tulle::mutex with NDEBUG, the stack that it runs on.
#pragma once

#include <tulle/detail/thread_core.hpp>
#include <tulle/mutex.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::detail {

struct mutex_owner {
    // relaxed, both: a waiter is known to wait, so the owner has written it.
    static std::uint64_t of(mutex const& m) noexcept {
        return m.m_owner.load(std::memory_order_relaxed);
    }
    static bool is_free(mutex const& m) noexcept {
        return m.m_front.free.load(std::memory_order_relaxed) != 0;
    }
    // Where these words are, for a caller that does not know whether the mutex still exists.
    static void const* owner_word(mutex const& m) noexcept { return &m.m_owner; }
    static void const* free_word(mutex const& m) noexcept { return &m.m_front.free; }
    // The stack that the word names. Null: it holds the number of a thread, or nobody has used
    // Tulle.
    static void const* stack_in(std::uint64_t word) noexcept {
        bool const is_complement = static_cast<std::int64_t>(word) < 0;
        return is_complement ? reinterpret_cast<void const*>(static_cast<std::uintptr_t>(~word))
                             : nullptr;
    }
    static thread_id number_in(std::uint64_t word) noexcept {
        return static_cast<std::int64_t>(word) < 0 ? 0 : word;
    }
    // Others with their front at the beginning may say that they are waited for as a tulle::mutex,
    // if they have it at the same offset.
    static constexpr std::size_t offset() noexcept { return offsetof(mutex, m_owner); }
};

} // namespace tulle::detail
