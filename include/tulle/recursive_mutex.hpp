// SPDX-License-Identifier: Apache-2.0
// A mutex that its holder may lock again. Contexts: any thread of the process.
#pragma once

#include <tulle/detail/chrono.hpp>
#include <tulle/mutex.hpp>
#include <tulle/this_thread.hpp>

#include <atomic>
#include <cstdint>

namespace tulle {

// As tulle::mutex otherwise; free after as many unlocks as locks. Its holder is a thread with an
// identity (this_thread::get_id()): a forked child that nobody has stolen is a call in its parent,
// and may lock what the parent holds; a stolen one waits. So do not fork with it held.
class recursive_mutex {
public:
    constexpr recursive_mutex() noexcept = default;
    recursive_mutex(recursive_mutex const&) = delete;
    recursive_mutex& operator=(recursive_mutex const&) = delete;

    // Waits until no other thread holds it.
    void lock() {
        thread_id const self = this_thread::get_id();
        if (enter_again(self)) return;
        m_mutex.lock();
        enter(self);
    }
    // False at once if another thread holds it.
    [[nodiscard]] bool try_lock() {
        return acquire([this] { return m_mutex.try_lock(); });
    }
    // False if the limit is reached, as below.
    [[nodiscard]] bool lock(wait_limit const& limit) {
        return acquire([this, &limit] { return m_mutex.lock(limit); });
    }
    // False if the time is up. A time-out in the past behaves as try_lock().
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& timeout) {
        return acquire([this, &timeout] { return m_mutex.try_lock_for(timeout); });
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return acquire([this, &deadline] { return m_mutex.try_lock_until(deadline); });
    }
    // Ends the program with a message when another thread than its holder unlocks it.
    void unlock() {
        if (!is_held_by(this_thread::get_id())) unlocked_by_stranger();
        if (--m_depth != 0) return;
        m_mutex.m_owner.store(0, std::memory_order_relaxed); // relaxed: see is_held_by
        m_mutex.release();
    }

private:
    // relaxed, here and where it is written: only the caller's own number is compared with, and it
    // wrote that itself.
    [[nodiscard]] bool is_held_by(thread_id self) const noexcept {
        return m_mutex.m_owner.load(std::memory_order_relaxed) == self;
    }
    [[nodiscard]] bool enter_again(thread_id self) noexcept {
        bool const again = is_held_by(self);
        if (again) ++m_depth;
        return again;
    }
    void enter(thread_id self) noexcept {
        m_mutex.m_owner.store(self, std::memory_order_relaxed); // relaxed: see is_held_by
        m_depth = 1;
    }
    template <class Lock> [[nodiscard]] bool acquire(Lock lock_mutex) {
        thread_id const self = this_thread::get_id();
        if (enter_again(self)) return true;
        bool const locked = lock_mutex();
        if (locked) enter(self);
        return locked;
    }
    [[noreturn]] TULLE_API TULLE_COLD void unlocked_by_stranger() const noexcept;

    // Its owner is kept here in any case, where reports of waiting threads find it.
    mutex m_mutex;
    std::uint64_t m_depth = 0; // by the holder
};

} // namespace tulle
