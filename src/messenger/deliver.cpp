// SPDX-License-Identifier: Apache-2.0
// Messages that become threads, and calls that wait for their answer. The
// polling thread calls the handlers, which do not wait.
#include "messenger/calls.hpp"
#include "messenger/exception_wire.hpp"
#include "messenger/pending.hpp"

#include "base/error.hpp"
#include "base/few_bytes.hpp"

#include <tulle/place.hpp>
#include <tulle/thread.hpp>

#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <utility>

namespace tulle::messenger {

namespace {

// A message with few bytes takes the memory of a thread's record.
bool fits_in_block(std::size_t payload) noexcept {
    return payload <= detail::k_block_size - sizeof(arrived);
}
void* room_for_arrived(std::size_t payload) {
    if (TULLE_UNLIKELY(!fits_in_block(payload))) return ::operator new(sizeof(arrived) + payload);
    void* const block = detail::allocate_block();
    if (TULLE_UNLIKELY(block == nullptr)) throw std::bad_alloc();
    return block;
}
void free_arrived(arrived* message) noexcept {
    bool const is_block = fits_in_block(message->head.size);
    is_block ? detail::free_block(message) : ::operator delete(message);
}

} // namespace

void no_memory_for(packet const& head) noexcept {
    base::fatal("no memory for a message of %u bytes from place %u", head.size,
                static_cast<unsigned>(head.from));
}

void handler_table::refuse(void* /*object*/, packet const& head,
                           std::byte const* /*payload*/) noexcept {
    base::fatal("place %u sent a message of unknown kind %u", static_cast<unsigned>(head.from),
                static_cast<unsigned>(head.kind));
}

void endpoint::enter_handlers() noexcept {
    handle<&endpoint::take_call>(message_kind::call, *this);
    handle<&endpoint::take_ilet>(message_kind::ilet, *this);
    handle<&endpoint::take_offer>(message_kind::offer, *this);
    handle<&endpoint::take_answer>(message_kind::result, *this);
    handle<&endpoint::take_answer>(message_kind::failure, *this);
    handle<&endpoint::take_release>(message_kind::release, *this);
    handle<&endpoint::send_pieces>(message_kind::push, *this);
    handle<&endpoint::take_fragment>(message_kind::fragment, *this);
    handle<&endpoint::take_active>(message_kind::active, *this);
    handle<&endpoint::take_active_answer>(message_kind::active_answer, *this);
    handle<&endpoint::take_end>(message_kind::end, *this);
}

void endpoint::take_end(packet const& /*head*/, std::byte const* /*payload*/) noexcept {
    m_end.notify();
}

// --- code that is called -------------------------------------------------------------------------

void endpoint::start_thread(packet const& head, std::byte const* payload, arrived::body body,
                            finish_scope* scope) noexcept try {
    auto* const message = ::new (room_for_arrived(head.size)) arrived{*this, head, body, scope};
    base::copy_few_bytes(message->payload(), payload, head.size);
    begin_use();
    spawn_detached([message]() noexcept {
        endpoint& at = message->at;
        place_context context{&at, message->scope};
        {
            scoped_context const for_this_thread(context);
            message->run(*message);
        }
        free_arrived(message);
        at.end_use();
    });
} catch (...) {
    no_memory_for(head);
}

void endpoint::take_call(packet const& head, std::byte const* payload) noexcept {
    start_thread(head, payload, [](arrived& message) noexcept { message.at.serve_call(message); });
}

void endpoint::serve_call(arrived const& message) noexcept try {
    int const from = static_cast<int>(message.head.from);
    try {
        wire_writer result(from);
        run_code(message, [&result](void* found, wire_reader& arguments) {
            auto const code = reinterpret_cast<detail::remote_code>(
                found); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
            code(arguments, result);
        });
        refuse_addresses(message.head.from, result);
        send_back(message, message_kind::result, result);
    } catch (...) {
        wire_writer text(from);
        put_exception(text, std::current_exception(), static_cast<int>(here()));
        send_back(message, message_kind::failure, text);
    }
} catch (std::bad_alloc const&) {
    no_memory_for(message.head);
}

void endpoint::refuse_code(rank from) const {
    throw remote_error(static_cast<int>(here()), "",
                       "tulle: place " + std::to_string(from) + " calls code that place " +
                           std::to_string(here()) +
                           " does not have: is the same library loaded at both?");
}

void endpoint::send_back(arrived const& message, message_kind kind, wire_writer& result) noexcept
    try {
    message_tag tag{kind};
    enclosure const enclosed = enclose(message.head.from, tag, result);
    packet back;
    back.a = message.head.a;
    send(message.head.from, tag, back, enclosed);
} catch (std::bad_alloc const&) {
    no_memory_for(message.head);
}

// --- calls that wait -----------------------------------------------------------------------------

detail::remote_result endpoint::call(rank to, detail::remote_code code, wire_writer& arguments,
                                     call_limit* within, call_stamp const& stamp) {
    pending_call pending;
    packet head;
    head.handler = name_of(reinterpret_cast<void const*>(code));
    head.a = reinterpret_cast<std::uintptr_t>(&pending);
    head.b = stamp.b;
    head.c = stamp.c;
    send_in_place(to, {stamp.kind, false, stamp.home}, head, arguments, &pending);
    let_others_catch_up();
    if (within == nullptr || !pending.answered.wait(wait_limit::of(within->until))) {
        if (within != nullptr) within->reached(*within);
        pending.answered.wait();
    }
    if (pending.has_died) throw_death(to);
    if (message_tag::decode(pending.head.kind).by_reference)
        pending.payload = fetch(to, reference_in(pending.payload.bytes().data()));
    if (!pending.is_failure) return std::move(pending.payload);
    wire_reader in(pending.payload.bytes());
    std::rethrow_exception(get_exception(in));
}

void endpoint::take_answer(packet const& head, std::byte const* payload) noexcept try {
    auto& pending = object_at<pending_call>(head.a);
    cross_off(head.from, pending);
    pending.head = head;
    pending.is_failure = message_tag::decode(head.kind).kind == message_kind::failure;
    pending.payload = detail::remote_result(head.size);
    if (head.size != 0) std::memcpy(pending.payload.data(), payload, head.size);
    pending.answered.notify(); // it is gone then
} catch (std::bad_alloc const&) {
    no_memory_for(head);
}

} // namespace tulle::messenger
