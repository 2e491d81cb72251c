// SPDX-License-Identifier: Apache-2.0
// Calls and activities that belong to finishes, counted before they leave and as they arrive. How
// they end, and what is told of that: accounts.cpp.
#include "finish/finish_service.hpp"

#include "messenger/calls.hpp"
#include "messenger/image.hpp"

#include <exception>
#include <mutex>
#include <utility>

namespace tulle::finishes {

using messenger::name_of;
using messenger::no_memory_for;
using messenger::object_at;

finish_root& root_at(std::uint64_t word) noexcept {
    return object_at<finish_root>(word & ~(finish_scope::k_can_stop | finish_scope::k_is_stopped));
}

finish_service::finish_service(endpoint& carrier)
    : m_carrier(carrier), m_here(carrier.here()), m_reports(carrier.count()) {
    carrier.handle<&finish_service::take_call>(message_kind::counted_call, *this);
    carrier.handle<&finish_service::take_activity>(message_kind::activity, *this);
    carrier.handle<&finish_service::take_report>(message_kind::report, *this);
    carrier.handle<&finish_service::take_exception>(message_kind::exception, *this);
    carrier.handle<&finish_service::take_account>(message_kind::account, *this);
    carrier.handle<&finish_service::take_begun>(message_kind::begun, *this);
    carrier.handle<&finish_service::take_stop>(message_kind::stop, *this);
    carrier.on_death<&finish_service::place_died>(*this);
}

// --- what arrives --------------------------------------------------------------------------------

finish_part& finish_service::begin_stoppable(rank home, std::uint64_t root) {
    cancellation_reference stop(detail::open_cancellation(nullptr));
    finish_part& part = begin_part(home, root);
    part.stop = std::move(stop);
    return part;
}

// Returns the finish scope of the thread that a message of a finish becomes.
finish_scope& finish_service::arrive(packet const& head) {
    rank const home = message_tag::decode(head.kind).home;
    finish_scope& scope = home == m_here ? arrive_at_home(head) : arrive_at_part(head, home);
    if (scope.stop.get() == nullptr) return scope;
    if ((head.b & finish_scope::k_is_stopped) != 0 || m_carrier.is_dead(home))
        detail::request_cancellation(*scope.stop.get());
    return scope;
}

finish_scope& finish_service::arrive_at_home(packet const& head) {
    finish_root& root = root_at(head.b);
    std::lock_guard const held(root.lock);
    root.count.arrive(batch_of(head, m_here));
    return root;
}

finish_scope& finish_service::arrive_at_part(packet const& head, rank home) {
    bool is_new = false;
    bool tells = false;
    finish_part* part = nullptr;
    {
        std::lock_guard const held(m_parts_lock);
        part = &part_of(home, head.b & ~finish_scope::k_is_stopped, is_new);
        part->share.arrive(batch_of(head, m_here));
        tells = is_new && part->stop.get() != nullptr && is_to_tell(head, home);
        if (tells) part->share.send(m_here, home);
    }
    if (tells) tell_begun(*part); // it lives, since the activity that has arrived does
    return *part;
}

// Whether a part that can be cancelled, and begins with this message, tells its home so: not if it
// is cancelled from the start.
bool finish_service::is_to_tell(packet const& head, rank home) const noexcept {
    return (head.b & finish_scope::k_is_stopped) == 0 && !m_carrier.is_dead(home);
}

void finish_service::tell_begun(finish_part const& part) noexcept {
    packet begun;
    begun.b = part.root;
    begun.c = part.share.epoch();
    m_carrier.send(part.home, {message_kind::begun}, begun, nullptr);
}

// --- calls and activities ------------------------------------------------------------------------

detail::remote_result finish_service::call(rank to, detail::remote_code code,
                                           wire_writer& arguments, call_limit* within) {
    finish_scope* const scope = detail::current_finish_scope();
    if (scope == nullptr) return m_carrier.call(to, code, arguments, within);
    call_stamp stamp{message_kind::counted_call, scope->home, word_of(*scope), 0};
    stamp.c = account_send(*scope, to);
    return m_carrier.call(to, code, arguments, within, stamp);
}

void finish_service::take_call(packet const& head, std::byte const* payload) noexcept try {
    auto const body = [](arrived& message) noexcept {
        message.at.serve_call(message);
        end(*message.scope);
    };
    m_carrier.start_thread(head, payload, body, &arrive(head));
} catch (...) {
    no_memory_for(head);
}

void finish_service::take_activity(packet const& head, std::byte const* payload) noexcept try {
    m_carrier.start_thread(head, payload, &run_activity, &arrive(head));
} catch (...) {
    no_memory_for(head);
}

void finish_service::run_activity(arrived& message) noexcept {
    finish_scope& scope = *message.scope;
    try {
        message.at.run_code(message, [&scope](void* found, wire_reader& arguments) {
            auto const code = reinterpret_cast<detail::activity_code>(
                found); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
            code(arguments, scope);
        });
    } catch (...) {
        add_exception(scope, std::current_exception());
    }
    end(scope);
}

void finish_service::start_activity(finish_scope& scope, rank to, detail::activity_code code,
                                    wire_writer& arguments) {
    m_carrier.check_runs_threads(to);
    m_carrier.refuse_addresses(to, arguments);
    send_activity(scope, to, code, arguments);
    m_carrier.let_others_catch_up();
}

// It ends here only when it is counted as one that comes there.
void finish_service::pass_on(finish_scope& scope, rank to, detail::activity_code code,
                             wire_writer& arguments) {
    send_activity(scope, to, code, arguments);
    end(scope);
}

std::uint64_t finish_service::account_send_from_part(finish_part& part, rank to) {
    std::lock_guard const held(m_parts_lock);
    if (m_carrier.is_dead(to)) m_carrier.throw_death(to);
    part.share.send(m_here, to);
    return part.share.epoch();
}

// The epoch of a home has the number 0. Where a death ends the program nobody asks who is dead.
std::uint64_t finish_service::account_send_from_home(finish_root& root, rank to) {
    if (TULLE_UNLIKELY(m_carrier.survives_deaths())) return account_send_to_mortal(root, to);
    std::lock_guard const held(root.lock);
    root.count.send(m_here, to);
    return 0;
}

std::uint64_t finish_service::account_send_to_mortal(finish_root& root, rank to) {
    if (!root.is_enrolled.load(std::memory_order_relaxed)) enroll(root); // relaxed: checked again
    std::lock_guard const held(root.lock);
    if (m_carrier.is_dead(to)) m_carrier.throw_death(to);
    root.count.send(m_here, to);
    return 0;
}

// Counted only when nothing can fail any more: what is counted and not sent would keep the finish
// for ever.
void finish_service::send_activity(finish_scope& scope, rank to, detail::activity_code code,
                                   wire_writer& arguments) {
    message_tag const tag{message_kind::activity, false, scope.home};
    packet head;
    head.handler = name_of(reinterpret_cast<void const*>(code));
    head.b = word_of(scope);
    head.size = static_cast<std::uint32_t>(arguments.size());
    if (TULLE_UNLIKELY(arguments.size() > endpoint::k_least_bytes))
        return send_large(scope, to, tag, head, arguments);
    head.c = account_send(scope, to);
    m_carrier.send(to, tag, head, arguments.data());
}

void finish_service::send_large(finish_scope& scope, rank to, message_tag tag, packet head,
                                wire_writer& arguments) {
    endpoint::enclosure const enclosed = m_carrier.enclose(to, tag, arguments);
    try {
        head.c = account_send(scope, to);
    } catch (...) {
        m_carrier.take_out(to, tag, enclosed, arguments);
        throw;
    }
    m_carrier.send(to, tag, head, enclosed);
}

} // namespace tulle::finishes
