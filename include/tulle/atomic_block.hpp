// SPDX-License-Identifier: Apache-2.0
// Atomic blocks, and blocks that wait for a condition. Of the blocks of one place one runs at a
// time, and none of another place is held up.
// A block may not wait for another thread, start a block, or call another place: such blocks could
// wait for each other for ever.
// Contexts: any thread of the process. Source: `atomic` and `when` of X10 (Charles and others,
// OOPSLA 2005).
#pragma once

#include <tulle/detail/collective.hpp>
#include <tulle/detail/invoke.hpp>

#include <mutex>
#include <utility>

namespace tulle {

namespace detail {

class atomic_block {
public:
    atomic_block() : m_lock(lock_of_atomic_blocks()) {}
    atomic_block(atomic_block const&) = delete;
    atomic_block& operator=(atomic_block const&) = delete;
    ~atomic_block() { end_of_atomic_block().notify_all(); }

    template <class Condition> void wait(Condition& condition) {
        end_of_atomic_block().wait(m_lock, std::ref(condition));
    }

private:
    std::unique_lock<mutex> m_lock;
};

} // namespace detail

// Returns what `block()` returns. Errors: what it throws.
template <class F> decltype(auto) atomically(F&& block) {
    detail::atomic_block const alone;
    return detail::invoke(std::forward<F>(block));
}

// Waits until `condition()` holds, and runs `block()` before anything can make it false, if only
// atomic blocks do. It is evaluated again after each block of this place.
template <class Condition, class F> decltype(auto) when(Condition condition, F&& block) {
    detail::atomic_block alone;
    alone.wait(condition);
    return detail::invoke(std::forward<F>(block));
}

} // namespace tulle
