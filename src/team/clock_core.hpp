// SPDX-License-Identifier: Apache-2.0
// A clock at its home. Activities of a place arrive by numbers, several by one call, and one call
// of the place at a time waits there for those of them that may go on. Which of them arrived by
// which call does not matter: the home counts, and a place lets its first ones go first
// (clock_arrivals.hpp).
//   INV-1  m_arrived is the sum of m_arrivals, and less than m_members unless a member was lost.
//   INV-2  What has arrived for a place is in m_arrivals or in its releases, until it is fetched.
// Any thread of the home's place calls these.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>
#include <vector>

namespace tulle::teams {

// So many activities of a place may go on, in the order in which they have come there.
struct clock_release {
    std::int64_t activities = 0;
    std::uint64_t phase = 0; // that begins
    int dead = -1;           // or the place with which one that took part was lost
    template <class Archive> void serialize(Archive& archive) { archive(activities, phase, dead); }
};

// Sync: `mutex`, `condition`, throw_dead_place(int), and is_dead(int), which is so before lose() is
// called for that place.
template <class Sync> class clock_core {
public:
    explicit clock_core(int maker) { m_places[maker].members = 1; }

    void join(int place) {
        std::lock_guard const held(m_lock);
        if (m_dead >= 0) Sync::throw_dead_place(m_dead);
        if (Sync::is_dead(place)) Sync::throw_dead_place(place);
        if (m_members == 0)
            throw std::logic_error("tulle::clock: nobody takes part in it any more");
        ++m_places[place].members; // there may be no memory for it
        ++m_members;
    }
    void arrive(int place, std::int64_t activities) {
        std::lock_guard const held(m_lock);
        add(place, activities);
    }
    // Activities: 0 where some have arrived before. Waits for what may go on.
    clock_release arrive_and_wait(int place, std::int64_t activities) {
        std::unique_lock held(m_lock);
        if (activities != 0) add(place, activities);
        std::vector<clock_release>& own = m_places[place].releases;
        while (own.empty()) m_released.wait(held);
        clock_release const first = own.front();
        own.erase(own.begin());
        return first;
    }
    // True: that was the last one.
    bool drop(int place) {
        std::lock_guard const held(m_lock);
        auto const own = m_places.find(place);
        if (own != m_places.end() && own->second.is_lost) return m_members == 0;
        if (m_dead < 0) check_member();
        --m_members;
        if (own != m_places.end()) --own->second.members;
        end_phases();
        return m_members == 0;
    }
    // The place has died. Nobody knows what its members would have done.
    void lose(int place) {
        std::lock_guard const held(m_lock);
        auto const its = m_places.find(place);
        if (its == m_places.end() || its->second.members <= 0 ||
            std::exchange(its->second.is_lost, true))
            return;
        m_members -= its->second.members;
        m_dead = place;
        release(m_arrived);
    }

private:
    struct part_of_place {
        std::int64_t members = 0; // that began there
        bool is_lost = false;     // it has died while some of them took part
        std::int64_t arrived = 0;
        std::vector<clock_release> releases; // until they are fetched; there is room for one more
                                             // for each that has arrived
    };
    struct arrival {
        int place;
        std::int64_t activities;
    };

    void add(int place, std::int64_t activities) {
        check_member();
        part_of_place& own = m_places[place];
        own.releases.reserve(own.releases.size() +
                             static_cast<std::size_t>(own.arrived + activities));
        m_arrivals.push_back({place, activities});
        own.arrived += activities;
        m_arrived += activities;
        end_phases();
    }
    void check_member() const {
        if (m_dead >= 0) Sync::throw_dead_place(m_dead);
        if (m_members == 0)
            throw std::logic_error("tulle::clock: more activities use it than take part in it");
    }
    void end_phases() noexcept { // INV-1
        while (m_members != 0 && m_dead < 0 && m_arrived >= m_members) {
            ++m_phase;
            release(m_members);
        }
    }
    // The first ones.
    void release(std::int64_t activities) noexcept { // INV-2
        m_arrived -= activities;
        while (activities != 0) {
            arrival& first = m_arrivals.front();
            std::int64_t const some = std::min(activities, first.activities);
            add_release(first.place, some);
            activities -= some;
            first.activities -= some;
            if (first.activities == 0) m_arrivals.pop_front();
        }
        m_released.notify_all();
    }
    void add_release(int place, std::int64_t activities) noexcept {
        part_of_place& own = m_places.find(place)->second;
        own.arrived -= activities;
        std::vector<clock_release>& all = own.releases;
        if (all.empty() || all.back().phase != m_phase || all.back().dead != m_dead)
            all.push_back({0, m_phase, m_dead});
        all.back().activities += activities;
    }

    typename Sync::mutex m_lock; // guards the rest
    typename Sync::condition m_released;
    std::int64_t m_members = 1;
    std::int64_t m_arrived = 0;
    std::uint64_t m_phase = 0;
    std::deque<arrival> m_arrivals;
    std::map<int, part_of_place> m_places;
    int m_dead = -1; // the last one that is lost
};

} // namespace tulle::teams
