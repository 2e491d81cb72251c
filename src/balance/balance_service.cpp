// SPDX-License-Identifier: Apache-2.0
// What places tell each other about work that may run at any of them (work_message.hpp).
#include "balance/balance.hpp"

#include "base/error.hpp"
#include "base/sanitize.hpp"
#include "finish/finish_service.hpp"
#include "messenger/calls.hpp"
#include "messenger/exception_wire.hpp"
#include "sched/records/join_word.hpp"
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
constexpr int k_attempts = 4;            // to take a record that looks stealable

// The record has ended; it may be gone afterwards. The address of the signal that its parent waits
// for, or 0.
std::uint64_t finish(global_record& record) noexcept {
    return sched::join_word(record.state).finish();
}

void wake(std::uint64_t waiter) noexcept {
    if (waiter != 0) object_at<signal>(waiter).notify();
}

// Wakes the parent of a record of this place when a thief of another process says so. That the
// parent waits is ordered through that process, which ThreadSanitizer does not see.
void wake_parent(std::uint64_t record, std::uint64_t waiter) noexcept {
    // acquire: pairs with join_word::set_waiter
    if constexpr (base::k_thread_sanitizer)
        static_cast<void>(object_at<global_record>(record).state.load(std::memory_order_acquire));
    wake(waiter);
}

} // namespace

// A record that has been given to another place, which tells of its end, or dies.
struct balance::given : awaited {
    given(endpoint const& by, rank to) noexcept : awaited(&lose), giver(by), taker(to) {}
    endpoint const& giver;
    rank taker;
    global_record* record = nullptr;

    static void lose(awaited& self) noexcept {
        std::unique_ptr<given> const own(static_cast<given*>(&self));
        try {
            own->giver.throw_death(own->taker, 1);
        } catch (...) {
            own->record->exception = std::current_exception();
        }
        wake(finish(*own->record));
    }
};

bool balance::survives_deaths() const noexcept {
    return m_carrier != nullptr && m_carrier->survives_deaths();
}

