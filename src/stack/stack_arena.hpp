// SPDX-License-Identifier: Apache-2.0
// The stacks of one size class. Address space is reserved in slabs of thousands of stacks; a slab
// is carved from its low end in batches, each batch gets its guards by one system call. Any thread
// may call any operation.
//
// A stack is named by {slab, index}. All bookkeeping lies outside the stacks, one word each, so
// that trimming them loses nothing: m_next[index] is k_in_use, or the name of the next free stack
// in the last-in-first-out list, or k_end.
// INV-1: in each slab  fresh <= carved <= count;  [0, fresh) were handed out before, [fresh,
//                      carved) never.
// INV-2: only the last slab has fresh < carved, or carved < count.
// INV-3: in each slab [0, guarded) have guards, [guarded, carved) have canaries: guards only ever
// get worse.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/debug_access.hpp"
#include "base/spin_lock.hpp"
#include "os/memory.hpp"
#include "stack/guard.hpp"
#include "stack/size_class.hpp"
#include "stack/stack_span.hpp"
#include "stack/statistics.hpp"

namespace tulle::stack {

class stack_arena {
public:
    stack_arena(size_class served, guard_policy& guards) noexcept;
    ~stack_arena();
    stack_arena(stack_arena const&) = delete;
    stack_arena& operator=(stack_arena const&) = delete;

    // Allocates up to `count` stacks; fewer, with the reason in errno, when the system refuses
    // more.
    [[nodiscard]] std::size_t allocate(span* out, std::size_t count) noexcept;
    void release(span const* returned, std::size_t count) noexcept;
    // Ends early when a stack is wanted meanwhile, whose pages would only be needed again.
    void trim() noexcept;
    [[nodiscard]] bool owns(std::byte const* low) const noexcept;
    [[nodiscard]] bool is_intact(span in_use) const noexcept; // stack_pool::is_intact
    [[nodiscard]] statistics stats() const noexcept;
    void visit(span_visitor visitor, void* argument) const noexcept; // stack_pool::visit

private:
    friend struct base::debug_access;
    // One reservation. `base`, `count` and `next` are fixed once it is in the table; the rest:
    // under m_lock.
    struct slab {
        std::byte* base;
        std::uint32_t* next;
        std::uint32_t count;
        std::uint32_t carved;
        std::uint32_t fresh;
        std::uint32_t guarded;
    };

    struct stack_name {
        std::uint32_t word;
        [[nodiscard]] std::uint32_t slab() const noexcept { return word >> 16U; }
        [[nodiscard]] std::uint32_t index() const noexcept { return word & 0xFFFFU; }
    };

    static constexpr std::uint32_t k_in_use = UINT32_MAX;
    static constexpr std::uint32_t k_end = UINT32_MAX - 1;
    static constexpr std::uint32_t k_most_slabs = 4096;
    static constexpr std::uint32_t k_most_stacks_per_slab = 65536;

    // The callers of these hold m_lock:
    [[nodiscard]] bool has_free() const noexcept;
    [[nodiscard]] std::size_t take(span* out, std::size_t count) noexcept;
    [[nodiscard]] stack_name take_one() noexcept;
    void put_one(span returned) noexcept;
    [[nodiscard]] stack_name name_of(std::byte* base) const noexcept;
    [[nodiscard]] bool has_canary(stack_name name) const noexcept;
    void trim_batch(slab const& home, std::uint32_t from, std::uint32_t to) noexcept;

    // The callers of these hold m_growing:
    [[nodiscard]] bool grow() noexcept;
    [[nodiscard]] bool grow_slab(slab& home) noexcept;
    [[nodiscard]] slab* slab_with_room() noexcept;
    [[nodiscard]] bool reserve_slab(slab& made, std::uint32_t count) noexcept;
    [[nodiscard]] std::uint32_t next_batch(slab const& home) const noexcept;
    [[nodiscard]] std::uint32_t next_slab_count() const noexcept;

    [[nodiscard]] std::byte* stack_base(slab const& home, std::uint32_t index) const noexcept {
        return home.base + std::size_t{index} * m_bytes;
    }

    size_class const m_class;
    std::size_t const m_guard_bytes; // 0 in the compact class
    std::size_t const m_bytes;       // address space per stack, guard included
    std::uint32_t const m_batch;     // stacks per growth, but for the first
    guard_policy& m_guards;

    // Free list, slab table, counts; never held over a system call but in trim()
    mutable base::spin_lock m_lock;
    base::spin_lock m_growing; // held over the system calls of a growth; taken before m_lock
    slab* m_slabs = nullptr;   // k_most_slabs of them, made at the first growth
    std::uint32_t m_slab_count = 0;
    std::uint32_t m_head = k_end;      // most recently released stack
    bool m_released = true;            // since the last growth
    std::atomic<bool> m_wanted{false}; // a stack, since the last trim() began
    statistics m_stats;
};

} // namespace tulle::stack
