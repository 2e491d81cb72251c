// SPDX-License-Identifier: Apache-2.0
// Waits at this place for objects of its own that other places have asked for
// (<tulle/detail/home_call.hpp>).
//   A limit that is reached where it was given sends a cancellation; once the call has been
//   answered, that place sends the number again, to forget it. Both may overtake
//   the call and each other: a mark counts cancellations less what was forgotten, so whichever
//   order they come in, a wait that begins later sees the cancellation, and nothing is left in the
//   end. When a place dies, its waits end without having done anything, its marks go, and the
//   objects that it held are lost: threads that wait for one of them learn it. A wait that was over
//   a moment before is undone by its own thread, which checks for the death last
//   (home_call::serve).
#pragma once

#include "base/intrusive_list.hpp"

#include <tulle/detail/home_call.hpp>
#include <tulle/mutex.hpp>

#include <cstdint>
#include <map>

namespace tulle::teams {

class home_waits {
public:
    home_waits() = default;
    home_waits(home_waits const&) = delete;
    home_waits& operator=(home_waits const&) = delete;

    void add(detail::home_wait& one) noexcept;
    void remove(detail::home_wait& one) noexcept;
    // The place that has asked sends these. They throw std::bad_alloc.
    void cancel(std::uint64_t number) { mark(number, 1); }
    void forget(std::uint64_t number) { mark(number, -1); }
    // Ends the waits of a place that is known to be dead.
    void lose(int place) noexcept;

    void hold(std::uint64_t object, int place);
    void let_go(std::uint64_t object, int place);
    void check(std::uint64_t object) const;
    [[nodiscard]] int dead_holder(detail::home_wait const& one) const; // -1: none
    // Nobody waits or holds, and nothing is marked. A snapshot.
    [[nodiscard]] bool is_idle() const;

private:
    struct holding {
        int place;
        bool is_lost = false; // the place died with it
    };

    void mark(std::uint64_t number, int by);
    template <class Predicate> void end_waits(Predicate is_over) noexcept;
    [[nodiscard]] bool is_lost(detail::home_wait& one) const noexcept;

    mutable mutex m_lock; // guards the rest
    base::intrusive_list<&detail::home_wait::m_next, &detail::home_wait::m_before> m_waits;
    std::map<std::uint64_t, int> m_marks; // those that are not zero
    std::map<std::uint64_t, holding> m_held;
};

} // namespace tulle::teams
