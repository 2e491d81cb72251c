// SPDX-License-Identifier: Apache-2.0
// The machine policy: the one template parameter by which lock-free code names its atomics,
// barriers and pauses.
// Production instantiates with base::machine (or os::machine, which adds the asymmetric fence and
// the futex); a model test instantiates the same code with model::machine (tests/model), where
// every access is explored and may be stale.
//
//   template <class Machine> class thing {
//       template <class T> using atomic = typename Machine::template atomic<T>;
//       template <class T> using plain = typename Machine::template plain<T>;
//   };
#pragma once

#include "base/cpu_pause.hpp"

#include <atomic>
#include <type_traits>
#include <utility>

namespace tulle::base {

// A variable that the protocol around it protects: no atomic access, only a point where a model
// test checks for races.
template <class T> class plain {
public:
    constexpr plain() noexcept(std::is_nothrow_default_constructible_v<T>) : m_value() {}
    constexpr explicit plain(T value) noexcept(std::is_nothrow_move_constructible_v<T>)
        : m_value(std::move(value)) {}
    plain(plain const&) = delete;
    plain& operator=(plain const&) = delete;

    [[nodiscard]] T load() const noexcept(std::is_nothrow_copy_constructible_v<T>) {
        return m_value;
    }
    void store(T value) noexcept(std::is_nothrow_move_assignable_v<T>) {
        m_value = std::move(value);
    }

private:
    T m_value;
};

struct machine {
    template <class T> using atomic = std::atomic<T>;
    template <class T> using plain = base::plain<T>;

    // Keeps the compiler from reordering; the processor may. The heavy side of each such pair is
    // heavy_fence().
    static void compiler_barrier() noexcept { std::atomic_signal_fence(std::memory_order_seq_cst); }
    static void fence(std::memory_order order) noexcept { std::atomic_thread_fence(order); }
    static void fence_seq_cst() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }
    // One step of a spin loop. Spinning without it delays the store that is waited for.
    static void pause() noexcept { cpu_pause(); }
};

} // namespace tulle::base
