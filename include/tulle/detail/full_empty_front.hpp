// SPDX-License-Identifier: Apache-2.0
// The state of a tulle::full_empty: one word, which is its own lock. What it says:
//   n * 8        full
//   n * 8 + 1    empty; n counts emptyings, so that a reader without the lock sees that there was
//                one
//   2            locked
//   pointer | 4  a queue of threads that wait; it lies in the frame of one of them
//                (src/sync/word_queue.hpp), and its `next` says the state
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/feb_operation.hpp>
#include <tulle/detail/limit.hpp>
#include <tulle/detail/machine.hpp>
#include <tulle/detail/spin_wait.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tulle::detail {

template <class Machine> struct basic_full_empty_front {
    template <class T> using atomic = typename Machine::template atomic<T>;
    using value = std::uintptr_t;

    static constexpr value k_full = 0, k_empty = 1, k_locked = 2;

    atomic<value> state{k_empty};

    [[nodiscard]] static constexpr bool is_full(value v) noexcept { return (v & 7) == k_full; }
    [[nodiscard]] static constexpr bool is_empty(value v) noexcept { return (v & 7) == k_empty; }
    // The state after a full word was emptied, or an empty one filled.
    [[nodiscard]] static constexpr value emptied(value v) noexcept { return v + 8 + k_empty; }
    [[nodiscard]] static constexpr value filled(value v) noexcept { return v - k_empty; }

    // Hints that save an attempt in vain. relaxed: a waiter checks again under the lock.
    [[nodiscard]] TULLE_INLINE bool looks_full() const noexcept {
        return is_full(state.load(std::memory_order_relaxed));
    }
    [[nodiscard]] TULLE_INLINE bool looks_empty() const noexcept {
        return is_empty(state.load(std::memory_order_relaxed));
    }

    // Takes the lock. Returns what the word said; never k_locked.
    [[nodiscard]] TULLE_INLINE value lock() noexcept {
        // Pairs with unlock.
        value const before = state.exchange(k_locked, std::memory_order_acquire);
        return TULLE_LIKELY(before != k_locked) ? before : lock_contended();
    }
    // Pairs with lock. This is the last access.
    TULLE_INLINE void unlock(value now) noexcept { state.store(now, std::memory_order_release); }

    // Load reads the value with acquire; it is stored with release, under the lock. So a reader
    // that sees a value sees the lock of its writer, or what came of it, when it reads the state
    // for the second time: relaxed is enough there. False: not full, or locked.
    template <class Load> [[nodiscard]] TULLE_INLINE bool read_unlocked(Load load) noexcept {
        for (;;) {
            value const before = state.load(std::memory_order_acquire); // pairs with unlock
            if (TULLE_UNLIKELY(!is_full(before))) return false;
            load();
            if (TULLE_LIKELY(state.load(std::memory_order_relaxed) == before)) return true;
        }
    }

private:
    TULLE_NOINLINE value lock_contended() noexcept {
        for (spin_wait<Machine> wait;;) {
            // relaxed: only a hint when to try again.
            while (state.load(std::memory_order_relaxed) == k_locked) wait.step();
            value const before = state.exchange(k_locked, std::memory_order_acquire); // as in lock
            if (before != k_locked) return before;
        }
    }
};

using full_empty_front = basic_full_empty_front<native_machine>;

// The value of a tulle::full_empty, for the library. A buffer is a value in the frame of a thread.
// The copies are null for what cannot be copied.
struct value_operations {
    void (*copy_out)(void const* object, void* buffer) noexcept;
    void (*move_out)(void* object, void* buffer) noexcept;
    void (*copy_in)(void* object, void const* buffer) noexcept;
    void (*move_in)(void* object, void* buffer) noexcept;
    void (*pass)(void* target, void const* source) noexcept; // from buffer to buffer
};

// The rest of an operation that has locked the front and found that it must wait, or that threads
// wait. False: time is up, nothing was done.
[[nodiscard]] TULLE_API bool apply_full_empty(full_empty_front& front,
                                              full_empty_front::value before, void* object,
                                              value_operations const& type, feb_operation operation,
                                              void* buffer, limit until) noexcept;
// Performs an operation that seems to have to wait, as long as it takes.
TULLE_API void wait_full_empty(full_empty_front& front, void* object, value_operations const& type,
                               feb_operation operation, void* buffer) noexcept;
[[nodiscard]] TULLE_API bool is_full_slow(full_empty_front const& front) noexcept;
// Writes the numbers of at most `capacity` waiting threads; how many wait.
[[nodiscard]] TULLE_API std::size_t full_empty_waiting(full_empty_front const& front,
                                                       std::uint64_t* ids,
                                                       std::size_t capacity) noexcept;

} // namespace tulle::detail
