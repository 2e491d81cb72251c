// SPDX-License-Identifier: Apache-2.0
// What all parts of the face share: how it is started, what was chosen for that, and errors.
#pragma once

#include <myth/myth.h>
#include <tulle/detail/attributes.hpp>

#include <atomic>
#include <cerrno>
#include <new>
#include <system_error>

namespace tulle::myth {

inline constexpr std::size_t k_default_stack = 131072; // of MassiveThreads
// Of a native stack: its guard, and what lies at its top.
inline constexpr std::size_t k_stack_overhead = 8192;

// Written before `running`, and by the thread that starts or ends.
struct library {
    std::atomic<bool> running{false};
    bool has_started_tulle = false; // else somebody else has
    std::size_t stack_size = k_default_stack;
    bool child_first = true;
};
[[nodiscard]] inline library& the() noexcept {
    static constinit library s_the;
    return s_the;
}

// 0, or why it cannot start. `attr` null: as chosen before.
[[nodiscard]] int start(myth_globalattr_t const* attr) noexcept;

// By every function that makes a thread, may wait or asks for a worker, so that the first of them
// starts with the environment of this interface rather than with Tulle's own.
[[nodiscard]] TULLE_INLINE int ensure_started() noexcept {
    // Pairs with start.
    if (TULLE_LIKELY(the().running.load(std::memory_order_acquire))) return 0;
    return start(nullptr);
}

// The attributes of the next start that has none of its own.
[[nodiscard]] myth_globalattr_t& chosen() noexcept;

// What `action` throws as an errno value; 0 if it returns.
template <class Action> TULLE_INLINE int guarded(Action action) noexcept {
    try {
        action();
        return 0;
    } catch (std::bad_alloc const&) {
        return ENOMEM;
    } catch (std::system_error const& e) {
        return e.code().value();
    } catch (...) {
        return EINVAL;
    }
}

template <class... Pointer> [[nodiscard]] bool any_null(Pointer... p) noexcept {
    return ((p == nullptr) || ...);
}

// The result of a function of Tulle's C interface.
[[nodiscard]] inline int positive(int result) noexcept { return -result; }

template <class T> [[nodiscard]] T* refuse(int error) noexcept {
    errno = error;
    return nullptr;
}

} // namespace tulle::myth
