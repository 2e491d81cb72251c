// SPDX-License-Identifier: Apache-2.0
// A mutex for each address, without an object for it: what is locked is a number, the memory there
// is not touched. Contexts: any thread of the process, and any may unlock. Waiters are served in
// the order of their coming. Where there is an object, tulle::mutex is cheaper.
// Source: Wheeler, Murphy and Thain, "Qthreads", IPDPS 2008, doi:10.1109/IPDPS.2008.4536359,
// section 3.1.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/chrono.hpp>
#include <tulle/detail/deadline.hpp>
#include <tulle/wait_limit.hpp>

#include <cstdint>

namespace tulle {

namespace detail {

// False: the limit was reached.
[[nodiscard]] TULLE_API bool lock_address(void const* address, limit until);
TULLE_API void unlock_address(void const* address) noexcept;

} // namespace detail

// Meets the requirements of std::lock_guard, std::unique_lock, std::scoped_lock (TimedLockable); a
// name of an address, not the lock itself: two of one address are one lock. Not recursive.
// It is the full/empty state of the byte at the address (<tulle/feb.hpp>): one address is not to be
// used for both at once. A debug build of the library ends the program with a message when it is,
// and when an address is unlocked that nobody has locked.
// Memory ordering: what happens before unlock() happens before the return of the lock() that
// follows it.
// Errors of all but unlock(): std::bad_alloc, with nothing done, when there is no memory to
// remember the lock.
class address_lock {
public:
    // Names the lock of the byte at this address; nothing is allocated, and the memory is not read.
    explicit address_lock(void const* address) noexcept : m_address(address) {}

    // Waits until nobody else has it locked.
    void lock() { static_cast<void>(detail::lock_address(m_address, detail::k_no_deadline)); }
    // False: the limit was reached.
    [[nodiscard]] bool lock(wait_limit const& limit) {
        return detail::lock_address(m_address, limit.get());
    }
    [[nodiscard]] bool try_lock() { return detail::lock_address(m_address, 0); }
    template <class Rep, class Period>
    [[nodiscard]] bool try_lock_for(std::chrono::duration<Rep, Period> const& timeout) {
        return detail::lock_address(m_address, detail::deadline_after(timeout));
    }
    template <class Clock, class Duration>
    [[nodiscard]] bool try_lock_until(std::chrono::time_point<Clock, Duration> const& deadline) {
        return detail::lock_address(m_address, detail::deadline_at(deadline));
    }
    // By any thread. The one that has waited longest gets it.
    void unlock() noexcept { detail::unlock_address(m_address); }

private:
    void const* m_address;
};

} // namespace tulle
