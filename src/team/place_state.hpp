// SPDX-License-Identifier: Apache-2.0
// What a place has for teams and for objects of which each place has its own: collective operations
// under way and their messages, waits for other places, and the lock of its atomic blocks.
#pragma once

#include "base/spin_lock.hpp"
#include "messenger/endpoint.hpp"
#include "net/order_of_process.hpp"
#include "team/collective_inbox.hpp"
#include "team/home_waits.hpp"

#include <tulle/condition_variable.hpp>
#include <tulle/mutex.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace tulle::teams {

using messenger::endpoint;
using messenger::message_kind;
using messenger::message_tag;
using net::packet;
using net::rank;

// The death watches of a place.
class death_registry {
public:
    [[nodiscard]] std::uint64_t add(std::function<void(int)> told) {
        std::lock_guard const held(m_lock);
        m_watchers.emplace(++m_numbers, std::move(told));
        return m_numbers;
    }
    void remove(std::uint64_t number) {
        std::lock_guard const held(m_lock);
        m_watchers.erase(number);
    }
    void tell(int dead) {
        std::lock_guard const held(m_lock);
        for (auto const& [number, told] : m_watchers) told(dead);
    }

private:
    mutex m_lock; // guards the rest
    std::uint64_t m_numbers = 0;
    std::map<std::uint64_t, std::function<void(int)>> m_watchers;
};

class place_state {
public:
    place_state() = default;                 // of a process that is alone: nothing is sent
    explicit place_state(endpoint& carrier); // throws std::bad_alloc
    place_state(place_state const&) = delete;
    place_state& operator=(place_state const&) = delete;

    // Throws std::bad_alloc, with nothing done.
    void post(rank to, detail::collective_message const& message, wire_writer& bytes);
    // Throws std::bad_alloc; dead_place.
    [[nodiscard]] detail::remote_result take(rank from, detail::collective_message const& message);
    // The order of what this place sees in memory of other places.
    [[nodiscard]] net::order_of_process& order() noexcept { return m_order; }

    base::spin_lock lock;                                   // guards the next four
    std::uint64_t names = 0;                                // given out here so far
    std::map<std::uint64_t, std::shared_ptr<void>> objects; // of place_local, by their names
    // Begun so far, by the names of the teams.
    std::map<std::uint64_t, std::uint64_t> collectives;
    std::map<std::uint64_t, std::shared_ptr<void>> arrivals; // in clocks, by their names

    // Shared with the watches.
    std::shared_ptr<death_registry> deaths = std::make_shared<death_registry>();
    home_waits waits;
    mutex atomic_blocks;
    condition_variable block_has_ended;

private:
    void take_collective(packet const& head, std::byte const* payload) noexcept;
    void place_died(rank dead);

    endpoint* m_carrier = nullptr;
    collective_inbox m_inbox;
    net::order_of_process m_order;
};

// The state of the place whose messages these are.
[[nodiscard]] inline place_state& state_of(endpoint const& e) noexcept {
    return *static_cast<place_state*>(e.handler_of(message_kind::collective));
}

// The state of the calling thread's place.
[[nodiscard]] place_state& state_here();

// The calling thread's place begins no operation of that team any more.
void forget_collectives(std::uint64_t team);

} // namespace tulle::teams
