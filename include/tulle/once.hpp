// SPDX-License-Identifier: Apache-2.0
// Something that is done once, by the thread that comes first. Contexts: any thread of the process.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/invoke.hpp>
#include <tulle/detail/opaque.hpp>

#include <atomic>
#include <cstdint>
#include <utility>

namespace tulle {

// Constant initialised, so it can be a global variable that needs no constructor at run time.
class once_flag {
public:
    constexpr once_flag() noexcept = default;
    once_flag(once_flag const&) = delete;
    once_flag& operator=(once_flag const&) = delete;

private:
    template <class F, class... A>
    friend void call_once(once_flag& flag, F&& callable, A&&... arguments);

    // acquire pairs with the release in finish.
    [[nodiscard]] bool is_done() const noexcept {
        return m_state.load(std::memory_order_acquire) == 2;
    }
    [[nodiscard]] TULLE_API bool begin() noexcept; // true: the caller does it
    TULLE_API void finish(bool done) noexcept;

    std::atomic<std::uint32_t> m_state{0};
    detail::opaque<32> m_queue;
};

// Calls `callable(arguments...)` unless that was done with this flag before. If another thread is
// at it, waits for it.
// An exception leaves the flag as it was: one of the waiting threads then calls its own callable.
// Must not be called from within `callable` with the same flag: it would wait for itself.
// Memory ordering: what the one successful call did happens before every return.
template <class F, class... A> void call_once(once_flag& flag, F&& callable, A&&... arguments) {
    if (TULLE_LIKELY(flag.is_done()) || !flag.begin()) return;
    struct closer {
        once_flag& flag;
        bool done = false;
        ~closer() { flag.finish(done); }
    } closing{flag};
    detail::invoke(std::forward<F>(callable), std::forward<A>(arguments)...);
    closing.done = true;
}

} // namespace tulle
