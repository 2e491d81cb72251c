// SPDX-License-Identifier: Apache-2.0
// How deep threads have used their stacks, by where they were spawned: the option `stack_report`.
// Loops that measure are other instances of the same templates (loop.cpp), so that nothing is asked
// where the option is off.
// Memory that a stack has not used reads zero. A loop clears what lies below its frame, runs a
// thread, and searches for the lowest word that is not zero. What a thread runs as calls, children
// and joined threads included, counts for the thread whose stack it is.
#pragma once

#include "base/spin_lock.hpp"
#include "stack/stack_span.hpp"

#include <tulle/detail/thread_core.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace tulle::sched {

// The thread that runs at the bottom of a stack, as one of all that are spawned at its site.
struct stack_user {
    // Where it was spawned, an address behind the call; or, forked, its function.
    void const* site = nullptr;
    bool is_forked = false;
    std::size_t stack_bytes = 0; // guard included
    [[nodiscard]] friend bool operator==(stack_user const&, stack_user const&) noexcept = default;
};

struct stack_use {
    stack_user user;
    std::uint64_t threads = 0;
    std::uint64_t sum_of_bytes = 0;
    std::size_t most_bytes = 0; // from the end of the stack, with what the library has there
};

class stack_uses {
public:
    static constexpr std::size_t k_most_users = 1024;

    // Any thread. What no longer fits is only counted.
    void add(stack_user const& user, std::size_t bytes) noexcept;
    // visitor(argument, use) for each kind of user, in no particular order; under a lock.
    void visit(void (*visitor)(void* argument, stack_use const& seen), void* argument) noexcept;
    [[nodiscard]] std::uint64_t left_out() noexcept; // threads

private:
    [[nodiscard]] stack_use* find(stack_user const& user) noexcept;

    base::spin_lock m_lock;
    std::array<stack_use, k_most_users> m_uses{}; // open addressing; unused: no threads
    std::uint64_t m_left_out = 0;
};

// Clears the caller's stack from its low end to shortly below the caller's frame.
void clear_unused(stack::span own) noexcept;
// Bytes between the lowest word that is not zero and the end.
[[nodiscard]] std::size_t used_bytes(stack::span own) noexcept;

} // namespace tulle::sched
