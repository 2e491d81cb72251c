// SPDX-License-Identifier: Apache-2.0
// futex(2) for the threads of a process, without the kernel: a hash table of waiters by the
// address of their words. All locks stand on it, so that they keep the C library's layouts, and a
// lock that is taken when no thread has been made yet is the same lock afterwards.
// A waiter enters before it reads the word, under the bucket's lock, and a waker changes the word
// before it looks at the count of waiters; full fences on both sides make one see the other.
#pragma once

#include "compat/pthread/threads/thread.hpp"

#include <atomic>
#include <climits>
#include <cstdint>

namespace tulle::posix {

using futex_word = std::atomic<std::uint32_t>;

inline constexpr std::uint32_t k_any_bits = ~std::uint32_t{0};

[[nodiscard]] inline futex_word& word_of(int& word) noexcept {
    return reinterpret_cast<futex_word&>(word);
}
[[nodiscard]] inline futex_word& word_of(unsigned& word) noexcept {
    return reinterpret_cast<futex_word&>(word);
}

// Of one that waits for a lock (free_or_hand_on).
struct lock_turns {
    std::uint32_t granted; // the word of the lock when this one has been handed it
    unsigned lost = 0;     // it was woken, and another thread had the lock again
    bool is_granted = false;
};

// 0: woken, perhaps for nothing. EAGAIN: the word is not `expected`. ETIMEDOUT, ECANCELED: the
// limit. Before threads are made the OS thread waits in the kernel; EINTR: a handler has run.
[[nodiscard]] int futex_wait(futex_word& word, std::uint32_t expected, limit until,
                             std::uint32_t bits = k_any_bits, lock_turns* turns = nullptr) noexcept;
// Wakes the first `most` of those whose bits have one in common with `bits`; how many.
int futex_wake(futex_word& word, int most, std::uint32_t bits = k_any_bits) noexcept;

// While one exists the caller may wait in the kernel, and wakes look there, too.
class kernel_waiter {
public:
    // seq_cst, full: F1 (futex_table.cpp), as the kernel reads the word after it.
    kernel_waiter() noexcept { s_count.fetch_add(1, std::memory_order_seq_cst); }
    kernel_waiter(kernel_waiter const&) = delete;
    kernel_waiter& operator=(kernel_waiter const&) = delete;
    // relaxed: one more wake does no harm
    ~kernel_waiter() { s_count.fetch_sub(1, std::memory_order_relaxed); }

    // relaxed: F2
    [[nodiscard]] static bool is_any() noexcept {
        return TULLE_UNLIKELY(s_count.load(std::memory_order_relaxed) != 0);
    }
    // In a forked child.
    static void forget() noexcept { s_count.store(0, std::memory_order_relaxed); }

private:
    static inline constinit std::atomic<int> s_count{0};
};

// By the only holder of a lock, whose word is not 0 as long as it is held: sets it to 0, or, if the
// first waiter has lost often enough, hands the lock to that one: where a thread takes a lock again
// as soon as it has let go of it, whoever is woken comes too late each time, with one worker for
// ever. (In the kernel the time that a wake-up takes lets others in.) Wakes the first `most`.
void free_or_hand_on(futex_word& lock, int most) noexcept;

// While one exists in a handler that the kernel has called, and that may have interrupted this
// table, or the run time: futex_wake leaves what it would do to the OS thread that hands signals
// out. The variable is the thread's, or of a worker that runs none; where a signal interrupts a
// switch it is that of either, until the handler returns.
class wakes_left {
public:
    // The stack that the signal has interrupted, up to where.
    explicit wakes_left(std::uintptr_t interrupted_at) noexcept;
    wakes_left(wakes_left const&) = delete;
    wakes_left& operator=(wakes_left const&) = delete;
    ~wakes_left() { s_innermost = m_outer; }

    [[nodiscard]] static bool by_caller() noexcept { return s_innermost != nullptr; }
    // That of the caller's innermost handler; null: none.
    [[nodiscard]] static wakes_left const* of_caller() noexcept { return s_innermost; }
    // The caller is where this one was returned by of_caller.
    static void restore(wakes_left const* it) noexcept { s_innermost = it; }
    // The caller jumps to where `it` was returned by of_caller, out of handlers perhaps: of those
    // that it is in, only `it` and what is outside of that are left.
    static void jump_to(wakes_left const* it) noexcept;
    // It jumps to where this buffer was filled, of which nothing else is known: if it lies in a
    // frame of one of its handlers, it stays in that one; otherwise it leaves all of them.
    static void jump_to_frame_of(void const* buffer) noexcept;
    // By that OS thread.
    static void make_up() noexcept;

private:
    wakes_left const* const m_outer; // of a handler that has been interrupted
    std::uintptr_t const m_interrupted_at;

    static inline constinit thread_local wakes_left const* s_innermost = nullptr;
};

// From the end of the run time's preparations for a fork, which hold its locks, until they are
// undone, the thread that forks waits for locks in the kernel: others could not run. In the child
// there are no others, and a mutex that is held is its own, such as one that the program's
// allocator holds over a fork: what it guards is as a fork needs it, and the run time, which takes
// memory then, is given the mutex.
class forking {
public:
    static void begin() noexcept { s_state = state::forks; }
    static void enter_child() noexcept { s_state = state::is_child; }
    static void end() noexcept { s_state = state::none; }
    [[nodiscard]] static bool by_caller() noexcept { return s_state == state::forks; }
    [[nodiscard]] static bool in_child() noexcept { return s_state == state::is_child; }

private:
    enum class state : std::uint8_t { none, forks, is_child };
    static inline constinit thread_local state s_state = state::none;
};

// In a forked child: those that waited are in the parent.
void forget_futex_waiters() noexcept;

} // namespace tulle::posix
