// SPDX-License-Identifier: Apache-2.0
// The end of an OS thread is noted by the destructor of a key, which the C library calls where the
// thread returns, calls pthread_exit or is cancelled, and not where the process ends. A thread has
// ended in the last round of destructors: what is to be done at its end, the process would cut off.
#include "compat/pthread/threads/living.hpp"

#include "compat/pthread/c_library/libc.hpp"
#include "compat/pthread/locks/futex_table.hpp"
#include "compat/pthread/signals/signals.hpp"
#include "compat/pthread/threads/thread.hpp"
#include "compat/pthread/threads/uncancelled.hpp"

#include <tulle/thread.hpp>

#include <climits>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include <sys/syscall.h>

namespace tulle::posix::living {

namespace {

constexpr pthread_key_t k_no_key = ~pthread_key_t{0};

constinit std::atomic<std::uint32_t> s_alive{1}; // main, at first; a word of the futex table
constinit std::atomic<bool> s_main_ends{false};
constinit std::atomic<bool> s_is_watched{false};       // a thread waits for the last one
constinit std::atomic<bool> s_is_main_expected{false}; // main has a value for the key
constinit std::atomic<pthread_key_t> s_key{k_no_key};

bool is_main() noexcept { return TULLE_LIBC(syscall)(static_cast<long>(SYS_gettid)) == getpid(); }

// Main ends before the run time starts, or sees that it has started, or whoever starts it sees that
// main ends: both come here after that. The C library ends the process where there is none.
void watch_if_main_ends() noexcept {
    std::atomic_thread_fence(std::memory_order_seq_cst);
    // relaxed: the fence. acq_rel: one of both makes the thread.
    if (!s_main_ends.load(std::memory_order_relaxed) || !is_started()) return;
    if (s_is_watched.exchange(true, std::memory_order_acq_rel)) return;
    uncancelled const meanwhile;
    spawn_detached([] { exit_with_last(); });
}

void let_main_end() noexcept {
    note_end_of_main();
    s_main_ends.store(true, std::memory_order_relaxed); // relaxed: followed by a fence
    watch_if_main_ends();
}

// Of an OS thread; `round` counts from 1.
void end_os_thread(void* round) noexcept {
    auto const number = reinterpret_cast<std::uintptr_t>(round);
    if (is_main()) let_main_end();
    pthread_key_t const key = s_key.load(std::memory_order_relaxed); // relaxed: it does not change
    bool const is_last = number >= PTHREAD_DESTRUCTOR_ITERATIONS ||
                         pthread_setspecific(key, reinterpret_cast<void*>(number + 1)) != 0;
    if (is_last) end_one();
}

// relaxed, both: main makes it before it makes threads.
bool has_key() noexcept {
    if (s_key.load(std::memory_order_relaxed) != k_no_key) return true;
    pthread_key_t made{};
    if (!is_main() || TULLE_LIBC(pthread_key_create)(&made, &end_os_thread) != 0) return false;
    s_key.store(made, std::memory_order_relaxed);
    return true;
}

} // namespace

// relaxed, all but one: under the lock. release: who sees that none is left sees what they have
// done.
void add_one() noexcept {
    s_alive.store(s_alive.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}
bool remove_one() noexcept {
    std::uint32_t const left = s_alive.load(std::memory_order_relaxed) - 1;
    s_alive.store(left, std::memory_order_release);
    return left == 0;
}
void tell_of_last() noexcept { futex_wake(s_alive, INT_MAX); }

void add() noexcept {
    std::lock_guard const held(thread_blocks::lock_of_all());
    add_one();
}

void end_one() noexcept {
    bool is_last = false;
    {
        std::lock_guard const held(thread_blocks::lock_of_all());
        is_last = remove_one();
    }
    if (is_last) tell_of_last();
}

void exit_with_last() {
    for (;;) {
        std::uint32_t const alive =
            s_alive.load(std::memory_order_acquire); // pairs with remove_one
        if (alive == 0) std::exit(0);
        static_cast<void>(futex_wait(s_alive, alive, limit(wait::k_never)));
    }
}

// relaxed: the key. A value that is there already may be that of a later round.
bool expect_own_end() noexcept {
    if (!has_key()) return false;
    pthread_key_t const key = s_key.load(std::memory_order_relaxed);
    return pthread_getspecific(key) != nullptr ||
           pthread_setspecific(key, reinterpret_cast<void*>(std::uintptr_t{1})) == 0;
}

// relaxed, both: main's own, or a hint. A thread of ours that is main in a forked child ends the
// process itself (run_thread).
bool expect_end_of_main() noexcept {
    if (TULLE_LIKELY(s_is_main_expected.load(std::memory_order_relaxed))) return true;
    if (!is_main()) return true;
    if (self() == nullptr && !expect_own_end()) return false;
    s_is_main_expected.store(true, std::memory_order_relaxed);
    return true;
}

void end_main() noexcept {
    let_main_end();
    end_one();
}

void begin_to_watch() noexcept { watch_if_main_ends(); }

// relaxed, all: there is one thread. Whoever held the lock left what it guards whole at each
// moment.
void forget_others() noexcept {
    ::new (static_cast<void*>(&thread_blocks::lock_of_all())) base::spin_lock;
    s_alive.store(1, std::memory_order_relaxed);
    s_main_ends.store(false, std::memory_order_relaxed);
    s_is_watched.store(false, std::memory_order_relaxed);
    s_is_main_expected.store(false, std::memory_order_relaxed);
}

} // namespace tulle::posix::living
