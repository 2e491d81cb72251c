// SPDX-License-Identifier: Apache-2.0
// Collective messages that have come and that no thread has asked for yet, and threads that have
// asked for one that has not come.
#pragma once

#include "base/spin_lock.hpp"
#include "net/packet.hpp"

#include <tulle/detail/collective.hpp>
#include <tulle/signal.hpp>

#include <compare>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>
#include <set>

namespace tulle::teams {

struct collective_key {
    detail::collective_message message;
    net::rank from = 0;
    friend auto operator<=>(collective_key const&, collective_key const&) = default;
};

struct collective_body {
    bool by_reference = false; // the bytes say where the payload is
    detail::remote_result bytes;
};

class collective_inbox {
public:
    // The polling thread calls this. Throws std::bad_alloc.
    void arrive(collective_key const& key, collective_body body);
    // Waits for the message; one thread for each key. Nothing: the place that should have sent it
    // has died.
    [[nodiscard]] std::optional<collective_body> take(collective_key const& key) noexcept;
    // No more messages will come from that place. Throws std::bad_alloc.
    void lose(net::rank dead);

private:
    struct slot {
        std::optional<collective_body> body;
        signal* waiter = nullptr;
    };

    using slots = std::map<collective_key, slot>;

    [[nodiscard]] slots::iterator slot_of(collective_key const& key,
                                          std::unique_lock<base::spin_lock>& held) noexcept;

    base::spin_lock m_lock;
    slots m_slots;
    std::set<net::rank> m_dead;
};

} // namespace tulle::teams
