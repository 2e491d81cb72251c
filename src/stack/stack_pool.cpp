// SPDX-License-Identifier: Apache-2.0
#include "stack/stack_pool.hpp"

#include "stack/stack_arena.hpp"

#include <algorithm>
#include <cerrno>

namespace tulle::stack {
namespace {

void add(statistics& sum, statistics const& part) noexcept {
    sum.reserved_bytes += part.reserved_bytes;
    sum.created += part.created;
    sum.in_use += part.in_use;
    sum.high_water += part.high_water;
    sum.growths += part.growths;
    sum.unguarded += part.unguarded;
}

} // namespace

stack_pool::stack_pool(settings const& chosen)
    : m_most(chosen.most),
      m_short(chosen.most != 0),
      m_guards(chosen.guard, chosen.memory != nullptr ? *chosen.memory : os::system_memory(),
               chosen.protect_limit) {
    for (std::size_t i = 0; i < k_class_count; ++i) {
        m_arenas[i] =
            std::make_unique<stack_arena>(size_class{static_cast<std::uint8_t>(i)}, m_guards);
    }
}

stack_pool::~stack_pool() = default;

span stack_pool::allocate(size_class wanted) noexcept {
    span one;
    return allocate_many(wanted, &one, 1) == 1 ? one : span{};
}

void stack_pool::release(span returned) noexcept { release_many(&returned, 1); }

std::size_t stack_pool::allocate_many(size_class wanted, span* out, std::size_t count) noexcept {
    std::size_t const claimed = claim(count);
    std::size_t const got = m_arenas[wanted.index]->allocate(out, claimed);
    if (got < claimed) {
        m_short.store(true, std::memory_order_relaxed); // relaxed: a hint
    }
    if (m_most != 0) {
        // relaxed: a count that guards no other data
        m_claimed.fetch_sub(claimed - got, std::memory_order_relaxed);
    }
    return got;
}

// Claims as many of `count` as the limit leaves.
std::size_t stack_pool::claim(std::size_t count) noexcept {
    if (m_most == 0) {
        return count;
    }
    std::size_t claimed = m_claimed.load(std::memory_order_relaxed); // relaxed: as above
    std::size_t fit = 0;
    do {
        fit = std::min(count, m_most - claimed);
    } while (!m_claimed.compare_exchange_weak(claimed, claimed + fit, std::memory_order_relaxed));
    if (fit < count) {
        errno = EAGAIN;
    }
    return fit;
}

void stack_pool::release_many(span const* returned, std::size_t count) noexcept {
    if (count > 0) {
        arena_of(*returned).release(returned, count);
        if (m_most != 0) {
            m_claimed.fetch_sub(count, std::memory_order_relaxed); // relaxed: as in allocate_many
        }
    }
}

stack_arena& stack_pool::arena_of(span returned) const noexcept {
    // A guard takes less than half of a stack: the size rounds up.
    return *m_arenas[class_for(returned.size).index];
}

bool stack_pool::owns(span stack) const noexcept {
    return stack && arena_of(stack).owns(stack.low);
}

bool stack_pool::is_intact(span in_use) const noexcept {
    return arena_of(in_use).is_intact(in_use);
}

void stack_pool::trim() noexcept {
    for (auto const& arena : m_arenas) {
        arena->trim();
    }
}

void stack_pool::visit(span_visitor visitor, void* argument) const noexcept {
    for (auto const& arena : m_arenas) arena->visit(visitor, argument);
}

statistics stack_pool::stats() const noexcept {
    statistics sum;
    for (auto const& arena : m_arenas) {
        add(sum, arena->stats());
    }
    return sum;
}

statistics stack_pool::stats(size_class chosen) const noexcept {
    return m_arenas[chosen.index]->stats();
}

guard_kind stack_pool::guard() const noexcept { return m_guards.kind(); }

} // namespace tulle::stack
