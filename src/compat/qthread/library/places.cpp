// SPDX-License-Identifier: Apache-2.0
// Shepherds and their neighbours. A shepherd or a worker is disabled here, and by the native calls.
#include "compat/qthread/library/places.hpp"

#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/library/result.hpp"
#include "compat/qthread/threads/task.hpp"

#include <tulle/detail/worker_numbers.hpp>
#include <tulle/shepherd.hpp>
#include <tulle/this_thread.hpp>

#include <algorithm>
#include <mutex>
#include <new>
#include <vector>

namespace tulle::compat {

namespace {

using shepherd_list = std::vector<qthread_shepherd_id_t>;

// Guards what follows.
std::mutex s_places_lock;
std::vector<shepherd_list> s_neighbours; // of each shepherd, when somebody has asked
std::vector<bool> s_disabled_shepherds, s_disabled_workers;

// The others from near to far, and none behind them.
shepherd_list make_neighbours(std::size_t from) {
    shepherd_list made;
    for (int const s : nearest_shepherds(static_cast<int>(from)))
        made.push_back(static_cast<qthread_shepherd_id_t>(s));
    made.push_back(NO_SHEPHERD);
    return made;
}

// Null: no memory.
qthread_shepherd_id_t const* neighbours_of(std::size_t from) noexcept try {
    std::lock_guard const held(s_places_lock);
    s_neighbours.resize(the().shepherds);
    if (s_neighbours[from].empty()) s_neighbours[from] = make_neighbours(from);
    return s_neighbours[from].data();
} catch (std::bad_alloc const&) {
    return nullptr;
}

std::size_t count_disabled(std::vector<bool> const& flags) {
    return static_cast<std::size_t>(std::count(flags.begin(), flags.end(), true));
}

bool is_running_on(std::size_t worker) {
    bool const by_itself = worker < s_disabled_workers.size() && s_disabled_workers[worker];
    std::size_t const shepherd = worker % the().shepherds;
    return !by_itself &&
           !(shepherd < s_disabled_shepherds.size() && s_disabled_shepherds[shepherd]);
}

void note(std::vector<bool>& flags, std::size_t index, bool disabled, std::size_t count) {
    flags.resize(count);
    flags[index] = disabled;
}

template <class Native> int set_shepherd(qthread_shepherd_id_t shep, bool disabled, Native native) {
    if (!the().is_running() || shep >= the().shepherds) return QTHREAD_BADARGS;
    return guarded([&] {
        native(static_cast<int>(shep));
        std::lock_guard const held(s_places_lock);
        note(s_disabled_shepherds, shep, disabled, the().shepherds);
    });
}

template <class Native> int set_worker(qthread_worker_id_t worker, bool disabled, Native native) {
    if (!the().is_running() || worker >= the().workers) return QTHREAD_BADARGS;
    return guarded([&] {
        native(static_cast<int>(worker));
        std::lock_guard const held(s_places_lock);
        note(s_disabled_workers, worker, disabled, the().workers);
    });
}

} // namespace

std::size_t count_shepherds() noexcept { return the().is_running() ? the().shepherds : 0; }

qthread_shepherd_id_t active_shepherds::find(std::size_t k) noexcept {
    if (!the().is_running()) return 0;
    std::lock_guard const held(s_places_lock);
    std::size_t left = k % (the().shepherds - count_disabled(s_disabled_shepherds));
    std::size_t found = 0;
    for (;; ++found) {
        bool const disabled = found < s_disabled_shepherds.size() && s_disabled_shepherds[found];
        if (!disabled && left-- == 0) return static_cast<qthread_shepherd_id_t>(found);
    }
}

std::size_t count_active_shepherds() noexcept {
    std::lock_guard const held(s_places_lock);
    return the().is_running() ? the().shepherds - count_disabled(s_disabled_shepherds) : 0;
}

std::size_t count_active_workers() noexcept {
    std::lock_guard const held(s_places_lock);
    std::size_t active = 0;
    for (std::size_t k = 0; the().is_running() && k < the().workers; ++k)
        active += is_running_on(k) ? 1 : 0;
    return active;
}

int worker_number() noexcept {
    int const native = this_thread::worker_index();
    return native < static_cast<int>(the().workers) ? native : detail::lent_number();
}

void disable_workers_from(std::size_t first) {
    for (std::size_t k = first; k < the().workers; ++k) {
        disable_worker(static_cast<int>(k));
        std::lock_guard const held(s_places_lock);
        note(s_disabled_workers, k, true, the().workers);
    }
}

void forget_places() noexcept {
    std::lock_guard const held(s_places_lock);
    s_neighbours.clear();
    s_disabled_shepherds.clear();
    s_disabled_workers.clear();
}

void places_at_fork(fork_phase phase) noexcept {
    if (phase == fork_phase::before) return s_places_lock.lock();
    s_places_lock.unlock();
    if (phase == fork_phase::in_child) forget_places();
}

} // namespace tulle::compat

