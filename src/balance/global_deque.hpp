// SPDX-License-Identifier: Apache-2.0
// The steal area of a place: deques with records that any place may run, each deque used by one
// stack at a time. It is memory that the places of a host share, each at its own address; so a
// thief of another place steals by the deque's words, which are addresses of the owner, and counts
// records from the first one. The deque is that of all forked threads (deque/split_deque.hpp), with
// a fence that reaches the other processes.
// Zeros are an empty steal area. Deques are never taken away, so a thief may read one that no stack
// uses.
#pragma once

#include "base/assert.hpp"
#include "base/sanitize.hpp"
#include "deque/split_deque.hpp"
#include "os/machine.hpp"
#include "os/membarrier.hpp"

#include <tulle/detail/global_record.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tulle::balance {

using detail::global_record;

class balance;

// Its heavy fence reaches the threads of all places of the host. Where there is no such fence,
// deques of shared steal areas are opened as not asymmetric.
struct host_machine : os::machine {
    static void heavy_fence() noexcept {
        os::membarrier_global_available() ? os::membarrier_global_heavy()
                                          : os::machine::heavy_fence();
    }
};

struct global_deque : deque::split_deque<host_machine, global_record> {
    // The owner's place uses these.
    std::uint32_t joined = 0;          // records that were joined out of order and are still in it
    bool is_new = true;                // not opened yet
    balance* owner = nullptr;          // where it is given back
    global_deque* next_free = nullptr; // guarded by the balance's lock
};
using global_owner = deque::deque_owner<host_machine, global_record>;
using global_thief = deque::deque_thief<host_machine, global_record>;

class steal_area {
public:
    static constexpr std::size_t k_records = 256; // of a deque; the last one is never used
    static constexpr std::size_t k_least_bytes = std::size_t{1} << 17U;

    steal_area() noexcept = default;
    explicit steal_area(std::span<std::byte> memory) noexcept : m_memory(memory) {}

    [[nodiscard]] bool is_there() const noexcept { return m_memory.size() >= k_least_bytes; }
    [[nodiscard]] std::uint32_t capacity() const noexcept {
        return static_cast<std::uint32_t>((m_memory.size() - sizeof(head)) / sizeof(board));
    }
    // Deques that have been opened so far. acquire pairs with add: they are there.
    [[nodiscard]] std::uint32_t used() const noexcept {
        return std::min(header().used.load(std::memory_order_acquire), capacity());
    }
    // The owner takes the next deque, under the balance's lock. Null: there are no more.
    [[nodiscard]] global_deque* add(balance* owner, bool asymmetric) noexcept {
        std::uint32_t const index = used();
        if (index == capacity()) return nullptr;
        board& made = at(index);
        auto* const deque = ::new (static_cast<void*>(&made.deque)) global_deque;
        deque->owner = owner;
        deque->open(made.records, k_records, asymmetric);
        header().used.store(index + 1, std::memory_order_release); // pairs with used()
        return deque;
    }
    [[nodiscard]] global_deque& deque(std::uint32_t index) const noexcept {
        return at(index).deque;
    }

    // Shows other places, as hints, how many activities could be asked for, and whether there is a
    // worker without work.
    void show_activities(std::size_t count) noexcept {
        // relaxed: a hint
        header().activities.store(static_cast<std::uint32_t>(count), std::memory_order_relaxed);
    }
    // relaxed: as above
    void show_hunger(bool is_hungry) noexcept {
        header().hungry.store(is_hungry, std::memory_order_relaxed);
    }
    // relaxed: as above
    [[nodiscard]] bool shows_hunger() const noexcept {
        return header().hungry.load(std::memory_order_relaxed);
    }
    [[nodiscard]] bool shows_activities() const noexcept {
        return header().activities.load(std::memory_order_relaxed) != 0;
    } // relaxed: as above

    struct taken {
        global_record* here = nullptr; // null: nothing
        std::uint64_t there = 0;       // its address at the owner
    };
    // The oldest record of some deque, those after `first` first. By any OS thread of any place
    // that has the steal area.
    [[nodiscard]] taken steal(std::uint32_t first) const noexcept {
        std::uint32_t const count = used();
        for (std::uint32_t k = 0; k < count; ++k) {
            if (taken const found = steal_from(at((first + k) % count)); found.here != nullptr)
                return found;
        }
        return {};
    }
    [[nodiscard]] bool looks_stealable() const noexcept {
        for (std::uint32_t k = 0; k < used(); ++k) {
            if (at(k).deque.looks_stealable()) return true;
        }
        return false;
    }

private:
    struct alignas(64) head {
        std::atomic<std::uint32_t> used{0};
        std::atomic<std::uint32_t> activities{0};
        std::atomic<bool> hungry{false};
    };
    struct alignas(64) board {
        global_deque deque;
        global_record records[k_records];
    };
    static_assert(sizeof(head) + sizeof(board) <= k_least_bytes);

    static taken steal_from(board& victim) noexcept {
        global_record const* const there = global_thief(victim.deque).steal();
        if (there == nullptr) return {};
        // Shared by a thief of another process, it is ordered through that one, which
        // ThreadSanitizer does not see. acquire: pairs with publish
        if constexpr (base::k_thread_sanitizer)
            static_cast<void>(victim.deque.head.load(std::memory_order_acquire));
        return {victim.records + (there - victim.deque.base()),
                reinterpret_cast<std::uintptr_t>(there)};
    }
    [[nodiscard]] head& header() const noexcept {
        return *reinterpret_cast<head*>(m_memory.data());
    }
    [[nodiscard]] board& at(std::uint32_t index) const noexcept {
        TULLE_ASSERT(index < capacity(), "deque %u of %u", index, capacity());
        return reinterpret_cast<board*>(m_memory.data() + sizeof(head))[index];
    }

    std::span<std::byte> m_memory;
};

} // namespace tulle::balance
