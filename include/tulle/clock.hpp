// SPDX-License-Identifier: Apache-2.0
// A barrier for activities at any places, which may join it and leave it: phased computation.
//   tulle::finish([](tulle::activities& all) {
//       tulle::clock const c = tulle::clock::make();               // who makes it takes part
//       for (tulle::place p : tulle::places()) c.async_at(all, p, [](tulle::clock own) { ...; own.advance(); ...; });
//       c.drop();
//   });
// Messages: two for each advance() at another place than the clock's.
// Contexts: any thread of the process. Source: clocks of X10 (Charles and others, OOPSLA 2005).
#pragma once

#include <tulle/condition_variable.hpp>
#include <tulle/finish.hpp>
#include <tulle/mutex.hpp>
#include <tulle/place.hpp>
#include <tulle/place_local.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <utility>

namespace tulle {

namespace detail {

// At the place where the clock was made.
class clock_core {
public:
    void join(int place) {
        std::lock_guard const held(m_lock);
        if (m_dead >= 0) throw_dead_place(m_dead);
        if (m_members == 0) throw std::logic_error("tulle::clock: nobody takes part in it any more");
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
        if (m_phase == before) throw_dead_place(m_dead);
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

    // Nobody knows what its members would have done.
    void lose(int place) {
        std::lock_guard const held(m_lock);
        auto const its = m_places.find(place);
        if (its == m_places.end() || its->second.members <= 0 || std::exchange(its->second.is_lost, true)) return;
        m_members -= its->second.members;
        m_dead = place;
        m_next.notify_all();
    }
    void check_member() const {
        if (m_dead >= 0) throw_dead_place(m_dead);
        if (m_arrived == m_members) throw std::logic_error("tulle::clock: more activities use it than take part in it");
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
    std::map<int, members_of_place> m_places{{here_index(), {1, false}}};
    int m_dead = -1; // the last one that is lost
    death_watch m_watch{[this](int place) { lose(place); }};
};

} // namespace detail

// Names a clock; copies name the same one. Travels. Each activity that takes part calls advance() any number of times and then drop(), once;
// those that async_at() starts drop by themselves. It is gone when all have dropped.
// Errors of all: std::logic_error: more use it than take part; those of at(); dead_place, too: an activity that took part was at a place that has died.
class clock {
public:
    [[nodiscard]] static clock make() {
        clock const made(detail::here_index(), detail::new_name());
        detail::set_local_object(made.m_name, std::make_shared<detail::clock_core>());
        return made;
    }

    // Waits until all that take part have called it as often, or have dropped; returns how often that is.
    // Memory ordering: what any of them did before happens before the return.
    std::uint64_t advance() const {
        return at(
            place(m_home), [](clock self) { return self.core()->advance(); }, *this);
    }
    void drop() const { drop_for(detail::here_index()); }

    // Starts f(clock, arguments...) as an activity of `all` that takes part from now on, in the present phase. The caller takes part, too.
    template <class F, class... A> void async_at(activities& all, place where, F f, A const&... arguments) const {
        at(
            place(m_home), [](clock self, int member) { self.core()->join(member); }, *this, where.index());
        membership taken(*this, where.index());
        all.async_at(
            where, [](membership own, F body, A... values) { std::invoke(body, own.of(), std::move(values)...); }, std::move(taken), f,
            arguments...); // NOLINT(bugprone-use-after-move): to another place it is only copied
        taken.hand_over();
    }

private:
    // Of an activity that takes part: it drops however that ends, also if the rest of its arguments cannot be read where it arrives, or it cannot be started.
    // What is sent is a copy; who has sent it hands it over.
    class membership {
    public:
        membership() noexcept = default;
        membership(clock const& c, int member) noexcept : m_home(c.m_home), m_name(c.m_name), m_member(member) {}
        membership(membership&& other) noexcept
            : m_home(std::exchange(other.m_home, k_nowhere)), m_name(other.m_name), m_member(other.m_member) {}
        membership& operator=(membership&&) = delete;
        ~membership() {
            if (m_home == k_nowhere) return;
            try {
                of().drop_for(m_member);
            } catch (dead_place const&) { // the clock is gone
            }
        }
        [[nodiscard]] clock of() const noexcept { return {m_home, m_name}; }
        void hand_over() noexcept { m_home = k_nowhere; }
        template <class Archive> void serialize(Archive& archive) { archive(m_home, m_name, m_member); }

    private:
        static constexpr int k_nowhere = -1;
        int m_home = k_nowhere;
        std::uint64_t m_name = 0;
        int m_member = k_nowhere; // where it takes part
    };

    clock(int home, std::uint64_t name) noexcept : m_home(home), m_name(name) {}

    [[nodiscard]] std::shared_ptr<detail::clock_core> core() const {
        auto found = std::static_pointer_cast<detail::clock_core>(detail::local_object(m_name));
        if (found == nullptr) throw std::logic_error("tulle::clock: all that took part have dropped");
        return found;
    }
    void drop_for(int member) const {
        at(
            place(m_home), [](clock self, int from) { self.drop_here(from); }, *this, member);
    }
    void drop_here(int member) const {
        if (core()->drop(member)) detail::set_local_object(m_name, nullptr);
    }

    int m_home;
    [[maybe_unused]] int m_gap = 0; // is sent, too, and must not hold an address that lay there before
    std::uint64_t m_name;
};

} // namespace tulle
