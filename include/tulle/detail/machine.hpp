// SPDX-License-Identifier: Apache-2.0
// The machine that lock-free code runs on, as one policy: atomics, barriers, pauses. Protocols are
// templates over it, so that the model tests can put a simulated machine with stale reads in its
// place.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/cpu_pause.hpp>

#include <atomic>
#include <type_traits>

#include <sched.h>

namespace tulle::detail {

struct native_machine {
    template <class T> using atomic = std::atomic<T>;

    // word.load(Order) and word.store(value, Order), for what each fork and join executes. A
    // program that is compiled without optimization pays six calls for one of std::atomic's, and an
    // exchange for each store, because the order is no constant there.
    template <std::memory_order Order, class T>
    TULLE_INLINE static T load(std::atomic<T> const& word) noexcept {
        return __atomic_load_n(value_of(word), static_cast<int>(Order));
    }
    template <std::memory_order Order, class T>
    TULLE_INLINE static void store(std::atomic<T>& word, std::type_identity_t<T> value) noexcept {
        __atomic_store_n(const_cast<T*>(value_of(word)), value, static_cast<int>(Order));
    }

    // Keeps the compiler from reordering; the processor may. The heavy side of each such pair is
    // os::membarrier_heavy().
    TULLE_INLINE static void compiler_barrier() noexcept {
        std::atomic_signal_fence(std::memory_order_seq_cst);
    }
    static void fence_seq_cst() noexcept { std::atomic_thread_fence(std::memory_order_seq_cst); }

    static void pause() noexcept { cpu_pause(); }
    static void yield_processor() noexcept { sched_yield(); }

private:
    template <class T> TULLE_INLINE static T const* value_of(std::atomic<T> const& word) noexcept {
        static_assert(sizeof(std::atomic<T>) == sizeof(T) && std::atomic<T>::is_always_lock_free,
                      "it is its value and nothing else");
        return reinterpret_cast<T const*>(&word);
    }
};

} // namespace tulle::detail
