// SPDX-License-Identifier: Apache-2.0
// Who calls, and where. An OS thread that is no worker has no shepherd and no worker.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/library/places.hpp"
#include "compat/qthread/threads/task.hpp"

#include <tulle/detail/stack_attachments.hpp>
#include <tulle/runtime.hpp>
#include <tulle/this_thread.hpp>

#include <algorithm>

namespace tulle::compat {

namespace {

unsigned draw_id() noexcept {
    unsigned id = QTHREAD_NON_TASK_ID;
    while (id == QTHREAD_NON_TASK_ID || id == QTHREAD_NULL_TASK_ID)      // after 2^32 of them
        id = the().next_task_id.fetch_add(1, std::memory_order_relaxed); // relaxed: only a number
    return id;
}

// Workers are dealt out to the shepherds in turn.
int local_index(int number) noexcept { return number / static_cast<int>(the().shepherds); }

// Nor has a qthread that is in a blocking action.
bool has_place() noexcept {
    task const* const me = self();
    return the().is_running() && this_thread::worker_index() >= 0 && (me == nullptr || !me->blocks);
}

template <class F> qthread_worker_id_t worker_as(qthread_shepherd_id_t* s, F number) noexcept {
    if (!has_place()) return NO_WORKER;
    if (is_object<qthread_shepherd_id_t>(s)) *s = qthread_shep();
    int const own = worker_number();
    return own < 0 ? NO_WORKER : static_cast<qthread_worker_id_t>(number(own));
}

// A snapshot.
std::size_t live() noexcept {
    std::size_t const all = the().live_tasks.now();
    // relaxed: for people
    return all - std::min(all, the().waiting_tasks.load(std::memory_order_relaxed));
}

std::size_t current(enum introspective_state type) noexcept {
    switch (type) {
        case CURRENT_SHEPHERD: return qthread_shep();
        case CURRENT_WORKER: return qthread_worker_local(nullptr);
        case CURRENT_UNIQUE_WORKER: return qthread_worker(nullptr);
        case CURRENT_TEAM:
            return self() == nullptr ? static_cast<std::size_t>(QTHREAD_DEFAULT_TEAM_ID)
                                     : qt_team_id();
        default: return qt_team_parent_id();
    }
}

std::size_t count(enum introspective_state type) noexcept {
    switch (type) {
        case BUSYNESS:
            return self() == nullptr ? static_cast<std::size_t>(-1) : 1 + live() / the().shepherds;
        case NODE_BUSYNESS: return 1 + live();
        case WORKER_OCCUPATION: return std::min(1 + live(), count_active_workers());
        case ACTIVE_SHEPHERDS: return count_active_shepherds();
        case TOTAL_SHEPHERDS: return the().shepherds;
        case ACTIVE_WORKERS: return count_active_workers();
        default: return the().shepherds * the().workers_each;
    }
}

} // namespace

} // namespace tulle::compat

using namespace tulle::compat;

unsigned qthread_id() {
    task* const me = self();
    if (me == nullptr) return QTHREAD_NON_TASK_ID;
    if (me->id == QTHREAD_NON_TASK_ID) me->id = draw_id();
    return me->id;
}

qthread_shepherd_id_t qthread_shep() {
    return has_place() ? static_cast<qthread_shepherd_id_t>(tulle::this_thread::shepherd_index())
                       : NO_SHEPHERD;
}

qthread_worker_id_t qthread_worker(qthread_shepherd_id_t* s) {
    return worker_as(s, [](int number) { return number; });
}
qthread_worker_id_t qthread_worker_unique(qthread_shepherd_id_t* s) {
    return worker_as(s, [](int number) { return number + 1; });
}
qthread_worker_id_t qthread_worker_local(qthread_shepherd_id_t* s) {
    return worker_as(s, &local_index);
}

void* qthread_tos() { return tulle::detail::current_stack().low; }
void* qthread_bos() {
    auto const area = tulle::detail::current_stack();
    return area.low + area.size;
}
size_t qthread_stackleft() {
    auto const area = tulle::detail::current_stack();
    auto const* const here = static_cast<std::byte const*>(__builtin_frame_address(0));
    return area.size == 0 ? 0 : static_cast<size_t>(here - area.low);
}

aligned_t* qthread_retloc() {
    task const* const me = self();
    return me == nullptr ? nullptr : static_cast<aligned_t*>(me->result);
}

qthread_shepherd_id_t qthread_num_shepherds() {
    return static_cast<qthread_shepherd_id_t>(count_active_shepherds());
}
qthread_worker_id_t qthread_num_workers() {
    return static_cast<qthread_worker_id_t>(count_active_workers());
}
qthread_worker_id_t qthread_num_workers_local(qthread_shepherd_id_t /*shepherd_id*/) {
    return static_cast<qthread_worker_id_t>(the().workers_each);
}

size_t qthread_readstate(const enum introspective_state type) {
    if (type == RUNTIME_DATA_SIZE) return k_stack_overhead;
    if (type < STACK_SIZE || type > PARENT_TEAM) return static_cast<size_t>(-1);
    if (type == STACK_SIZE) return the().stack_size;
    return type >= CURRENT_SHEPHERD ? current(type) : the().is_running() ? count(type) : 0;
}
