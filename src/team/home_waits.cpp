// SPDX-License-Identifier: Apache-2.0
#include "team/home_waits.hpp"

#include "base/error.hpp"
#include "finish/finish_service.hpp"
#include "messenger/calls.hpp"
#include "messenger/image.hpp"
#include "team/place_state.hpp"

#include <tulle/at_home.hpp>
#include <tulle/wait_limit.hpp>

#include <cerrno>
#include <mutex>
#include <new>
#include <stdexcept>
#include <string>

namespace tulle::teams {

using messenger::call_limit;

namespace {

// The place that a name stands for, as new_name() makes it.
int place_of_name(std::uint64_t name) noexcept {
    constexpr unsigned k_bits_of_count = 48;
    return static_cast<int>(name >> k_bits_of_count);
}

} // namespace

// A place that died before is found here, one that dies later by lose(): its death is known before
// lose() is called.
void home_waits::add(detail::home_wait& one) noexcept {
    std::lock_guard const held(m_lock);
    m_waits.push_front(one);
    auto const marked = m_marks.find(one.m_by.number);
    if (is_lost(one) || detail::is_dead_place(one.m_by.from) ||
        (marked != m_marks.end() && marked->second > 0))
        detail::request_cancellation(*one.m_over.get());
}

void home_waits::remove(detail::home_wait& one) noexcept {
    std::lock_guard const held(m_lock);
    m_waits.remove(one);
}

// The caller holds the lock. Notes which place held the object.
bool home_waits::is_lost(detail::home_wait& one) const noexcept {
    auto const object = m_held.find(one.m_object);
    if (object == m_held.end() || !object->second.is_lost) return false;
    one.m_dead_holder = object->second.place;
    return true;
}

// The caller holds the lock.
template <class Predicate> void home_waits::end_waits(Predicate is_over) noexcept {
    for (detail::home_wait& one : m_waits)
        if (is_over(one)) detail::request_cancellation(*one.m_over.get());
}

void home_waits::mark(std::uint64_t number, int by) {
    std::lock_guard const held(m_lock);
    if (detail::is_dead_place(place_of_name(number))) return;
    if ((m_marks[number] += by) == 0) m_marks.erase(number);
    if (by > 0) end_waits([number](detail::home_wait const& w) { return w.m_by.number == number; });
}

void home_waits::lose(int place) noexcept {
    std::lock_guard const held(m_lock);
    std::erase_if(m_marks, [place](auto const& one) { return place_of_name(one.first) == place; });
    for (auto& [object, by] : m_held) by.is_lost = by.is_lost || by.place == place;
    end_waits([&](detail::home_wait& w) { return is_lost(w) || w.m_by.from == place; });
}

void home_waits::hold(std::uint64_t object, int place) {
    std::lock_guard const held(m_lock);
    if (detail::is_dead_place(place)) detail::throw_dead_place(place);
    m_held.insert_or_assign(object, holding{place});
}

void home_waits::let_go(std::uint64_t object, int place) {
    std::lock_guard const held(m_lock);
    auto const found = m_held.find(object);
    if (found == m_held.end() || (found->second.place != place && !found->second.is_lost))
        throw std::logic_error("tulle: place " + std::to_string(place) +
                               " unlocks a mutex that it does not hold");
    m_held.erase(found);
}

int home_waits::dead_holder(detail::home_wait const& one) const {
    std::lock_guard const held(m_lock);
    return one.m_dead_holder;
}

bool home_waits::is_idle() const {
    std::lock_guard const held(m_lock);
    return m_waits.empty() && m_marks.empty() && m_held.empty();
}

void home_waits::check(std::uint64_t object) const {
    std::lock_guard const held(m_lock);
    auto const found = m_held.find(object);
    if (found != m_held.end() && found->second.is_lost)
        detail::throw_dead_place(found->second.place);
}

namespace {

// The next two run as i-lets.
void cancel_here(std::uint64_t number, std::uint64_t /*unused*/) try {
    state_here().waits.cancel(number);
} catch (std::bad_alloc const&) {
    base::fatal("no memory to end a wait for place %d", place_of_name(number));
}
void forget_here(std::uint64_t number, std::uint64_t /*unused*/) try {
    state_here().waits.forget(number);
} catch (std::bad_alloc const&) {
    base::fatal("no memory to note that a wait for place %d is over", place_of_name(number));
}

void notify_here(std::uint64_t address, std::uint64_t is_global) {
    detail::location<signal>{address, is_global != 0}.object().notify();
}

// An i-let of the library, which runs at places that have memory only, too.
void start_there(int home, void (*run)(std::uint64_t, std::uint64_t), std::uint64_t a,
                 std::uint64_t b = 0) noexcept {
    messenger::endpoint_of_caller()->start(
        static_cast<net::rank>(home),
        {messenger::name_of(reinterpret_cast<void const*>(run)), a, b});
}

// The limit of one call, which tells the home. A place that has died hears nothing, and needs not.
class told_limit : public call_limit {
public:
    told_limit(int home, std::uint64_t number, detail::limit given) noexcept
        : call_limit{given, &tell}, m_home(home), m_number(number) {}
    told_limit(told_limit const&) = delete;
    told_limit& operator=(told_limit const&) = delete;
    ~told_limit() {
        if (m_is_told) start_there(m_home, &forget_here, m_number);
    }

private:
    static void tell(call_limit& self) noexcept {
        auto& own = static_cast<told_limit&>(self);
        own.m_is_told = true;
        start_there(own.m_home, &cancel_here, own.m_number);
    }

    int m_home;
    std::uint64_t m_number;
    bool m_is_told = false;
};

} // namespace
} // namespace tulle::teams

namespace tulle::detail {

using teams::state_here;

home_wait::home_wait(home_request const& by, std::uint64_t object, limit whole)
    : m_over(open_cancellation(whole.token)),
      m_deadline(whole.deadline),
      m_by(by),
      m_object(object) {
    state_here().waits.add(*this);
}
home_wait::~home_wait() { state_here().waits.remove(*this); }
void home_wait::check_holder() const {
    if (int const dead = state_here().waits.dead_holder(*this); dead >= 0) throw_dead_place(dead);
}

void hold_object(std::uint64_t object, int place) { state_here().waits.hold(object, place); }
void let_object_go(std::uint64_t object, int place) { state_here().waits.let_go(object, place); }
void check_object(std::uint64_t object) { state_here().waits.check(object); }

remote_result call_within(int place, remote_code code, wire_writer& arguments, std::uint64_t number,
                          limit until) {
    messenger::endpoint& here = *messenger::endpoint_of_caller();
    auto const to = static_cast<net::rank>(place);
    here.refuse_addresses(to, arguments);
    auto const call = [&](messenger::call_limit* within) {
        return finishes::finishes_of(here).call(to, code, arguments, within);
    };
    if (number == 0) return call(nullptr);
    teams::told_limit within(place, number, until);
    return call(&within);
}

void notify_at(int home, location<signal> there) {
    if (home == here_index()) return there.object().notify();
    if (is_dead_place(home)) throw_dead_place(home);
    teams::start_there(home, &teams::notify_here, there.address(), there.is_global ? 1 : 0);
}

int home_of_object(std::uint64_t address, std::size_t bytes, std::size_t alignment) {
    static_cast<void>(reach_global(address, bytes, alignment));
    int const home = place_of_global(address);
    if (place_of_global(address + bytes - 1) != home)
        throw std::invalid_argument("tulle: an object of two places");
    return home;
}

} // namespace tulle::detail
