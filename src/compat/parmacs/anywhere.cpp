// SPDX-License-Identifier: Apache-2.0
#include "compat/parmacs/anywhere.hpp"

#include "compat/parmacs/failure.hpp"
#include "compat/parmacs/world.hpp"

#include <tulle.h>

#include <cerrno>
#include <cstring>

namespace tulle::parmacs {

bool is_new_line(void const* address) noexcept {
    bool const is_aligned = reinterpret_cast<std::uintptr_t>(address) % k_line == 0;
    if (!is_aligned || tulle_global_place_of(address) < 0) return false;
    known_line(address).store(address, std::memory_order_relaxed);
    return true;
}

void anywhere::refuse() const noexcept {
    static_cast<void>(world_for(m_macro));
    fail("%s: of something that has not been initialised", m_macro);
}

home_request anywhere::request(action what, std::int64_t amount) const noexcept {
    home_request made{what, m_kind, reinterpret_cast<std::uintptr_t>(m_object)};
    made.amount = amount;
    return made;
}
std::int64_t anywhere::checked(std::int64_t done) const noexcept {
    if (done == k_no_object) refuse();
    return done;
}
std::int64_t anywhere::ask(home_request const& wanted) const noexcept {
    return checked(ask_home(m_home, wanted));
}
std::int64_t anywhere::ask_and_wait(home_request const& wanted) const noexcept {
    return checked(ask_home_and_wait(m_home, wanted));
}

// --- values --------------------------------------------------------------------------------------

void anywhere::wait_for(wish what, std::int64_t amount) const noexcept {
    if (is_near()) return near<shared_value>().wait(what, amount);
    home_request wanted = request(action::wait_for_value, amount);
    wanted.wanted = what;
    ask_and_wait(wanted);
}
void anywhere::change(std::int64_t to) const noexcept {
    if (is_near())
        near<shared_value>().change(to);
    else
        ask(request(action::change, to));
}
void anywhere::add(std::int64_t amount) const noexcept {
    if (is_near()) return near<shared_value>().add(amount);
    ask(request(action::add, amount));
}

// --- locks ---------------------------------------------------------------------------------------

void anywhere::lock_beyond() const noexcept {
    if (!take_spanning(m_object, m_home)) refuse();
}

// --- conditions ----------------------------------------------------------------------------------

bool anywhere::wait(anywhere const& held) const noexcept {
    if (is_near()) {
        wait_entry own;
        near<shared_condition>().enter(own.get());
        if (!held.unlock()) return false;
        own.wait();
    } else {
        tulle_signal_t told = TULLE_SIGNAL_INIT(1);
        home_request wanted = request(action::enter_condition);
        wanted.signal = reinterpret_cast<std::uintptr_t>(&told);
        ask(wanted);
        if (!held.unlock()) return false;
        wait_on(told);
    }
    held.lock();
    return true;
}
void anywhere::wake_one() const noexcept {
    if (is_near()) return near<shared_condition>().wake_one();
    ask(request(action::wake_one));
}
void anywhere::wake_all() const noexcept {
    if (is_near()) return near<shared_condition>().wake_all();
    ask(request(action::wake_all));
}

// --- barriers ------------------------------------------------------------------------------------

void anywhere::wait_for_all(std::int64_t processes) const noexcept {
    if (is_near()) return near<shared_barrier>().wait(processes);
    ask_and_wait(request(action::wait_at_barrier, processes));
}
std::int64_t anywhere::next_subscript(std::int64_t most, std::int64_t processes) const noexcept {
    if (is_near()) {
        std::int64_t subscript = 0;
        auto& loop = near<shared_barrier>();
        if (loop.take_subscript(most, subscript)) return subscript;
        loop.wait(processes);
        return -1;
    }
    home_request wanted = request(action::next_subscript, processes);
    wanted.more = most;
    tulle_signal_t told = TULLE_SIGNAL_INIT(1);
    wanted.signal = reinterpret_cast<std::uintptr_t>(&told);
    std::int64_t const done = ask(wanted);
    if (done != k_waits) return done;
    wait_on(told);
    return -1;
}

} // namespace tulle::parmacs
