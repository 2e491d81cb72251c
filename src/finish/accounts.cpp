// SPDX-License-Identifier: Apache-2.0
// How activities of finishes begin and end at their places, and how home learns how many are left:
// the cores of batch_count.hpp with locks and messages. Messages are counted in finish_service.cpp.
#include "finish/finish_service.hpp"
#include "messenger/calls.hpp"
#include "messenger/exception_wire.hpp"

#include "base/error.hpp"

#include <tulle/place.hpp>

#include <cstddef>
#include <cstring>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace tulle::finishes {

using messenger::get_exception;
using messenger::no_memory_for;
using messenger::put_exception;
using messenger::reference_in;

namespace {

finish_root& root_of(finish_scope& scope) noexcept { return static_cast<finish_root&>(scope); }

// An exception cancels a finish, as it does a cancellable_scope; a finish that is only a part of
// another one goes on.
void stop_by_exception(finish_root& root) noexcept {
    if (root.is_limited()) detail::request_cancellation(*root.stop.get());
}

bool is_at_home(finish_scope const& scope) noexcept {
    return scope.at == nullptr || scope.home == scope.at->here();
}

// Or what is wrong with it.
std::exception_ptr exception_in(std::span<std::byte const> text) noexcept try {
    wire_reader in(text);
    return get_exception(in);
} catch (...) {
    return std::current_exception();
}

} // namespace

void begin(finish_scope& scope) noexcept {
    if (!is_at_home(scope)) return scope.at->begin_here(static_cast<finish_part&>(scope));
    finish_root& root = root_of(scope);
    std::lock_guard const held(root.lock);
    root.count.begin();
}

void end(finish_scope& scope) noexcept {
    if (!is_at_home(scope)) return scope.at->end_here(static_cast<finish_part&>(scope));
    change(root_of(scope), [](finish_root& root) { root.count.end(); });
}

void add_exception(finish_scope& scope, std::exception_ptr const& e) noexcept try {
    if (!is_at_home(scope)) return scope.at->send_exception(static_cast<finish_part&>(scope), e);
    finish_root& root = root_of(scope);
    stop_by_exception(root);
    std::lock_guard const held(root.lock);
    root.thrown.push_back(e);
} catch (dead_place const&) { // home, so nobody catches it
} catch (std::bad_alloc const&) {
    base::fatal("no memory for an exception that has left an activity");
}

void finish_service::begin_here(finish_part& part) noexcept {
    std::lock_guard const held(m_parts_lock);
    part.share.begin();
}

// The memory of a part that has ended is kept for another one, and is cleared here: a message that
// comes does not wait for that.
void finish_service::keep_spare(finish_part& ended) noexcept {
    ended.clear();
    {
        std::lock_guard const held(m_parts_lock);
        if (m_parts.keep(ended)) return;
    }
    delete &ended;
}

// The last activity of the part ends the epoch; a part that begins later is another one.
void finish_service::end_here(finish_part& part) noexcept try {
    // The report may be the last thing that anybody waits for.
    endpoint::in_use const stay(m_carrier);
    packet head;
    {
        std::lock_guard const held(m_parts_lock);
        if (!part.share.end()) return;
        m_parts.take_out(part);
        ++m_reports[part.home];
        head.c = part_age{part.born, m_deaths_known}.encode();
    }
    head.a = part.share.epoch();
    head.b = part.root;
    batch_table const& told = part.share.report();
    std::vector<batch_change> many;
    if (!told.are_few()) many = told.all();
    m_carrier.send_copy(part.home, {message_kind::report}, head,
                        std::as_bytes(told.are_few() ? told.few() : std::span(many)));
    keep_spare(part);
} catch (std::bad_alloc const&) {
    base::fatal("no memory to tell the home of a finish that its activities here have ended");
}

void finish_service::take_report(packet const& head, std::byte const* payload) noexcept {
    if (!message_tag::decode(head.kind).by_reference)
        return apply_report(head, {payload, head.size});
    m_carrier.start_thread(head, payload, [](arrived& message) noexcept {
        finishes_of(message.at).fetch_report(message);
    });
}

// Fetches a report that is too large for a message.
void finish_service::fetch_report(arrived const& message) noexcept try {
    detail::remote_result const told =
        m_carrier.fetch(message.head.from, reference_in(message.payload()));
    apply_report(message.head, told.bytes());
} catch (dead_place const&) { // nobody counts on it any more
} catch (std::bad_alloc const&) {
    no_memory_for(message.head);
}

// A report is applied as a whole: what it says is true together.
void finish_service::apply_report(packet const& head, std::span<std::byte const> told) noexcept
    try {
    part_age const age = part_age::decode(head.c);
    finish_root& root = root_at(head.b);
    auto const apply = [&](finish_root& changed) {
        for (auto left = told; left.size() >= sizeof(batch_change);
             left = left.subspan(sizeof(batch_change))) {
            batch_change one;
            std::memcpy(&one, left.data(), sizeof one);
            changed.count.apply(one);
        }
        changed.count.part_told({head.from, head.a}, age);
    };
    if (!m_carrier.survives_deaths()) return change(root, apply);
    std::lock_guard const held(m_roots_lock);
    // That of a dead place may come after the end, and another finish may lie there then.
    if (m_roots.contains(&root) && !m_accounts.has_died_before(head.from, root.born))
        change(root, apply);
    m_accounts.count_report(head.from, age);
    settle_accounts();
} catch (std::bad_alloc const&) {
    base::fatal("no memory for what another place tells of its activities");
}

// An exception counts like an activity that is sent home, so it is there before the finish is over.
void finish_service::send_exception(finish_part& part, std::exception_ptr const& e) {
    wire_writer text;
    put_exception(text, e, static_cast<int>(m_here));
    packet head;
    head.b = part.root;
    send_large(part, part.home, {message_kind::exception, false, part.home}, head, text);
}

// One that has to be fetched keeps the finish meanwhile, as an activity does.
void finish_service::take_exception(packet const& head, std::byte const* payload) noexcept try {
    if (message_tag::decode(head.kind).by_reference)
        return m_carrier.start_thread(head, payload, &fetch_exception, &arrive(head));
    std::exception_ptr thrown = exception_in({payload, head.size});
    finish_root& root = root_at(head.b);
    stop_by_exception(root); // before it may be over
    change(root, [&](finish_root& changed) {
        changed.thrown.push_back(std::move(thrown)); // the polling thread keeps no part of it
        changed.count.arrive_and_end(batch_of(head, m_here));
    });
} catch (std::bad_alloc const&) {
    base::fatal("no memory for an exception that has left an activity");
}

void finish_service::fetch_exception(arrived& message) noexcept {
    std::exception_ptr thrown;
    try {
        detail::remote_result const text =
            message.at.fetch(message.head.from, reference_in(message.payload()));
        thrown = exception_in(text.bytes());
    } catch (...) { // its place has died, or there is no memory for it
        thrown = std::current_exception();
    }
    add_exception(*message.scope, thrown);
    thrown = nullptr; // nothing of it is left when the finish is over
    end(*message.scope);
}

} // namespace tulle::finishes
