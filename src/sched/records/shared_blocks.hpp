// SPDX-License-Identifier: Apache-2.0
// Free blocks of memory for records of threads that no worker keeps for itself, in bundles. A
// worker whose list is full gives one, and a worker that has none takes one: where some spawn and
// others run, the memory comes back without the heap. Any thread may call all of it.
// Nobody waits for the lock: a thread that does not get it uses the heap, also in a child process
// in which it will never be free.
#pragma once

#include "base/spin_lock.hpp"
#include "sched/runnable.hpp"

#include <array>
#include <atomic>
#include <cstddef>

namespace tulle::sched {

class shared_blocks {
public:
    static constexpr int k_in_bundle = 128;

    constexpr shared_blocks() noexcept = default;
    // False: it is still the caller's, as there are enough, or another thread has the lock.
    [[nodiscard]] bool give(runnable_list const& bundle) noexcept {
        if (!m_lock.try_lock()) return false;
        std::size_t const count = count_hint();
        bool const has_room = count != k_most;
        if (has_room) {
            m_bundles[count] = bundle;
            set_count(count + 1);
        }
        m_lock.unlock();
        return has_room;
    }
    // False: there is none, or another thread has the lock.
    [[nodiscard]] bool take(runnable_list& bundle) noexcept {
        if (count_hint() == 0 || !m_lock.try_lock()) return false;
        std::size_t const count = count_hint();
        if (count != 0) {
            bundle = m_bundles[count - 1];
            set_count(count - 1);
        }
        m_lock.unlock();
        return count != 0;
    }

private:
    static constexpr std::size_t k_most = 1024; // 16 MiB of blocks of 128 bytes

    // relaxed, both: written under the lock; to others it is a hint.
    [[nodiscard]] std::size_t count_hint() const noexcept {
        return m_count.load(std::memory_order_relaxed);
    }
    void set_count(std::size_t to) noexcept { m_count.store(to, std::memory_order_relaxed); }

    base::spin_lock m_lock; // guards the rest
    std::atomic<std::size_t> m_count{0};
    std::array<runnable_list, k_most> m_bundles{};
};

} // namespace tulle::sched
