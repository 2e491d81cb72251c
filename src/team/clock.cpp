// SPDX-License-Identifier: Apache-2.0
// Clocks at the places where they were made, by the calls of <tulle/clock.hpp>.
#include "base/last_counts.hpp"
#include "finish/finish_scope.hpp"
#include "team/clock_arrivals.hpp"
#include "team/clock_core.hpp"
#include "team/death_watch.hpp"
#include "team/place_state.hpp"

#include <tulle/clock.hpp>
#include <tulle/condition_variable.hpp>
#include <tulle/mutex.hpp>
#include <tulle/this_thread.hpp>

#include <cstdint>
#include <exception>
#include <memory>
#include <mutex>
#include <stdexcept>

namespace tulle::teams {
namespace {

struct sync_of_places {
    using mutex = tulle::mutex;
    using condition = tulle::condition_variable;
    [[noreturn]] static void throw_dead_place(int place) { detail::throw_dead_place(place); }
    [[nodiscard]] static bool is_dead(int place) { return detail::is_dead_place(place); }
    static void yield() noexcept { this_thread::yield(); }
};

// How many of a place were in the last phase of a clock.
constinit base::last_counts s_last_phases;

class home_clock : public clock_core<sync_of_places> {
public:
    home_clock() : clock_core(detail::here_index()) {}

private:
    death_watch m_watch{[this](int place) { lose(place); }};
};

using arrivals = clock_arrivals<sync_of_places>;

std::shared_ptr<home_clock> clock_of(std::uint64_t name) {
    auto found = std::static_pointer_cast<home_clock>(detail::local_object(name));
    if (found == nullptr) throw std::logic_error("tulle::clock: all that took part have dropped");
    return found;
}

// While a thread of this place waits in the clock of that name.
class use_of_arrivals {
public:
    explicit use_of_arrivals(std::uint64_t name) : m_name(name), m_used(enter(name)) {}
    use_of_arrivals(use_of_arrivals const&) = delete;
    use_of_arrivals& operator=(use_of_arrivals const&) = delete;
    ~use_of_arrivals() {
        place_state& here = state_here();
        std::lock_guard const held(here.lock);
        m_used.reset();
        auto const found = here.arrivals.find(m_name);
        if (found->second.use_count() == 1) here.arrivals.erase(found);
    }
    [[nodiscard]] arrivals& operator*() const noexcept { return *m_used; }

private:
    static std::shared_ptr<arrivals> enter(std::uint64_t name) {
        place_state& here = state_here();
        std::lock_guard const held(here.lock);
        std::shared_ptr<void>& found = here.arrivals[name];
        if (found == nullptr) found = std::make_shared<arrivals>();
        return std::static_pointer_cast<arrivals>(found);
    }

    std::uint64_t m_name;
    std::shared_ptr<arrivals> m_used;
};

} // namespace
} // namespace tulle::teams

namespace tulle {

using teams::clock_of;
using teams::clock_release;
using teams::home_clock;

// The clock at its home, as activities of this place call it.
class clock::home_calls {
public:
    explicit home_calls(clock c) noexcept : m_clock(c) {}
    void arrive(std::int64_t activities) const {
        at(
            home(),
            [](clock self, int from, std::int64_t more) {
                clock_of(self.m_name)->arrive(from, more);
            },
            m_clock, detail::here_index(), activities);
    }
    [[nodiscard]] clock_release arrive_and_wait(std::int64_t activities) const {
        return at(
            home(),
            [](clock self, int from, std::int64_t more) {
                return clock_of(self.m_name)->arrive_and_wait(from, more);
            },
            m_clock, detail::here_index(), activities);
    }

    void note_phase(std::int64_t activities) const noexcept {
        teams::s_last_phases.note(m_clock.m_name, static_cast<std::uint64_t>(activities));
    }
    [[nodiscard]] std::int64_t last_phase() const noexcept {
        return static_cast<std::int64_t>(teams::s_last_phases.of(m_clock.m_name));
    }

private:
    [[nodiscard]] place home() const { return place(m_clock.m_home); }

    clock m_clock;
};

clock clock::make() {
    clock const made(detail::here_index(), detail::new_name());
    detail::set_local_object(made.m_name, std::make_shared<home_clock>());
    return made;
}

std::uint64_t clock::advance() const {
    teams::use_of_arrivals const own(m_name);
    return (*own).wait(home_calls(*this));
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

// What is wrong becomes an exception of the activity, whose destructor this is called by. Where the
// place of the clock has died the clock is gone.
void clock::membership::end() const {
    try {
        of().drop_for(m_member);
    } catch (dead_place const&) {
    } catch (...) {
        if (detail::finish_scope* const scope = detail::current_finish_scope())
            finishes::add_exception(*scope, std::current_exception());
    }
}

} // namespace tulle
