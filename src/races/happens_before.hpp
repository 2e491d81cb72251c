// SPDX-License-Identifier: Apache-2.0
// What is ordered before what: vector clocks of processes, and of the objects by which they
// synchronise, in memory that all of them share and that is zero at first. Each process has an
// epoch for each process: what that one did up to then is ordered before what this one does.
//
// Clocks of a process are changed by it, or by one that wakes it, while it sleeps. Those of an
// object are guarded by a lock of their own. A key is the address of an object, or near it. There
// are many more clocks of objects than programs have objects; beyond that some share one, which
// orders more than there is and hides races, but invents none.
#pragma once

#include "base/spin_lock.hpp"
#include "races/cell.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <span>

namespace tulle::races {

using object_key = std::uint64_t;
using vector_clock = std::span<epoch>;

void join(vector_clock into, std::span<epoch const> more) noexcept;

class happens_before {
public:
    [[nodiscard]] static std::size_t bytes(process_number processes) noexcept;
    happens_before(std::byte* zeros, process_number processes) noexcept;

    // A process begins, which knows of nobody else.
    void begin(process_number p) noexcept;
    // What it knows.
    [[nodiscard]] std::span<epoch const> known_to(process_number p) const noexcept {
        return clock(p, part::now);
    }

    // What comes after is ordered after what was released.
    void acquire(object_key object, process_number p) noexcept;
    void release(object_key object, process_number p) noexcept;
    // As release, and what others have released does not count any more.
    void replace(object_key object, process_number p) noexcept;
    // From one that goes on to one that sleeps.
    void hand(process_number from, process_number to) noexcept;
    // Of C11.
    void acquire_fence(process_number p) noexcept;
    void release_fence(process_number p) noexcept;

    // An access to an atomic variable: access() is called while nobody else has one, and says
    // whether it stores. `order` is __ATOMIC_RELAXED to __ATOMIC_SEQ_CST; `replaces`: a plain
    // store, which ends what earlier stores began.
    struct atomic_access {
        int order;
        bool loads;
        bool replaces;
    };
    template <class Access>
    void access_atomically(object_key variable, process_number p, atomic_access how,
                           Access access) noexcept {
        slot_of_key const found = find(variable);
        std::lock_guard const held(lock_of(found.slot));
        if (how.loads) load_atomically(found, p, how);
        if (access()) store_atomically(found, p, how);
    }

private:
    // For fences: what the last release fence had, and what relaxed loads have found.
    enum class part : std::uint8_t { now, fenced, found };
    static constexpr unsigned k_parts = 3;
    struct slot_head {
        std::atomic<object_key> owner; // 0: nobody
        base::spin_lock lock;
    };
    struct slot_of_key {
        std::size_t slot;
        bool is_own; // of that key alone
    };

    [[nodiscard]] vector_clock clock(process_number p, part which) const noexcept;
    [[nodiscard]] slot_head& head(std::size_t slot) const noexcept;
    [[nodiscard]] base::spin_lock& lock_of(std::size_t slot) const noexcept {
        return head(slot).lock;
    }
    [[nodiscard]] vector_clock clock_of(std::size_t slot) const noexcept;
    [[nodiscard]] slot_of_key find(object_key object) const noexcept;
    void put(slot_of_key const& found, std::span<epoch const> value, bool replaces) const noexcept;
    void tick(process_number p) const noexcept;
    void store_atomically(slot_of_key const& found, process_number p,
                          atomic_access how) const noexcept;
    void load_atomically(slot_of_key const& found, process_number p,
                         atomic_access how) const noexcept;

    std::byte* m_memory;
    process_number m_processes;
};

} // namespace tulle::races
