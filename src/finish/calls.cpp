// SPDX-License-Identifier: Apache-2.0
// The library calls under <tulle/finish.hpp>, and calls at other places, which belong to finishes.
#include "messenger/calls.hpp"
#include "finish/finish_service.hpp"

#include <tulle/finish.hpp>
#include <tulle/place.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <new>
#include <utility>

namespace tulle::detail {

using finishes::finish_root;
using finishes::finish_service;

namespace {

constexpr auto k_slot = attachment_of::activity;

// A context_frame begins with a messenger::place_context.
void enter(context_frame& frame, messenger::endpoint* at, finish_scope& scope) noexcept {
    static_assert(offsetof(context_frame, scope) == offsetof(messenger::place_context, scope) &&
                  sizeof(void*) == sizeof(messenger::endpoint*));
    frame = {at, &scope, exchange_attachment(k_slot, &frame)};
}

// Takes the root's lock, since it may still hear of deaths.
void add_losses(finish_root& root) {
    std::lock_guard const held(root.lock);
    if (!root.count.has_losses()) return;
    for (net::rank const dead : root.count.losses().dead()) {
        std::uint64_t const lost = root.count.losses().lost_by(dead);
        if (lost == 0) continue;
        try {
            root.at->carrier().throw_death(dead, lost);
        } catch (dead_place const&) {
            root.thrown.push_back(std::current_exception());
        }
    }
}

finish_root& root_in(finish_frame const& frame) noexcept {
    return static_cast<finish_root&>(frame.get());
}

void make_cancellable(finish_root& root, limit const* until, finish_scope const* outer) try {
    root.make_cancellable(until, outer);
} catch (...) {
    std::destroy_at(&root);
    throw;
}

// The service of an activity for which nobody waits if the home of its finish dies; null: its
// finish waits for it.
finish_service* service_that_stays(finish_scope const& scope) noexcept {
    return scope.at != nullptr && scope.home != scope.at->here() ? scope.at : nullptr;
}

} // namespace

// The call goes to another place.
remote_result call_at(int place, remote_code code, wire_writer& arguments) {
    auto const to = static_cast<net::rank>(place);
    messenger::endpoint& here = *messenger::endpoint_of_caller();
    here.refuse_addresses(to, arguments);
    return finishes::finishes_of(here).call(to, code, arguments);
}

finish_scope* current_finish_scope() noexcept {
    messenger::place_context const* const s = messenger::current_context();
    return s != nullptr ? s->scope : nullptr;
}

// NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): m_root becomes a finish_root
finish_frame::finish_frame(limit const* until) : m_context{} {
    static_assert(sizeof(finish_root) <= k_root_size && alignof(finish_root) <= 8);
    messenger::place_context const* const caller = messenger::current_context();
    messenger::endpoint* const here =
        caller != nullptr ? caller->at : messenger::endpoint_of_caller();
    finish_scope const* const outer = caller != nullptr ? caller->scope : nullptr;
    finish_service* const counted_by = here != nullptr ? &finishes::finishes_of(*here) : nullptr;
    auto* const root = ::new (m_root) finish_root(counted_by, here != nullptr ? here->here() : 0);
    if (until != nullptr || (outer != nullptr && outer->stop.get() != nullptr))
        make_cancellable(*root, until, outer);
    enter(m_context, here, *root);
}

finish_frame::~finish_frame() {
    finish_root& root = root_in(*this);
    set_attachment(k_slot, m_context.outer);
    // relaxed: all activities have ended
    if (root.is_enrolled.load(std::memory_order_relaxed)) root.at->withdraw(root);
    std::destroy_at(&root);
}

void finish_frame::add_exception(std::exception_ptr const& e) noexcept {
    finishes::add_exception(get(), e);
}

void finish_frame::end() {
    finish_root& root = root_in(*this);
    finishes::end(root); // the body
    root.over.wait();
    root.end_watch();
    add_losses(root);
    if (root.thrown.empty()) return;
    if (root.thrown.size() == 1)
        std::rethrow_exception(std::exchange(root.thrown.front(), nullptr));
    throw exception_list(std::move(root.thrown));
}

int place_of(finish_scope const& scope) noexcept {
    return scope.at != nullptr ? static_cast<int>(scope.at->here()) : 0;
}

void start_at(finish_scope& scope, int place, activity_code code, wire_writer& arguments) {
    scope.at->start_activity(scope, static_cast<net::rank>(place), code, arguments);
}

cancellation* stop_of(finish_scope const& scope) noexcept { return scope.stop.get(); }
bool request_stop(finish_scope& scope) { return finishes::request_stop(scope); }

void begin_local(finish_scope& scope) noexcept {
    if (finish_service* const used = service_that_stays(scope)) used->carrier().begin_use();
    finishes::begin(scope);
}
void cancel_local(finish_scope& scope) noexcept {
    finish_service* const used = service_that_stays(scope); // `scope` may be gone soon
    finishes::end(scope);
    if (used != nullptr) used->carrier().end_use();
}

local_activity::local_activity(finish_scope& scope) noexcept : m_context{} {
    enter(m_context, scope.at != nullptr ? &scope.at->carrier() : nullptr, scope);
}

local_activity::~local_activity() {
    set_attachment(k_slot, m_context.outer);
    cancel_local(*m_context.scope);
}

void local_activity::add_exception(std::exception_ptr const& e) noexcept {
    finishes::add_exception(*m_context.scope, e);
}

} // namespace tulle::detail
