// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/threads/team.hpp"

#include "compat/qthread/library/library.hpp"
#include "compat/qthread/threads/task.hpp"

#include <tulle/mutex.hpp>
#include <tulle/signal.hpp>
#include <tulle/this_thread.hpp>

#include <atomic>
#include <mutex>
#include <new>

namespace tulle::compat {

// `outstanding` counts the leader, until it waits, the other members, and subteams. So it is not
// zero while anyone may add to it.
struct team {
    unsigned id = 0;
    unsigned parent_id = QTHREAD_NON_TEAM_ID;
    team* parent = nullptr; // it counts this one
    signal outstanding{1};
};

namespace {

tulle::mutex s_critical;
std::atomic<thread_id> s_inside{0}; // of the critical section; 0: nobody

unsigned draw_team_id() noexcept {
    unsigned id = 0;
    do {
        id = the().next_team_id.fetch_add(1, std::memory_order_relaxed); // relaxed: only a number
    } while (id == QTHREAD_NULL_TEAM_ID || id <= QTHREAD_DEFAULT_TEAM_ID);
    return id;
}

bool make_team(membership& m, team* parent, bool is_subteam) noexcept {
    auto* const made = new (std::nothrow) team;
    if (made == nullptr) return false;
    made->id = draw_team_id();
    if (is_subteam) {
        made->parent = parent;
        made->parent_id =
            parent != nullptr ? parent->id : static_cast<unsigned>(QTHREAD_DEFAULT_TEAM_ID);
        if (parent != nullptr) parent->outstanding.add_signalers(1);
    }
    m = {made, true};
    return true;
}

} // namespace

int enter_team(membership& m, task const* parent, unsigned flags) noexcept {
    team* const current = parent != nullptr ? parent->team.of : nullptr;
    bool const is_subteam = (flags & QTHREAD_SPAWN_NEW_SUBTEAM) != 0;
    if (is_subteam || (flags & QTHREAD_SPAWN_NEW_TEAM) != 0)
        return make_team(m, current, is_subteam) ? QTHREAD_SUCCESS : QTHREAD_MALLOC_ERROR;
    if (current != nullptr) current->outstanding.add_signalers(1);
    m.of = current;
    return QTHREAD_SUCCESS;
}

void abandon_team(membership& m) noexcept {
    if (m.of == nullptr) return;
    if (!m.leads) return m.of->outstanding.notify();
    if (m.of->parent != nullptr) m.of->parent->outstanding.notify();
    delete m.of;
}

void leave_team(membership& m) noexcept {
    m.of->outstanding.notify();
    if (!m.leads) return;
    m.of->outstanding.wait();
    if (m.of->parent != nullptr) m.of->parent->outstanding.notify();
    delete m.of;
    m.of = nullptr;
}

} // namespace tulle::compat

using namespace tulle::compat;

unsigned int qt_team_id() {
    task const* const me = self();
    if (me == nullptr) return QTHREAD_NON_TEAM_ID;
    return me->team.of != nullptr ? me->team.of->id
                                  : static_cast<unsigned>(QTHREAD_DEFAULT_TEAM_ID);
}

unsigned int qt_team_parent_id() {
    task const* const me = self();
    return me != nullptr && me->team.of != nullptr ? me->team.of->parent_id
                                                   : static_cast<unsigned>(QTHREAD_NON_TEAM_ID);
}

void qt_team_critical_section(qt_team_critical_section_t boundary) {
    tulle::thread_id const me = tulle::this_thread::get_id();
    if (boundary == BEGIN) {
        s_critical.lock();
        s_inside.store(me, std::memory_order_relaxed); // relaxed, all: only who is inside says so
    } else if (boundary == END && s_inside.load(std::memory_order_relaxed) == me) {
        s_inside.store(0, std::memory_order_relaxed);
        s_critical.unlock();
    }
}
