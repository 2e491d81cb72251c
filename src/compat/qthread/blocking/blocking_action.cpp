// SPDX-License-Identifier: Apache-2.0
// There is one native worker for each shepherd besides those that the program knows, made at the
// first blocking action and disabled when there is none.
// Those of a shepherd's workers that are blocked have it in common.
#include "compat/qthread/blocking/blocking.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/threads/task.hpp"

#include <qthread/io.h>

#include <tulle/runtime.hpp>
#include <tulle/shepherd.hpp>
#include <tulle/this_thread.hpp>

#include <cstddef>
#include <exception>
#include <mutex>
#include <utility>
#include <vector>

namespace tulle::compat {

namespace {

struct deputy {
    std::size_t blocked = 0; // workers of the shepherd
    int stands_for = -1;     // the first of them
};

std::mutex s_actions_lock; // guards what follows
std::vector<deputy> s_deputies;

std::size_t own_workers() noexcept { return the().shepherds * the().workers_each; }
int index_of(std::size_t shepherd) noexcept { return static_cast<int>(own_workers() + shepherd); }

// All of them disabled. Throws std::system_error: there may be no more workers.
void make_deputies() {
    if (!s_deputies.empty()) return;
    set_worker_count(static_cast<int>(own_workers() + the().shepherds));
    s_deputies.resize(the().shepherds);
    for (int k = static_cast<int>(the().workers); k < index_of(the().shepherds); ++k)
        disable_worker(k);
}

// Throws std::exception: the shepherd has no deputy for it.
void begin(int worker) {
    std::size_t const shepherd = static_cast<std::size_t>(worker) % the().shepherds;
    std::lock_guard const held(s_actions_lock);
    make_deputies();
    deputy& d = s_deputies[shepherd];
    if (d.blocked == 0) {
        enable_worker(index_of(shepherd));
        d.stands_for = worker;
    }
    ++d.blocked;
}

void end(std::size_t shepherd) {
    std::lock_guard const held(s_actions_lock);
    if (shepherd >= s_deputies.size() || s_deputies[shepherd].blocked == 0) return;
    if (--s_deputies[shepherd].blocked == 0) disable_worker(index_of(shepherd));
}

} // namespace

int stands_in_for(int native) noexcept {
    std::lock_guard const held(s_actions_lock);
    auto const place = static_cast<std::size_t>(native) - own_workers();
    return place < s_deputies.size() ? s_deputies[place].stands_for : -1;
}

void forget_blocking() noexcept {
    std::lock_guard const held(s_actions_lock);
    s_deputies.clear();
}

void blocking_at_fork(fork_phase phase) noexcept {
    if (phase == fork_phase::before) return s_actions_lock.lock();
    s_actions_lock.unlock();
    if (phase == fork_phase::in_child) forget_blocking();
}

} // namespace tulle::compat

using namespace tulle::compat;

namespace {

// Of a qthread that is not on a deputy, nor on an OS thread that is no worker; else -1. Who blocks
// a deputy blocks that and nothing else happens.
int blockable_worker() {
    int const worker = tulle::this_thread::worker_index();
    return worker >= 0 && static_cast<std::size_t>(worker) < own_workers() ? worker : -1;
}

} // namespace

void qt_begin_blocking_action() {
    task* const me = self();
    if (me == nullptr || me->blocks) return;
    me->blocks = true;
    int const worker = blockable_worker();
    if (worker < 0) return;
    try {
        begin(worker);
        me->is_counted = true;
    } catch (std::exception const&) {
        return; // no more OS threads, no memory: others wait until the action is over
    }
}

// The qthread is on the worker where it began, since it has not waited in a way that Tulle knows
// of.
void qt_end_blocking_action() {
    task* const me = self();
    if (me == nullptr || !me->blocks) return;
    me->blocks = false;
    int const worker = blockable_worker();
    if (!std::exchange(me->is_counted, false) || worker < 0) return;
    try {
        end(static_cast<std::size_t>(worker) % the().shepherds);
    } catch (std::exception const&) {
        return; // the run time ends
    }
}
