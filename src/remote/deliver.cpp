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
        case message_kind::begun: return take_begun(head);
        case message_kind::stop: return take_stop(head, message_tag::decode(head.kind));
        case message_kind::exception: return take_exception(head, payload);
        case message_kind::release: return take_back(head.from, {head.b, 0, head.a});
        case message_kind::push: return send_pieces(head, payload);
        case message_kind::fragment: return take_fragment(head, payload);
        case message_kind::end: return m_end.notify();
        case message_kind::letter: return take_letter(head, payload);
        case message_kind::memory: return m_memory.serve(head, payload);
        case message_kind::work: return m_work.serve(head, payload);
        case message_kind::memory_answer: return m_memory.take_answer(head, payload);
        case message_kind::account:
            return message_tag::decode(head.kind).by_reference ? start_thread(head, payload) : take_account(head, {payload, head.size});
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
        case message_kind::account: fetch_account(message); break;
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
        wire_writer result(static_cast<int>(message->head.from));
        run_code(*message, result);
        if (tag.kind == message_kind::call) {
            refuse_addresses(message->head.from, result);
            send_back(*message, message_kind::result, result);
        }
    } catch (...) {
        if (tag.kind == message_kind::activity)
            add_exception(*message->of, std::current_exception());
        else
            try {
                wire_writer text(static_cast<int>(message->head.from));
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
    apply_report(message->head, told.bytes());
} catch (dead_place const&) { // nobody counts on it any more
} catch (std::bad_alloc const&) {
    no_memory(message->head);
}

void engine::send_back(arrived const& message, message_kind kind, wire_writer& result) noexcept try {
    message_tag tag{kind};
    enclosure const enclosed = enclose(message.head.from, tag, result);
    packet back;
    back.a = message.head.a;
    send(message.head.from, tag, back, enclosed);
} catch (std::bad_alloc const&) {
    no_memory(message.head);
}

// --- calls that wait --------------------------------------------------------------------------------------------------------

detail::remote_result engine::call(rank to, detail::remote_code code, wire_writer& arguments, call_limit* within) {
    pending_call pending;
    governor* const of = detail::current_governor();
    packet head;
    head.handler = name_of(reinterpret_cast<void const*>(code));
    head.a = reinterpret_cast<std::uintptr_t>(&pending);
    message_tag tag{message_kind::call};
    if (of != nullptr) {
        head.b = word_of(*of);
        head.c = account_send(*of, to);
        tag.home = of->home;
    }
    send_in_place(to, tag, head, arguments, &pending);
    let_others_catch_up();
    if (within == nullptr || !pending.answered.wait(wait_limit::of(within->until))) {
        if (within != nullptr) within->reached(*within);
        pending.answered.wait();
    }
    if (pending.has_died) throw_death(to);
    if (message_tag::decode(pending.head.kind).by_reference) pending.payload = fetch(to, reference_in(pending.payload.bytes().data()));
    if (!pending.is_failure) return std::move(pending.payload);
    wire_reader in(pending.payload.bytes());
    std::rethrow_exception(get_exception(in));
}

void engine::answer(packet const& head, std::byte const* payload) noexcept try {
    auto& pending = object_at<pending_call>(head.a);
    cross_off(head.from, pending);
    pending.head = head;
    pending.is_failure = message_tag::decode(head.kind).kind == message_kind::failure;
    pending.payload = detail::remote_result(head.size);
    if (head.size != 0) std::memcpy(pending.payload.data(), payload, head.size);
    pending.answered.notify(); // it is gone then
} catch (std::bad_alloc const&) {
    no_memory(head);
}

void engine::start_activity(governor& of, rank to, detail::remote_code code, wire_writer& arguments) {
    send_activity(of, to, code, arguments);
    let_others_catch_up();
}

// It ends here only when it is counted as one that comes there.
void engine::pass_on(governor& of, rank to, detail::remote_code code, wire_writer& arguments) {
    send_activity(of, to, code, arguments);
    end(of);
}

// Counted only when nothing can fail any more: what is counted and not sent would keep the finish for ever.
void engine::send_activity(governor& of, rank to, detail::remote_code code, wire_writer& arguments) {
    message_tag tag{message_kind::activity, false, of.home};
    enclosure const enclosed = enclose(to, tag, arguments);
    packet head;
    head.handler = name_of(reinterpret_cast<void const*>(code));
    head.b = word_of(of);
    try {
        head.c = account_send(of, to);
    } catch (dead_place const&) {
        drop(tag, reinterpret_cast<std::byte const*>(&enclosed.where), nullptr);
        throw;
    } catch (...) {
        if (tag.by_reference) take_back(to, enclosed.where);
        throw;
    }
    send(to, tag, head, enclosed);
}

// --- large payloads ------------------------------------------------------------------------------------------------------

// 0, EFAULT: there is no such memory, or EHOSTDOWN: the place has died. Reads it where it is; if that is not allowed, has it sent.
int engine::copy_from(rank from, std::uint64_t address, std::span<std::byte> to) noexcept {
    int const refused = to.empty() ? 0 : m_transport->read(from, to.data(), address, to.size());
    if (refused == 0 || refused == EFAULT) return refused;
    std::uint64_t const size = to.size();
    transfer whole(to.data(), size);
    packet ask;
    // What is on its way into memory cannot be called back when its sender dies.
    if (!m_survives) ask.c = m_transport->begin_receive(from, to, reinterpret_cast<std::uintptr_t>(&whole));
    if (ask.c != 0) whole.missing.store(2, std::memory_order_relaxed); // relaxed: published by the message
    ask.a = address;
    ask.b = reinterpret_cast<std::uintptr_t>(&whole);
    ask.size = sizeof size;
    send(from, {message_kind::push}, ask, reinterpret_cast<std::byte const*>(&size), &whole);
    whole.complete.wait();
    return whole.has_died ? EHOSTDOWN : 0;
}

void engine::give_back(rank to, payload_reference const& what) noexcept {
    packet done;
    done.a = what.lent;
    done.b = what.address;
    send(to, {message_kind::release}, done, nullptr);
}

detail::remote_result engine::fetch(rank from, payload_reference const& what) {
    if (what.lent == payload_reference::k_staged) return borrow(from, what);
    detail::remote_result all(what.size);
    int const error = copy_from(from, what.address, {all.data(), what.size});
    if (error == EHOSTDOWN) throw_death(from);
    if (error != 0)
        base::fatal("place %u sent a message of %llu bytes and cannot be read", from, static_cast<unsigned long long>(what.size));
    if (what.lent != 0) give_back(from, what);
    return all;
}

// Read where it is, and given back by whoever has read it.
detail::remote_result engine::borrow(rank from, payload_reference const& what) noexcept {
    detail::payload_owner const of{
        [](detail::payload_owner const& self, std::byte* /*bytes*/) noexcept {
            static_cast<engine*>(self.at)->give_back(static_cast<rank>(self.place), {self.number, 0, payload_reference::k_staged});
        },
        this, what.address, static_cast<int>(from)};
    auto* const bytes = const_cast<std::byte*>(m_transport->find_staged(what.address)); // NOLINT: nobody writes to it
    return {detail::payload_bytes(bytes, of), what.size};
}

void engine::send_pieces(packet const& head, std::byte const* payload) noexcept {
    std::uint64_t size = 0;
    std::memcpy(&size, payload, sizeof size);
    auto const* const bytes = &object_at<std::byte const>(head.a);
    if (head.c != 0) {
        if (m_transport->begin_send(head.from, static_cast<std::uint32_t>(head.c), {bytes, size}, head.b)) return;
        no_memory(head);
    }
    for (std::uint64_t at = 0; at < size;) {
        packet piece;
        piece.a = head.b;
        piece.b = at;
        piece.size = static_cast<std::uint32_t>(std::min<std::uint64_t>(size - at, m_transport->most_bytes_to(head.from)));
        send(head.from, {message_kind::fragment}, piece, bytes + at);
        at += piece.size;
    }
}

void engine::take_fragment(packet const& head, std::byte const* payload) noexcept {
    auto& into = object_at<transfer>(head.a);
    if (head.size == 0) return count_down(into, head.from, 1);
    std::memcpy(into.to + head.b, payload, head.size);
    count_down(into, head.from, head.size);
}

void engine::count_down(transfer& whole, rank from, std::uint64_t by) noexcept {
    if (whole.missing.fetch_sub(by, std::memory_order_acq_rel) != by) return; // acq_rel: all pieces are there
    cross_off(from, whole);
    whole.complete.notify();
}

// One side of a stream is done. The receiver must not tell that the payload is free before the sender says so.
void engine::moved(rank peer, std::uint64_t what, bool was_sent) noexcept {
    if (!was_sent) return count_down(object_at<transfer>(what), peer, 1);
    packet sent;
    sent.a = what;
    send(peer, {message_kind::fragment}, sent, nullptr);
}

} // namespace tulle::remote
