// SPDX-License-Identifier: Apache-2.0
// What arrives at a place. deliver() is called by whoever polls, and does not wait: calls and activities become threads.
#include "remote/exception_wire.hpp"
#include "remote/pending.hpp"

#include "base/error.hpp"

#include <tulle/place.hpp>
#include <tulle/thread.hpp>

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>

namespace tulle::remote {

namespace {

[[noreturn]] void no_memory(packet const& head) {
    base::fatal("no memory for a message of %u bytes from place %u", head.size, static_cast<unsigned>(head.from));
}

} // namespace

void engine::deliver(packet const& head, std::byte const* payload) noexcept {
    switch (message_tag::decode(head.kind).kind) {
        case message_kind::call:
        case message_kind::activity:
        case message_kind::ilet:
        case message_kind::offer: return start_thread(head, payload);
        case message_kind::result:
        case message_kind::failure: return answer(head, payload);
        case message_kind::report:
            return message_tag::decode(head.kind).by_reference ? start_thread(head, payload) : take_report(head, payload);
        case message_kind::exception: return take_exception(head, payload);
        case message_kind::release: return take_back(head.a);
        case message_kind::push: return send_pieces(head, payload);
        case message_kind::fragment: return take_fragment(head, payload);
        case message_kind::end: return m_end.notify();
    }
    base::fatal("place %u sent a message of unknown kind %u", static_cast<unsigned>(head.from), static_cast<unsigned>(head.kind));
}

// --- code that is called -------------------------------------------------------------------------------------------------

void engine::start_thread(packet const& head, std::byte const* payload) noexcept try {
    void* const memory = ::operator new(sizeof(arrived) + head.size);
    message_tag const tag = message_tag::decode(head.kind);
    bool const belongs = tag.kind == message_kind::call || tag.kind == message_kind::activity;
    auto* const message = ::new (memory) arrived{*this, head, belongs ? arrive(head, tag) : nullptr};
    if (head.size != 0) std::memcpy(message->payload(), payload, head.size);
    m_running.fetch_add(1, std::memory_order_relaxed); // relaxed: only its end matters
    spawn_detached([this, message]() noexcept {
        run(message);
        m_running.fetch_sub(1, std::memory_order_release); // pairs with ~engine
    });
} catch (...) {
    no_memory(head);
}

// In a thread of its own.
void engine::run(arrived* message) noexcept {
    standing where{this, message->of};
    stand const for_this_thread(where);
    switch (message_tag::decode(message->head.kind).kind) {
        case message_kind::report: fetch_report(message); break;
        case message_kind::ilet: run_ilet(message); break;
        case message_kind::offer: take_offer(message); break;
        default: run_call(message);
    }
    ::operator delete(message);
}

// A call or an activity.
void engine::run_call(arrived* message) noexcept {
    message_tag const tag = message_tag::decode(message->head.kind);
    try {
        wire_writer result;
        run_code(*message, result);
        if (tag.kind == message_kind::call) send_back(*message, message_kind::result, result);
    } catch (...) {
        if (tag.kind == message_kind::activity)
            add_exception(*message->of, std::current_exception());
        else
            try {
                wire_writer text;
                put_exception(text, std::current_exception(), static_cast<int>(here()));
                send_back(*message, message_kind::failure, text);
            } catch (std::bad_alloc const&) {
                no_memory(message->head);
            }
    }
    if (message->of != nullptr) end(*message->of);
}

void engine::run_code(arrived const& message, wire_writer& result) {
    auto const code =
        reinterpret_cast<detail::remote_code>(code_of(message.head.handler)); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    rank const from = message.head.from;
    if (code == nullptr)
        throw remote_error(static_cast<int>(here()), "",
                           "tulle: place " + std::to_string(from) + " calls code that place " + std::to_string(here()) +
                               " does not have: is the same library loaded at both?");
    if (!message_tag::decode(message.head.kind).by_reference) {
        wire_reader in({message.payload(), message.head.size});
        return code(in, result);
    }
    detail::remote_result const arguments = fetch(from, reference_in(message.payload()));
    wire_reader in(arguments.bytes());
    code(in, result);
}

// One that is too large for a message.
void engine::fetch_report(arrived* message) noexcept try {
    detail::remote_result const told = fetch(message->head.from, reference_in(message->payload()));
    apply_report(object_at<finish_root>(message->head.b), told.bytes());
} catch (std::bad_alloc const&) {
    no_memory(message->head);
}

void engine::send_back(arrived const& message, message_kind kind, wire_writer const& result) noexcept try {
    packet back;
    back.a = message.head.a;
    send_lent(message.head.from, {kind}, back, {result.data(), result.size()});
} catch (std::bad_alloc const&) {
    no_memory(message.head);
}

// --- calls that wait --------------------------------------------------------------------------------------------------------

detail::remote_result engine::call(rank to, detail::remote_code code, std::span<std::byte const> arguments) {
    pending_call pending;
    governor* const of = detail::current_governor();
    packet head;
    head.handler = name_of(reinterpret_cast<void const*>(code));
    head.a = reinterpret_cast<std::uintptr_t>(&pending);
    message_tag tag{message_kind::call};
    if (of != nullptr) {
        head.b = of->root;
        head.c = account_send(*of, to);
        tag.home = of->home;
    }
    send_in_place(to, tag, head, arguments);
    let_others_catch_up();
    pending.answered.wait();
    if (message_tag::decode(pending.head.kind).by_reference) pending.payload = fetch(to, reference_in(pending.payload.bytes().data()));
    if (!pending.is_failure) return std::move(pending.payload);
    wire_reader in(pending.payload.bytes());
    std::rethrow_exception(get_exception(in));
}

void engine::answer(packet const& head, std::byte const* payload) noexcept try {
    auto& pending = object_at<pending_call>(head.a);
    pending.head = head;
    pending.is_failure = message_tag::decode(head.kind).kind == message_kind::failure;
    pending.payload = detail::remote_result(head.size);
    if (head.size != 0) std::memcpy(pending.payload.data(), payload, head.size);
    pending.answered.notify(); // it is gone then
} catch (std::bad_alloc const&) {
    no_memory(head);
}

// Counted only when nothing can fail any more: what is counted and not sent would keep the finish for ever.
void engine::start_activity(governor& of, rank to, detail::remote_code code, std::span<std::byte const> arguments) {
    message_tag tag{message_kind::activity, false, of.home};
    enclosure const enclosed = enclose(tag, arguments);
    packet head;
    head.handler = name_of(reinterpret_cast<void const*>(code));
    head.b = of.root;
    try {
        head.c = account_send(of, to);
    } catch (...) {
        take_back(enclosed.where.lent);
        throw;
    }
    send(to, tag, head, enclosed);
    let_others_catch_up();
}

// --- large payloads ------------------------------------------------------------------------------------------------------

// 0, or EFAULT: there is no such memory. Reads it where it is; if that is not allowed, has it sent.
int engine::copy_from(rank from, std::uint64_t address, std::span<std::byte> to) noexcept {
    int const refused = to.empty() ? 0 : m_transport->read(from, to.data(), address, to.size());
    if (refused == 0 || refused == EFAULT) return refused;
    std::uint64_t const size = to.size();
    transfer awaited{to.data(), {size}};
    packet ask;
    ask.a = address;
    ask.b = reinterpret_cast<std::uintptr_t>(&awaited);
    ask.size = sizeof size;
    send(from, {message_kind::push}, ask, reinterpret_cast<std::byte const*>(&size));
    awaited.complete.wait();
    return 0;
}

detail::remote_result engine::fetch(rank from, payload_reference const& what) {
    detail::remote_result all(what.size);
    if (copy_from(from, what.address, {all.data(), what.size}) != 0)
        base::fatal("place %u sent a message of %llu bytes and cannot be read", from, static_cast<unsigned long long>(what.size));
    if (what.lent != 0) {
        packet done;
        done.a = what.lent;
        send(from, {message_kind::release}, done, nullptr);
    }
    return all;
}

void engine::send_pieces(packet const& head, std::byte const* payload) noexcept {
    std::uint64_t size = 0;
    std::memcpy(&size, payload, sizeof size);
    auto const* const bytes = &object_at<std::byte const>(head.a);
    for (std::uint64_t at = 0; at < size;) {
        packet piece;
        piece.a = head.b;
        piece.b = at;
        piece.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(size - at, m_transport->most_bytes()));
        send(head.from, {message_kind::fragment}, piece, bytes + at);
        at += piece.size;
    }
}

void engine::take_fragment(packet const& head, std::byte const* payload) noexcept {
    auto& into = object_at<transfer>(head.a);
    std::memcpy(into.to + head.b, payload, head.size);
    if (into.missing.fetch_sub(head.size, std::memory_order_acq_rel) == head.size) into.complete.notify(); // acq_rel: all pieces are there
}

} // namespace tulle::remote
