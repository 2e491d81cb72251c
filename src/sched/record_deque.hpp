// SPDX-License-Identifier: Apache-2.0
// The deques that stacks carry, and where they come from. A deque belongs to a stack, not to a worker: its owner's plain stores stay valid
// wherever the stack goes on, and a stack that is suspended with records left is listed as parked, where thieves find them.
// When one is full, a larger one is opened on top of it. Deques are type-stable: a thief may look at one that its stack has left.
#pragma once

#include "base/spin_lock.hpp"
#include "deque/split_deque.hpp"
#include "os/machine.hpp"
#include "os/memory.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::sched {

using record = detail::record;
using record_owner = deque::deque_owner<os::machine, record>;
using record_thief = deque::deque_thief<os::machine, record>;

struct record_deque : deque::split_deque<os::machine, record> {
    record_deque* older = nullptr;       // the full one below, of the same stack
    std::uint32_t holes = 0;             // records that were joined out of order and are still in it; the owner's
    record_deque* next_free = nullptr;   // in the pool; guarded by its lock
    record_deque* next_parked = nullptr; // guarded by the parked list's lock
    bool is_parked = false;              // guarded by the parked list's lock
    std::uint8_t level = 0;
};

class deque_pool {
public:
    static constexpr std::uint8_t k_levels = 4;
    explicit deque_pool(os::memory_calls const& memory) noexcept : m_memory(memory) {}
    ~deque_pool();
    deque_pool(deque_pool const&) = delete;
    deque_pool& operator=(deque_pool const&) = delete;

    // An open, empty deque; null when there is no memory. Level n holds about 250 * 64^n records; pages are touched on use.
    [[nodiscard]] record_deque* allocate(std::uint8_t level, bool asymmetric) noexcept;
    void release(record_deque& deque) noexcept;
    // Gives the pages of large free deques back to the system.
    void trim() noexcept;

    void lock_for_process_fork() noexcept { m_lock.lock(); }
    void unlock_after_process_fork() noexcept { m_lock.unlock(); }

    // Bytes that a deque of this level reserves, header included.
    [[nodiscard]] static constexpr std::size_t bytes(std::uint8_t level) noexcept { return std::size_t{16384} << (6U * level); }

private:
    [[nodiscard]] record_deque* carve(std::uint8_t level) noexcept;

    struct slab {
        slab* next;
        std::size_t size;
    };
    static constexpr std::size_t k_slab_bytes = std::size_t{4} << 20U;

    os::memory_calls const& m_memory;
    base::spin_lock m_lock; // guards all below
    std::array<record_deque*, k_levels> m_free{};
    slab* m_slabs = nullptr;
    std::byte* m_next = nullptr; // the rest of the current slab of level 0
    std::byte* m_end = nullptr;
};

// Deques with records whose stacks are suspended or have opened a larger one.
class parked_deques {
public:
    void add(record_deque& deque) noexcept;
    // The oldest record of one of them, or null.
    [[nodiscard]] record* steal() noexcept;
    // Lets the list begin `by` deques later.
    void rotate(std::uint32_t by) noexcept;
    [[nodiscard]] bool looks_empty() const noexcept { return size_hint() == 0; }                               // a hint
    [[nodiscard]] std::uint32_t size_hint() const noexcept { return m_count.load(std::memory_order_relaxed); } // with empty deques
    // Whether one of them holds a record now. By a worker that goes to sleep.
    [[nodiscard]] bool has_stealable() noexcept;

private:
    void append(record_deque& deque) noexcept;

    static constexpr int k_most_looked_at = 64;

    base::spin_lock m_lock; // guards the list
    record_deque* m_first = nullptr;
    record_deque* m_last = nullptr;
    std::atomic<std::uint32_t> m_count{0};
};

} // namespace tulle::sched
