// SPDX-License-Identifier: Apache-2.0
// All stacks of a process: one arena per size class, thread-safe. The callers are the workers'
// caches, which take and give stacks in batches; the most recently released stack is given out
// first, its pages are warm.
// Errors: an empty span, with the reason in errno, when memory, mappings or address space run out;
// nothing throws.
// Memory ordering: the release of a stack happens before its next allocate.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>

#include "base/debug_access.hpp"
#include "os/memory.hpp"
#include "stack/guard.hpp"
#include "stack/size_class.hpp"
#include "stack/stack_span.hpp"
#include "stack/statistics.hpp"

namespace tulle::stack {

class stack_arena;

struct settings {
    guard_choice guard = guard_choice::automatic;
    os::memory_calls const* memory = nullptr; // nullptr: the operating system's
    // mprotect guards before going without; 0: a share of the mapping limit
    std::size_t protect_limit = 0;
    // Stacks in use at a time, of all classes; 0: as many as the system gives
    std::size_t most = 0;
};

class stack_pool {
public:
    explicit stack_pool(settings const& chosen = {});
    ~stack_pool(); // unmaps everything: no stack may be in use
    stack_pool(stack_pool const&) = delete;
    stack_pool& operator=(stack_pool const&) = delete;

    [[nodiscard]] span allocate(size_class wanted) noexcept;
    void release(span returned) noexcept;

    // Allocates up to `count` stacks at the price of about one. Returns how many were to be had.
    [[nodiscard]] std::size_t allocate_many(size_class wanted, span* out,
                                            std::size_t count) noexcept;
    // Releases stacks of one class.
    void release_many(span const* returned, std::size_t count) noexcept;

    // Whether a stack is of this pool. An empty one is of none.
    [[nodiscard]] bool owns(span stack) const noexcept;

    // Whether nothing was written below a stack that is in use, as far as can be seen. True where
    // it has a guard.
    [[nodiscard]] bool is_intact(span in_use) const noexcept;

    // Whether every stack counts: a limit was set, or the system has refused one. Callers that
    // cache stacks should stop then.
    // relaxed: a hint
    [[nodiscard]] bool is_short() const noexcept { return m_short.load(std::memory_order_relaxed); }

    // How many there may be at a time; 0: as many as the system gives.
    [[nodiscard]] std::size_t limit() const noexcept { return m_most; }

    // Gives the pages of free stacks back to the system; the stacks, their guards and the counts
    // stay.
    void trim() noexcept;

    // Each stack that is not free, for reports. Waits for a lock, but not for ever: in a copy of
    // the process nobody may be there to release it. The list is exact when no other thread uses
    // the pool.
    void visit(span_visitor visitor, void* argument) const noexcept;

    [[nodiscard]] statistics stats() const noexcept;
    [[nodiscard]] statistics stats(size_class chosen) const noexcept;

    // What guards a stack created now; may fall from mprotect to canary while the process runs.
    [[nodiscard]] guard_kind guard() const noexcept;
    [[nodiscard]] char const* guard_text() const noexcept { return text(guard()); }

private:
    friend struct base::debug_access;
    [[nodiscard]] stack_arena& arena_of(span returned) const noexcept;
    [[nodiscard]] std::size_t claim(std::size_t count) noexcept;

    std::size_t const m_most;
    std::atomic<std::size_t> m_claimed{0}; // in use, where there is a limit
    std::atomic<bool> m_short;
    guard_policy m_guards;
    std::array<std::unique_ptr<stack_arena>, k_class_count> m_arenas;
};

} // namespace tulle::stack