void balance::tell(rank to, work_message message, std::uint64_t a, std::uint64_t b,
                   awaited* answer) noexcept {
    packet head;
    head.handler = static_cast<std::uint64_t>(message);
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

// There is such work from now on: each worker that sleeps is woken to search for some, and tells
// its lifelines if it finds nothing.
void balance::greet() noexcept {
    static_cast<void>(os::membarrier_register_global());
    m_is_used.store(true, std::memory_order_release); // pairs with take
    sched::scheduler::instance().notify_all_idle();
}

// --- giving --------------------------------------------------------------------------------------

void balance::serve_request(rank from, bool is_lifeline) noexcept {
    if (give(from, is_lifeline)) return;
    if (!is_lifeline) return tell(from, work_message::answer);
    remember(from);
    serve_lifelines();
}

void balance::remember(rank waiting) noexcept {
    std::lock_guard const held(m_lock);
    if (std::find(m_waiting.begin(), m_waiting.end(), waiting) != m_waiting.end()) return;
    m_waiting.push_back(waiting); // there is room
    // relaxed: a heavy fence follows
    m_waiting_count.store(m_waiting.size(), std::memory_order_relaxed);
}

bool balance::forget_one(rank& waiting) noexcept {
    std::lock_guard const held(m_lock);
    if (m_waiting.empty()) return false;
    waiting = m_waiting.front();
    m_waiting.erase(m_waiting.begin());
    m_waiting_count.store(m_waiting.size(), std::memory_order_relaxed); // relaxed: as above
    return true;
}

// A place that cannot be served stays in the list, with all wake flags set. As with a worker that
// goes to sleep (sched/idle.cpp), either a fork sees the wake flag, and then the waiting place, or
// its record is seen here. A record that looks stealable and is not is in the hands of another
// thief.
void balance::serve_lifelines() noexcept {
    rank waiting = 0;
    for (int attempts = 0; forget_one(waiting);) {
        if (!is_still_hungry(waiting) || give(waiting, true)) continue;
        remember(waiting);
        static_cast<void>(set_wake_flags());
        os::machine::heavy_fence();
        if (!is_there() || ++attempts == k_attempts) return;
    }
}

// A place that has something to do by now tells its lifelines again when it has not. Nothing is
// known of one whose steal area is out of reach.
bool balance::is_still_hungry(rank waiting) const noexcept {
    if (m_carrier->is_dead(waiting)) return false;
    steal_area const theirs(m_transport->steal_area(waiting));
    return !theirs.is_there() || theirs.shows_hunger();
}

bool balance::give(rank to, bool by_lifeline) noexcept {
    return give_activities(to, by_lifeline) || give_record(to, by_lifeline);
}

// Gives half of the activities, the oldest first.
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

// Puts back what was on its way. A worker that has gone to sleep meanwhile has found nothing.
void balance::keep(std::unique_ptr<any_activity> activity) noexcept {
    {
        std::lock_guard const held(m_lock);
        m_bag.add_oldest(std::move(activity));
        count_activities();
    }
    sched::scheduler::instance().notify_all_idle();
}

// False: there is no memory for a message, and the activity stays.
bool balance::pass_on(std::unique_ptr<any_activity> activity, rank to) noexcept try {
    activity->scope->at->pass_on(*activity->scope, to, activity->code, activity->arguments);
    return true;
} catch (dead_place const&) { // the place that has asked
    keep(std::move(activity));
    return false;
} catch (std::bad_alloc const&) {
    keep(std::move(activity));
    return false;
}

bool balance::give_record(rank to, bool by_lifeline) noexcept {
    if (!m_has_steal_area.load(std::memory_order_acquire))
        return false; // pairs with own_steal_area
    std::unique_ptr<given> taker;
    if (survives_deaths()) {
        taker.reset(new (std::nothrow) given(*m_carrier, to));
        if (taker == nullptr) return false;
    }
    auto const found = m_steal_area.steal(draw());
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
    // The worker that sleeps last gets the work.
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

void balance::tell_end(stolen const& record) noexcept {
    if (record.own_copy == nullptr) {
        std::uint64_t const waiter = finish(*record.here);
        if (record.from == here()) return wake(waiter);
        return waiter != 0 ? tell(record.from, work_message::wake, record.there, waiter) : void();
    }
    packet head;
    head.handler = static_cast<std::uint64_t>(work_message::result);
    head.a = record.there;
    head.size = detail::k_global_body_size;
    m_carrier->send(record.from, {message_kind::work}, head, record.here->body);
}

void balance::tell_failure(stolen const& record, std::exception_ptr const& e) noexcept try {
    if (record.from == here()) {
        record.here->exception = e;
        return wake(finish(*record.here));
    }
    wire_writer text;
    put_exception(text, e, static_cast<int>(here()));
    if (text.size() > m_carrier->most_bytes())
        return tell_failure(record, shortened(e, static_cast<int>(here())));
    packet head;
    head.handler = static_cast<std::uint64_t>(work_message::failure);
    head.a = record.there;
    head.size = static_cast<std::uint32_t>(text.size());
    m_carrier->send(record.from, {message_kind::work}, head, text.data());
} catch (std::bad_alloc const&) {
    base::fatal("no memory for an exception that has left a thread");
}

void balance::cross_off(rank from, global_record& record) noexcept {
    if (!survives_deaths()) return;
    std::unique_ptr<given> const answer(&object_at<given>(record.given));
    m_carrier->cross_off(from, *answer);
}

void balance::take_result(packet const& head, std::byte const* payload) noexcept {
    auto& record = object_at<global_record>(head.a);
    cross_off(head.from, record);
    std::memcpy(record.body, payload, detail::k_global_body_size);
    wake(finish(record));
}

void balance::take_failure(packet const& head, std::byte const* payload) noexcept {
    auto& record = object_at<global_record>(head.a);
    cross_off(head.from, record);
    try {
        wire_reader in({payload, head.size});
        record.exception = get_exception(in);
    } catch (...) {
        record.exception = std::current_exception();
    }
    wake(finish(record));
}

} // namespace tulle::balance
