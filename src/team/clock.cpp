// SPDX-License-Identifier: Apache-2.0
// Clocks at the places where they were made, by the calls of <tulle/clock.hpp>.
#include "team/death_watch.hpp"

#include <tulle/clock.hpp>
#include <tulle/condition_variable.hpp>
#include <tulle/mutex.hpp>

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace tulle::teams {
namespace {

class clock_core {
public:
    void join(int place) {
        std::lock_guard const held(m_lock);
        if (m_dead >= 0) detail::throw_dead_place(m_dead);
        if (m_members == 0)
            throw std::logic_error("tulle::clock: nobody takes part in it any more");
        ++m_places[place].members; // there may be no memory for it
        ++m_members;
    }
    // Returns the new phase.
    std::uint64_t advance() {
        std::unique_lock held(m_lock);
        check_member();
        ++m_arrived;
        if (m_arrived == m_members) return next_phase();
        std::uint64_t const before = m_phase;
        m_next.wait(held, [&] { return m_phase != before || m_dead >= 0; });
        if (m_phase == before) detail::throw_dead_place(m_dead);
        return before + 1;
    }
    // True: that was the last one.
    bool drop(int place) {
        std::lock_guard const held(m_lock);
        auto const own = m_places.find(place);
        if (own != m_places.end() && own->second.is_lost) return m_members == 0;
        if (m_dead < 0) check_member();
        --m_members;
        if (own != m_places.end()) --own->second.members;
        if (m_members != 0 && m_dead < 0 && m_arrived == m_members) next_phase();
        return m_members == 0;
    }

private:
    struct members_of_place { // that began there
        std::int64_t members = 0;
        bool is_lost = false; // it has died while some of them took part
    };

    // The place has died. Nobody knows what its members would have done.
    void lose(int place) {
        std::lock_guard const held(m_lock);
        auto const its = m_places.find(place);
        if (its == m_places.end() || its->second.members <= 0 ||
            std::exchange(its->second.is_lost, true))
            return;
        m_members -= its->second.members;
        m_dead = place;
        m_next.notify_all();
    }
    void check_member() const {
        if (m_dead >= 0) detail::throw_dead_place(m_dead);
        if (m_arrived == m_members)
            throw std::logic_error("tulle::clock: more activities use it than take part in it");
    }
    std::uint64_t next_phase() {
        m_arrived = 0;
        m_next.notify_all();
        return ++m_phase;
    }

    mutex m_lock; // guards the rest
    condition_variable m_next;
    std::int64_t m_members = 1;
    std::int64_t m_arrived = 0;
    std::uint64_t m_phase = 0;
    std::map<int, members_of_place> m_places{{detail::here_index(), {1, false}}};
    int m_dead = -1; // the last one that is lost
    death_watch m_watch{[this](int place) { lose(place); }};
};

std::shared_ptr<clock_core> clock_of(std::uint64_t name) {
    auto found = std::static_pointer_cast<clock_core>(detail::local_object(name));
    if (found == nullptr) throw std::logic_error("tulle::clock: all that took part have dropped");
    return found;
}

} // namespace
} // namespace tulle::teams

namespace tulle {

using teams::clock_core;
using teams::clock_of;

clock clock::make() {
    clock const made(detail::here_index(), detail::new_name());
    detail::set_local_object(made.m_name, std::make_shared<clock_core>());
    return made;
}

std::uint64_t clock::advance() const {
    return at(
        place(m_home), [](clock self) { return clock_of(self.m_name)->advance(); }, *this);
}

void clock::join_for(int member) const {
    at(
        place(m_home), [](clock self, int from) { clock_of(self.m_name)->join(from); }, *this,
        member);
}

void clock::drop_for(int member) const {
    auto const drop = [](clock self, int from) {
        if (clock_of(self.m_name)->drop(from)) detail::set_local_object(self.m_name, nullptr);
    };
    at(place(m_home), drop, *this, member);
}

// The clock is gone.
void clock::membership::end() const try { of().drop_for(m_member); } catch (dead_place const&) {
}

} // namespace tulle
