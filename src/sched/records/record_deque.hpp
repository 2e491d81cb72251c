// SPDX-License-Identifier: Apache-2.0
// The deques that stacks carry, and where they come from. A deque belongs to a stack, not to a
// worker: its owner's plain stores stay valid wherever the stack goes on, and a stack that is
// suspended with records left is listed as parked, where thieves find them.
// When one is full, a larger one is opened on top of it. Deques are type-stable: a thief may read
// one that its stack has left.
#pragma once

#include "base/intrusive_list.hpp"
#include "base/spin_lock.hpp"
#include "deque/split_deque.hpp"
#include "os/machine.hpp"
#include "os/memory.hpp"
#include "sched/records/parked_deques.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::sched {

using record = detail::record;
using record_owner = deque::deque_owner<os::machine, record>;
using record_thief = deque::deque_thief<os::machine, record>;

struct record_deque : deque::split_deque<os::machine, record> {
    record_deque* older = nullptr; // the full one below, of the same stack
    // Records that were joined out of order and are still in it; the owner's.
    std::uint32_t holes = 0;
    record_deque* next_free = nullptr;   // in the pool; guarded by its lock
    record_deque* next_parked = nullptr; // these three: guarded by the parked list's lock
    record_deque* prev_parked = nullptr;
    bool is_parked = false;
    std::uint8_t level = 0;
    // Which record its stack runs: the deque that the record was stolen from, and its slot there.
    // Kept where the number of stacks is limited, for comes_before(). The owner writes both before
    // it forks. A thread that compares two deques reads them; it has found the deques in the list
    // of parked ones, and a deque is taken out of that list before the record that it runs has
    // ended.
    record_deque* origin = nullptr;
    record const* origin_slot = nullptr;
    // Runs a record of the same stack, on top of a thread that waits (modes/stack_shortage.md).
    bool is_floor = false;
};

// Whether a serial run would come to what is left in `a` before it comes to what is left in `b`.
// False where they have nothing in common.
[[nodiscard]] bool comes_before(record_deque const& a, record_deque const& b) noexcept;

class deque_pool {
public:
    static constexpr std::uint8_t k_levels = 4;
    explicit deque_pool(os::memory_calls const& memory) noexcept : m_memory(memory) {}
    ~deque_pool();
    deque_pool(deque_pool const&) = delete;
    deque_pool& operator=(deque_pool const&) = delete;

    // An open, empty deque; null when there is no memory. Level n holds about 250 * 64^n records;
    // pages are touched on use.
    [[nodiscard]] record_deque* allocate(std::uint8_t level, bool asymmetric) noexcept;
    void release(record_deque& deque) noexcept;
    // Gives the pages of large free deques back to the system.
    void trim() noexcept;

    void lock_for_process_fork() noexcept { m_lock.lock(); }
    void unlock_after_process_fork() noexcept { m_lock.unlock(); }

    // Bytes that a deque of this level reserves, header included.
    [[nodiscard]] static constexpr std::size_t bytes(std::uint8_t level) noexcept {
        return std::size_t{16384} << (6U * level);
    }

private:
    [[nodiscard]] std::byte* add_slab(std::size_t size) noexcept;
    [[nodiscard]] record_deque* carve(std::uint8_t level) noexcept;
    [[nodiscard]] record_deque* carve_large(std::uint8_t level) noexcept;
    [[nodiscard]] record_deque* carve_small() noexcept;

    struct slab {
        slab* next;
        std::size_t size;
    };
    static constexpr std::size_t k_slab_bytes = std::size_t{4} << 20U;

    os::memory_calls const& m_memory;
    base::spin_lock m_lock; // guards all below
    std::array<base::intrusive_stack<&record_deque::next_free>, k_levels> m_free;
    base::intrusive_stack<&slab::next> m_slabs;
    std::byte* m_next = nullptr; // the rest of the current slab of level 0
    std::byte* m_end = nullptr;
};

using parked_deques = basic_parked_deques<os::machine, record_deque, record>;
extern template class basic_parked_deques<os::machine, record_deque, record>; // record_deque.cpp

} // namespace tulle::sched
