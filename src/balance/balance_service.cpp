// SPDX-License-Identifier: Apache-2.0
// What places tell each other about work that may run at any of them (work_message.hpp).
#include "balance/balance.hpp"

#include "base/error.hpp"
#include "base/sanitize.hpp"
#include "finish/finish_service.hpp"
#include "messenger/calls.hpp"
#include "messenger/exception_wire.hpp"
#include "sched/join_word.hpp"
#include "sched/scheduler.hpp"

#include <tulle/place.hpp>
#include <tulle/signal.hpp>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

namespace tulle::balance {

using messenger::get_exception;
using messenger::message_kind;
using messenger::object_at;
using messenger::put_exception;
using messenger::shortened;

namespace {

constexpr std::size_t k_most_given = 16; // activities, of one request
constexpr int k_looks = 4;               // for a record that looks stealable

// The record has ended; it may be gone afterwards. The address of the signal that its parent waits
// for, or 0.
std::uint64_t finish(global_record& of) noexcept { return sched::join_word(of.state).finish(); }

void wake(std::uint64_t waiter) noexcept {
    if (waiter != 0) object_at<signal>(waiter).notify();
}

// As a thief of another process tells, of a record of this place. That its parent waits is ordered
// through that process, which ThreadSanitizer does not see.
void wake_parent(std::uint64_t record, std::uint64_t waiter) noexcept {
    // acquire: pairs with join_word::set_waiter
    if constexpr (base::k_thread_sanitizer)
        static_cast<void>(object_at<global_record>(record).state.load(std::memory_order_acquire));
    wake(waiter);
}

} // namespace

// One that has it tells of the record's end, or dies.
struct balance::given : awaited {
    given(endpoint const& by, rank whom) noexcept : awaited(&lose), of(by), to(whom) {}
    endpoint const& of;
    rank to;
    global_record* record = nullptr;

