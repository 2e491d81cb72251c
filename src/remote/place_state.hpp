// SPDX-License-Identifier: Apache-2.0
// What a place has besides messages: objects of which each place has its own, collective operations under way, and the lock of its atomic blocks.
#pragma once

#include "base/spin_lock.hpp"
#include "remote/home_waits.hpp"

#include <tulle/condition_variable.hpp>
#include <tulle/mutex.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace tulle::remote {

// Who wants to know when a place dies.
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

struct place_state {
    base::spin_lock lock;                                   // guards the next three
    std::uint64_t names = 0;                                // given out here so far
    std::map<std::uint64_t, std::shared_ptr<void>> objects; // of place_local, by their names
    std::map<std::uint64_t, std::uint64_t> collectives;     // begun so far, by the names of the teams

    std::shared_ptr<death_registry> deaths = std::make_shared<death_registry>(); // shared with those who watch
    home_waits waits;
    mutex atomic_blocks;
    condition_variable block_has_ended;
};

// That of the calling thread's place.
[[nodiscard]] place_state& state_here();

} // namespace tulle::remote