using namespace tulle::compat;

namespace {

void step(qthread_shepherd_id_t* shep, std::size_t by) {
    std::size_t const count = the().shepherds;
    if (count != 0 && is_object<qthread_shepherd_id_t>(shep))
        *shep = static_cast<qthread_shepherd_id_t>((*shep + by) % count);
}

} // namespace

int qthread_shep_ok() {
    int const here = tulle::this_thread::shepherd_index();
    if (!the().is_running() || here < 0) return QTHREAD_PTHREAD_ERROR;
    return tulle::is_enabled_shepherd(here) ? 1 : 0;
}

void qthread_shep_next(qthread_shepherd_id_t* shep) { step(shep, 1); }
void qthread_shep_prev(qthread_shepherd_id_t* shep) { step(shep, the().shepherds - 1); }
void qthread_shep_next_local(qthread_shepherd_id_t* shep) { step(shep, 1); }
void qthread_shep_prev_local(qthread_shepherd_id_t* shep) { step(shep, the().shepherds - 1); }

int qthread_distance(qthread_shepherd_id_t const src, qthread_shepherd_id_t const dest) {
    if (!the().is_running() || src >= the().shepherds || dest >= the().shepherds)
        return QTHREAD_BADARGS;
    return tulle::shepherd_distance(src, dest);
}

qthread_shepherd_id_t const* qthread_sorted_sheps() {
    return self() == nullptr ? nullptr : qthread_sorted_sheps_remote(qthread_shep());
}
qthread_shepherd_id_t const* qthread_sorted_sheps_remote(qthread_shepherd_id_t const src) {
    return !the().is_running() || src >= the().shepherds ? nullptr : neighbours_of(src);
}

int qthread_disable_shepherd(qthread_shepherd_id_t shep) {
    return set_shepherd(shep, true, &tulle::disable_shepherd);
}
void qthread_enable_shepherd(qthread_shepherd_id_t shep) {
    static_cast<void>(set_shepherd(shep, false, &tulle::enable_shepherd));
}
int qthread_disable_worker(qthread_worker_id_t worker) {
    return set_worker(worker, true, &tulle::disable_worker);
}
void qthread_enable_worker(qthread_worker_id_t worker) {
    static_cast<void>(set_worker(worker, false, &tulle::enable_worker));
}

int qthread_migrate_to(qthread_shepherd_id_t const shepherd) {
    task const* const me = self();
    if (me == nullptr || me->is_main) return QTHREAD_NOT_ALLOWED;
    if (shepherd != NO_SHEPHERD && shepherd >= the().shepherds) return QTHREAD_BADARGS;
    return guarded([shepherd] {
        tulle::this_thread::migrate_to(shepherd == NO_SHEPHERD ? -1 : static_cast<int>(shepherd));
    });
}

void qthread_reset_target_shep() {}
void qthread_chpl_reset_spawn_order() {}
void qthread_flushsc() {}
void qthread_yield_(int /*near*/) {
    task* const me = self();
    if (me == nullptr || !me->pending.yield()) tulle::this_thread::yield();
}
