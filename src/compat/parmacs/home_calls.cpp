// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/home_calls.hpp"

#include "compat/parmacs/failure.hpp"
#include "compat/parmacs/machines.hpp"
#include "compat/parmacs/spanning_lock.hpp"
#include "compat/parmacs/world.hpp"

#include <tulle.h>
#include <tulle/detail/active_message.hpp>

#include <cerrno>
#include <cstring>
#include <new>
#include <span>

namespace tulle::parmacs {

namespace {

// A process waits on one thing at a time, so one entry for each is enough at a home. In global
// memory, as the processes of this machine link them into lists.
waiter* s_entries = nullptr; // by places

waiter& entry_of(int place, home_request const& wanted) noexcept {
    waiter& own = s_entries[place];
    own.next = nullptr;
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    own.signal = reinterpret_cast<tulle_signal_t*>(wanted.signal);
    own.place = place;
    own.what = wanted.wanted;
    own.amount = wanted.amount;
    return own;
}

template <class T> T* object_of(home_request const& wanted) noexcept {
    void* const at = object_in(wanted);
    if (wanted.of == kind::part) return static_cast<T*>(at);
    auto* const found = static_cast<named<T>*>(at);
    return found->what == wanted.of ? &found->object : nullptr;
}

std::int64_t on_value(int from, home_request const& wanted) noexcept {
    auto* const value = object_of<shared_value>(wanted);
    if (value == nullptr) return k_no_object;
    switch (wanted.what) {
        case action::change: return value->change(wanted.amount) ? 1 : 0;
        case action::add: value->add(wanted.amount); return 0;
        default: break;
    }
    waiter& own = entry_of(from, wanted);
    return value->enter(own) ? 1 : k_waits;
}

// The thread that takes messages takes the lock of the share's list in recall() and unlock(), and
// the home's own: both are held for a few instructions, in which nobody asks, waits, or takes
// messages, and neither while the other is. So it waits at most for a processor.
std::int64_t on_lock(int from, home_request const& wanted) noexcept {
    switch (wanted.what) {
        case action::recall_lock: recall_here(wanted); return 0;
        case action::unlock_here: return unlock_for_others(wanted);
        case action::grant_lock: take_grant(wanted); return 0;
        default: break;
    }
    spanning_lock* const lock = object_of<spanning_lock>(wanted);
    if (lock == nullptr) return k_no_object;
    switch (wanted.what) {
        case action::release_lock:
            release_at_home(object_in(wanted), static_cast<sync::left>(wanted.amount));
            return 0;
        case action::find_keeper: return lock->home.keeper();
        default: break;
    }
    waiter& own = entry_of(from, wanted);
    own.machine = static_cast<std::int32_t>(wanted.more);
    return take_for(own, object_in(wanted));
}

std::int64_t on_condition(int from, home_request const& wanted) noexcept {
    auto* const condition = object_of<shared_condition>(wanted);
    if (condition == nullptr) return k_no_object;
    switch (wanted.what) {
        case action::wake_one: condition->wake_one(); return 0;
        case action::wake_all: condition->wake_all(); return 0;
        default: condition->enter(entry_of(from, wanted)); return k_waits;
    }
}

std::int64_t on_barrier(int from, home_request const& wanted) noexcept {
    auto* const barrier = object_of<shared_barrier>(wanted);
    if (barrier == nullptr) return k_no_object;
    std::int64_t subscript = 0;
    if (wanted.what == action::next_subscript && barrier->take_subscript(wanted.more, subscript))
        return subscript;
    return barrier->enter(wanted.amount, entry_of(from, wanted)) ? -1 : k_waits;
}

std::int64_t on_world(home_request const& wanted) noexcept {
    world& all = *find_world();
    switch (wanted.what) {
        case action::take_place: return all.take_place();
        case action::give_place: all.give_place(static_cast<int>(wanted.amount)); return 0;
        case action::start_clock: all.start_clock(); return 0;
        default: all.stop_clock(); return 0;
    }
}

std::int64_t serve(int from, home_request const& wanted) noexcept {
    switch (wanted.what) {
        case action::wait_for_value:
        case action::change:
        case action::add: return on_value(from, wanted);
        case action::take_lock:
        case action::release_lock:
        case action::grant_lock:
        case action::recall_lock:
        case action::unlock_here:
        case action::find_keeper: return on_lock(from, wanted);
        case action::enter_condition:
        case action::wake_one:
        case action::wake_all: return on_condition(from, wanted);
        case action::wait_at_barrier:
        case action::next_subscript: return on_barrier(from, wanted);
        default: return on_world(wanted);
    }
}

std::size_t serve_bytes(int from, std::span<std::byte const> request, std::byte* answer) noexcept {
    std::int64_t const done = serve(from, *reinterpret_cast<home_request const*>(request.data()));
    std::memcpy(answer, &done, sizeof done);
    return sizeof done;
}

} // namespace

int home_beyond(void const* object) noexcept {
    int const place = tulle_global_place_of(object);
    return place >= 0 && !is_on_this_machine(place) ? place : -1;
}

std::int64_t ask_home(int home, home_request const& wanted) noexcept {
    std::int64_t done = 0;
    std::span<home_request const> const request(&wanted, 1);
    std::span<std::int64_t> const answer(&done, 1);
    if (!detail::request_at(home, &serve_bytes, std::as_bytes(request),
                            std::as_writable_bytes(answer)))
        fail("process %d has died", home);
    return done;
}

void tell_process(int place, home_request const& told) noexcept {
    std::span<home_request const> const request(&told, 1);
    detail::tell_at(place, &serve_bytes, std::as_bytes(request));
}

std::int64_t ask_world(home_request const& wanted) noexcept {
    int const home = far_home_of(find_world());
    return home < 0 ? on_world(wanted) : ask_home(home, wanted);
}

std::int64_t ask_home_and_wait(int home, home_request wanted) noexcept {
    tulle_signal_t told = TULLE_SIGNAL_INIT(1);
    wanted.signal = reinterpret_cast<std::uintptr_t>(&told);
    std::int64_t const done = ask_home(home, wanted);
    if (done != k_waits) return done;
    wait_on(told);
    return 1;
}

void wait_on(tulle_signal_t& told) noexcept {
    if (int const error = tulle_signal_wait(&told))
        fail("a wait has failed: %s", std::strerror(-error));
}

void expect_far_processes() noexcept {
    auto const places = static_cast<std::size_t>(tulle_place_count());
    void* memory = nullptr;
    if (int const error = tulle_global_malloc_at(&memory, tulle_here(), places * sizeof(waiter)))
        fail("MAIN_INITENV: no global memory: %s", std::strerror(-error));
    s_entries = static_cast<waiter*>(memory);
    for (std::size_t k = 0; k < places; ++k) ::new (s_entries + k) waiter;
}

} // namespace tulle::parmacs
