// SPDX-License-Identifier: Apache-2.0
// The handler of each kind of message. Each part of a place that sends messages of its own enters
// a function for each of its kinds before the first message can come; from then on the table is
// only read. An arriving message costs one look-up.
// Source: active messages (von Eicken and others, ISCA 1992), with numbers that are given out in
// one list (message.hpp) instead of addresses.
#pragma once

#include "messenger/message.hpp"

#include <array>
#include <cstddef>

namespace tulle::messenger {

class handler_table {
public:
    // Called by the thread that polls: it must not wait.
    using function = void (*)(void* object, packet const& head, std::byte const* payload) noexcept;

    handler_table() noexcept { m_entries.fill({&refuse, nullptr}); }
    // `Take` is a member function of the object: void (packet const&, std::byte const*) noexcept.
    template <auto Take, class Object> void set(message_kind kind, Object& object) noexcept {
        m_entries[index_of(kind)] = {
            [](void* at, packet const& head, std::byte const* payload) noexcept {
                (static_cast<Object*>(at)->*Take)(head, payload);
            },
            &object};
    }
    // The object that has been entered for that kind; null: none.
    [[nodiscard]] void* object_of(message_kind kind) const noexcept {
        return m_entries[index_of(kind)].object;
    }

    void deliver(packet const& head, std::byte const* payload) const noexcept {
        entry const& to = m_entries[index_of(message_tag::decode(head.kind).kind)];
        to.take(to.object, head, payload);
    }

private:
    struct entry {
        function take;
        void* object;
    };

    [[nodiscard]] static std::size_t index_of(message_kind kind) noexcept {
        return static_cast<std::size_t>(kind);
    }
    // Ends the process.
    static void refuse(void* object, packet const& head, std::byte const* payload) noexcept;

    std::array<entry, message_tag::k_kinds> m_entries;
};

} // namespace tulle::messenger
