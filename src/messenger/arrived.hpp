// SPDX-License-Identifier: Apache-2.0
// A message that is handled by a thread of its own.
#pragma once

#include "messenger/context.hpp"
#include "messenger/message.hpp"

#include <tulle/wire.hpp>

#include <cstddef>
#include <cstring>

namespace tulle::messenger {

// The payload lies behind it, aligned as it was written.
struct alignas(wire_writer::k_alignment) arrived {
    using body = void (*)(arrived& message) noexcept;

    endpoint& at;
    packet head;
    body run;
    finish_scope* scope; // that the thread belongs to, or null

    [[nodiscard]] std::byte* payload() noexcept { return reinterpret_cast<std::byte*>(this + 1); }
    [[nodiscard]] std::byte const* payload() const noexcept {
        return reinterpret_cast<std::byte const*>(this + 1);
    }
    [[nodiscard]] message_tag tag() const noexcept { return message_tag::decode(head.kind); }
};

// Ends the process.
[[noreturn]] void no_memory_for(packet const& head) noexcept;

// What a message says whose payload lies elsewhere.
inline payload_reference reference_in(std::byte const* payload) noexcept {
    payload_reference reference;
    std::memcpy(&reference, payload, sizeof reference);
    return reference;
}

} // namespace tulle::messenger
