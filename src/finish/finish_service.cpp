// SPDX-License-Identifier: Apache-2.0
// Calls and activities that belong to finishes. How they are counted: accounts.cpp.
#include "finish/finish_service.hpp"

#include "messenger/image.hpp"

#include <exception>

namespace tulle::finishes {

using messenger::name_of;
using messenger::no_memory_for;

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

// --- calls and activities ------------------------------------------------------------------------

detail::remote_result finish_service::call(rank to, detail::remote_code code,
                                           wire_writer& arguments, call_limit* within) {
    finish_scope* const of = detail::current_finish_scope();
    if (of == nullptr) return m_carrier.call(to, code, arguments, within);
    call_stamp stamp{message_kind::counted_call, of->home, word_of(*of), 0};
    stamp.c = account_send(*of, to);
    return m_carrier.call(to, code, arguments, within, stamp);
}

void finish_service::take_call(packet const& head, std::byte const* payload) noexcept try {
    auto const body = [](arrived& message) noexcept {
        message.at.serve_call(message);
        end(*message.of);
    };
    m_carrier.start_thread(head, payload, body, &arrive(head));
} catch (...) {
    no_memory_for(head);
}

void finish_service::take_activity(packet const& head, std::byte const* payload) noexcept try {
    auto const body = [](arrived& message) noexcept {
        try {
            wire_writer result(static_cast<int>(message.head.from));
            message.at.run_code(message, result);
        } catch (...) {
            add_exception(*message.of, std::current_exception());
        }
        end(*message.of);
    };
    m_carrier.start_thread(head, payload, body, &arrive(head));
} catch (...) {
    no_memory_for(head);
}

void finish_service::start_activity(finish_scope& of, rank to, detail::remote_code code,
                                    wire_writer& arguments) {
    send_activity(of, to, code, arguments);
    m_carrier.let_others_catch_up();
}

// It ends here only when it is counted as one that comes there.
void finish_service::pass_on(finish_scope& of, rank to, detail::remote_code code,
                             wire_writer& arguments) {
    send_activity(of, to, code, arguments);
    end(of);
}

// Counted only when nothing can fail any more: what is counted and not sent would keep the finish
// for ever.
void finish_service::send_activity(finish_scope& of, rank to, detail::remote_code code,
                                   wire_writer& arguments) {
    message_tag tag{message_kind::activity, false, of.home};
    endpoint::enclosure const enclosed = m_carrier.enclose(to, tag, arguments);
    packet head;
    head.handler = name_of(reinterpret_cast<void const*>(code));
    head.b = word_of(of);
    try {
        head.c = account_send(of, to);
    } catch (...) {
        m_carrier.discard(to, tag, enclosed);
        throw;
    }
    m_carrier.send(to, tag, head, enclosed);
}

} // namespace tulle::finishes