    static void lose(awaited& self) noexcept {
        std::unique_ptr<given> const own(static_cast<given*>(&self));
        try {
            own->of.throw_death(own->to, 1);
        } catch (...) {
            own->record->exception = std::current_exception();
        }
        wake(finish(*own->record));
    }
};

bool balance::survives_deaths() const noexcept {
    return m_carrier != nullptr && m_carrier->survives_deaths();
}

void balance::tell(rank to, work_message what, std::uint64_t a, std::uint64_t b,
                   awaited* answer) noexcept {
    packet head;
    head.handler = static_cast<std::uint64_t>(what);
    head.a = a;
    head.b = b;
    m_carrier->send(to, {message_kind::work}, head, nullptr, answer);
}

void balance::serve(packet const& head, std::byte const* payload) noexcept {
    switch (static_cast<work_message>(head.handler)) {
        case work_message::hello: return greet();
        case work_message::request: return serve_request(head.from, head.a != 0);
        case work_message::answer: return got_answer(head.from, head.b != 0, head.a != 0);
        case work_message::record: return take_record(head, payload);
        case work_message::result: return take_result(head, payload);
        case work_message::failure: return take_failure(head, payload);
        case work_message::wake: return wake_parent(head.a, head.b);
    }
    base::fatal("place %u sent an unknown message about work, %llu",
                static_cast<unsigned>(head.from), static_cast<unsigned long long>(head.handler));
}

// A worker that sleeps looks at it, and tells its lifelines if it finds nothing.
void balance::greet() noexcept {
    static_cast<void>(os::membarrier_register_global());
    // relaxed: who is woken reads it after the wake-up
    m_is_used.store(true, std::memory_order_relaxed);
    sched::scheduler::instance().notify_all_idle();
}

// --- giving --------------------------------------------------------------------------------------

void balance::serve_request(rank from, bool is_lifeline) noexcept {
    if (give(from, is_lifeline)) return;
    if (!is_lifeline) return tell(from, work_message::answer);
    remember(from);
    serve_lifelines();
}

void balance::remember(rank who) noexcept {
    std::lock_guard const held(m_lock);
    if (std::find(m_waiting.begin(), m_waiting.end(), who) != m_waiting.end()) return;
    m_waiting.push_back(who); // there is room
    // relaxed: a heavy fence follows
    m_waiting_count.store(m_waiting.size(), std::memory_order_relaxed);
}

bool balance::forget_one(rank& who) noexcept {
    std::lock_guard const held(m_lock);
    if (m_waiting.empty()) return false;
    who = m_waiting.front();
    m_waiting.erase(m_waiting.begin());
    m_waiting_count.store(m_waiting.size(), std::memory_order_relaxed); // relaxed: as above
    return true;
}

// Who cannot be served stays, with all alarms set. Like a worker that goes to sleep
// (sched/idle.cpp): either a fork sees the alarm, and then who waits, or its record is seen here.
// What looks stealable and is not, is in somebody else's hands.
void balance::serve_lifelines() noexcept {
    rank who = 0;
    for (int looks = 0; forget_one(who);) {
        if (!is_still_hungry(who) || give(who, true)) continue;
        remember(who);
        alarm();
        os::machine::heavy_fence();
        if (!is_there() || ++looks == k_looks) return;
    }
}

// One that has something to do by now tells its lifelines again when it has not. Of one whose shelf
// is out of reach nothing is known.
bool balance::is_still_hungry(rank who) const noexcept {
    if (m_carrier->is_dead(who)) return false;
    shelf const theirs(m_transport->shelf(who));
    return !theirs.is_there() || theirs.shows_hunger();
}

bool balance::give(rank to, bool by_lifeline) noexcept {
    return give_activities(to, by_lifeline) || give_record(to, by_lifeline);
}

// Half of them, the oldest first.
bool balance::give_activities(rank to, bool by_lifeline) noexcept {
    if (m_activities.load(std::memory_order_relaxed) == 0) return false; // relaxed: a hint
    activity_bag some;
    {
        std::lock_guard const held(m_lock);
        for (std::size_t n = std::min((m_bag.size() + 1) / 2, k_most_given); n != 0; --n)
            some.add_youngest(m_bag.take_oldest());
        count_activities();
    }
    std::size_t sent = 0;
    while (some.size() != 0 && pass_on(some.take_oldest(), to)) ++sent;
    while (some.size() != 0) keep(some.take_youngest());
    if (sent != 0) tell(to, work_message::answer, sent, by_lifeline);
    return sent != 0;
}

void balance::keep(std::unique_ptr<any_activity> what) noexcept {
    std::lock_guard const held(m_lock);
    m_bag.add_oldest(std::move(what));
    count_activities();
}

// False: no memory; it stays.
bool balance::pass_on(std::unique_ptr<any_activity> what, rank to) noexcept try {
    what->of->at->pass_on(*what->of, to, what->code, what->arguments);
    return true;
} catch (dead_place const&) { // who has asked
    keep(std::move(what));
    return false;
} catch (std::bad_alloc const&) {
    keep(std::move(what));
    return false;
}

bool balance::give_record(rank to, bool by_lifeline) noexcept {
    if (!m_has_shelf.load(std::memory_order_acquire)) return false; // pairs with own_shelf
    std::unique_ptr<given> taker;
    if (survives_deaths()) {
        taker.reset(new (std::nothrow) given(*m_carrier, to));
        if (taker == nullptr) return false;
    }
    auto const found = m_shelf.steal(draw());
    if (found.here == nullptr) return false;
    if (found.here->code == global_record::k_joined) {
        wake(finish(*found.here));
        return false;
    }
    packet head;
    head.handler = static_cast<std::uint64_t>(work_message::record);
    head.a = found.there;
    head.b = by_lifeline;
    head.c = found.here->code;
    head.size = detail::k_global_body_size;
    if (taker != nullptr) taker->record = found.here;
    given* const answer = taker.release();
    found.here->given = reinterpret_cast<std::uintptr_t>(answer);
    m_carrier->send(to, {message_kind::work}, head, found.here->body, answer);
    return true;
}

// --- getting -------------------------------------------------------------------------------------

void balance::got_answer(rank from, bool by_lifeline, bool has_work) noexcept {
    if (!by_lifeline) {
        m_carrier->cross_off(from, m_question);
        m_has_asked.store(false, std::memory_order_release); // pairs with ask
    }
    // relaxed, all: they count, and publish nothing
    for (auto const& l : m_lifelines) {
        if (by_lifeline && l->end == from) l->is_told.store(false, std::memory_order_relaxed);
    }
    if (!has_work) return static_cast<void>(m_refusals.fetch_add(1, std::memory_order_relaxed));
    m_refusals.store(0, std::memory_order_relaxed);
    // Who sleeps last gets it.
    if (sched::scheduler::instance().idle().sleeping() <= 1) set_hungry(false);
}

void balance::take_record(packet const& head, std::byte const* payload) noexcept try {
    auto copy = std::make_unique<global_record>();
    copy->code = head.c;
    std::memcpy(copy->body, payload, detail::k_global_body_size);
    got_answer(head.from, head.b != 0, true);
    global_record* const at = copy.get();
    start({head.from, head.a, at, std::move(copy)});
} catch (std::bad_alloc const&) {
    base::fatal("no memory for a thread that place %u has forked globally",
                static_cast<unsigned>(head.from));
}

void balance::tell_end(stolen const& what) noexcept {
    if (what.own_copy == nullptr) {
        std::uint64_t const waiter = finish(*what.here);
        if (what.from == here()) return wake(waiter);
        return waiter != 0 ? tell(what.from, work_message::wake, what.there, waiter) : void();
    }
    packet head;
    head.handler = static_cast<std::uint64_t>(work_message::result);
    head.a = what.there;
    head.size = detail::k_global_body_size;
    m_carrier->send(what.from, {message_kind::work}, head, what.here->body);
}

void balance::tell_failure(stolen const& what, std::exception_ptr const& e) noexcept try {
    if (what.from == here()) {
        what.here->exception = e;
        return wake(finish(*what.here));
    }
    wire_writer text;
    put_exception(text, e, static_cast<int>(here()));
    if (text.size() > m_carrier->most_bytes())
        return tell_failure(what, shortened(e, static_cast<int>(here())));
    packet head;
    head.handler = static_cast<std::uint64_t>(work_message::failure);
    head.a = what.there;
    head.size = static_cast<std::uint32_t>(text.size());
    m_carrier->send(what.from, {message_kind::work}, head, text.data());
} catch (std::bad_alloc const&) {
    base::fatal("no memory for an exception that has left a thread");
}

void balance::cross_off(rank from, global_record& of) noexcept {
    if (!survives_deaths()) return;
    std::unique_ptr<given> const answer(&object_at<given>(of.given));
    m_carrier->cross_off(from, *answer);
}

void balance::take_result(packet const& head, std::byte const* payload) noexcept {
    auto& of = object_at<global_record>(head.a);
    cross_off(head.from, of);
    std::memcpy(of.body, payload, detail::k_global_body_size);
    wake(finish(of));
}

void balance::take_failure(packet const& head, std::byte const* payload) noexcept {
    auto& of = object_at<global_record>(head.a);
    cross_off(head.from, of);
    try {
        wire_reader in({payload, head.size});
        of.exception = get_exception(in);
    } catch (...) {
        of.exception = std::current_exception();
    }
    wake(finish(of));
}

} // namespace tulle::balance
