// SPDX-License-Identifier: Apache-2.0
// Objects on which processes wait, for processes on other machines than the one that has them: what
// they want is done at the object's home by the thread that takes messages there, in the same
// memory and lists that processes of that machine use.
#pragma once

#include "compat/parmacs/machines.hpp"
#include "compat/parmacs/waiting.hpp"

#include <tulle/c/sync.h>

#include <cstdint>

namespace tulle::parmacs {

// What an object is. Distinct, and nothing that other memory is likely to begin with; `part`: of
// the world, without a mark in front.
enum class kind : std::uint64_t {
    part,
    lock = 0x504C6F636BULL,
    barrier,
    subscript,
    event,
    condition
};

template <class T> struct named {
    kind what;
    T object;
};

enum class action : std::uint32_t {
    wait_for_value, // as shared_value::wait
    change,         // the amount: the new value
    add,
    take_lock,    // the amount: whether it is contended there
    release_lock, // by the machine that has it; the amount: how it has left there
    find_keeper,
    grant_lock,  // to one that waits for it; the amount: whether it is wanted already
    recall_lock, // this and the next one from a machine that may have it; more: whom to tell
    unlock_here,
    enter_condition,
    wake_one,
    wake_all,
    wait_at_barrier, // the amount: processes
    next_subscript,  // the amount: processes, more: the last one
    take_place,      // of the world at place 0, as those that follow (world.hpp)
    give_place,
    start_clock,
    stop_clock
};

struct home_request {
    action what = action::take_lock;
    kind of = kind::part;
    std::uint64_t object = 0; // its address
    std::int64_t amount = 0;
    std::int64_t more = 0;
    wish wanted = wish::set_already;
    std::uint64_t signal = 0; // of the caller, if it may have to wait
};
[[nodiscard]] inline void* object_in(home_request const& wanted) noexcept {
    return reinterpret_cast<void*>(wanted.object); // NOLINT(performance-no-int-to-ptr)
}

inline constexpr std::int64_t k_waits = INT64_MIN;       // the signal is notified
inline constexpr std::int64_t k_no_object = k_waits + 1; // it is none of that kind

// -1: loads and stores reach the object.
[[nodiscard]] int home_beyond(void const* object) noexcept; // where there are several machines
[[nodiscard]] inline int far_home_of(void const* object) noexcept {
    return spans_machines() ? home_beyond(object) : -1;
}
// Done by the home; ends the program if that cannot be asked.
[[nodiscard]] std::int64_t ask_home(int home, home_request const& wanted) noexcept;
// Done there some time; does not wait, and any thread may call it. What is told may overtake what
// was told or asked before.
void tell_process(int place, home_request const& told) noexcept;
// By the world, wherever it is.
std::int64_t ask_world(home_request const& wanted) noexcept;
void wait_on(tulle_signal_t& told) noexcept;
// As ask_home(), and waits if that is the answer, which is 1 then.
std::int64_t ask_home_and_wait(int home, home_request wanted) noexcept;
// By each process, before others ask it: makes the entries in which they wait here.
void expect_far_processes() noexcept;

} // namespace tulle::parmacs
