// SPDX-License-Identifier: Apache-2.0
// I-lets, and regions of memory that are copied from place to place: what the C interface has
// (<tulle/c/place.h>).
#include "messenger/calls.hpp"
#include "messenger/endpoint.hpp"
#include "messenger/image.hpp"

#include "base/error.hpp"

#include <cerrno>
#include <cstring>
#include <vector>

namespace tulle::messenger {

namespace {

using words_function = void (*)(std::uint64_t, std::uint64_t);

void run_here(std::uint64_t code, std::uint64_t a, std::uint64_t b, rank from) noexcept {
    auto const function = reinterpret_cast<words_function>(
        code_of(code)); // NOLINT(cppcoreguidelines-pro-type-reinterpret-cast)
    if (function == nullptr)
        base::fatal("place %u starts code that this place does not have: is the same library "
                    "loaded at both?",
                    from);
    function(a, b);
}

} // namespace

void endpoint::start(rank place, ilet const& wanted) noexcept {
    packet head;
    head.handler = wanted.code;
    head.a = wanted.a;
    head.b = wanted.b;
    send(place, {message_kind::ilet}, head, nullptr);
    let_others_catch_up();
}

void endpoint::take_ilet(packet const& one, std::byte const* payload) noexcept {
    start_thread(one, payload, [](arrived& message) noexcept {
        packet const& head = message.head;
        run_here(head.handler, head.a, head.b, head.from);
    });
}

// Small regions go with the message, and their source is free at once.
void endpoint::push(rank place, std::uint64_t to, std::span<std::byte const> from,
                    ilet const& then_here, ilet const& then_there) {
    bool const is_small = sizeof(push_offer) + from.size() <= m_transport->most_bytes_to(place);
    push_offer const offer{to,
                           from.size(),
                           is_small ? 0 : reinterpret_cast<std::uintptr_t>(from.data()),
                           is_small ? 0 : then_here.code,
                           then_here.a,
                           then_here.b};
    packet head;
    head.handler = then_there.code;
    head.a = then_there.a;
    head.b = then_there.b;
    wire_writer bytes;
    bytes.put(offer);
    if (is_small) bytes.put_bytes(from.data(), from.size());
    head.size = static_cast<std::uint32_t>(bytes.size());
    send(place, {message_kind::offer}, head, bytes.data());
    if (is_small && then_here.code != 0) start(here(), then_here);
    let_others_catch_up();
}

// Handles an offer at the receiver.
void endpoint::take_offer(packet const& head, std::byte const* payload) noexcept {
    start_thread(head, payload,
                 [](arrived& message) noexcept { message.at.receive_offer(message); });
}

void endpoint::receive_offer(arrived const& message) noexcept {
    packet const& head = message.head;
    push_offer offer;
    std::memcpy(&offer, message.payload(), sizeof offer);
    auto* const to = &object_at<std::byte>(offer.to);
    if (offer.source == 0) {
        if (offer.size != 0) std::memcpy(to, message.payload() + sizeof offer, offer.size);
    } else if (int const error = copy_from(head.from, offer.source, {to, offer.size}); error != 0) {
        if (error == EHOSTDOWN) return;
        base::fatal("place %u pushes %llu bytes that it does not have",
                    static_cast<unsigned>(head.from), static_cast<unsigned long long>(offer.size));
    }
    if (offer.handler != 0) start(head.from, {offer.handler, offer.a, offer.b});
    if (head.handler != 0) run_here(head.handler, head.a, head.b, head.from);
}

int endpoint::pull(rank place, std::uint64_t from, std::span<std::byte> to) noexcept {
    return copy_from(place, from, to);
}

} // namespace tulle::messenger
