// SPDX-License-Identifier: Apache-2.0
// Futures: threads of a native group with a limit for each shepherd, whose spawner waits for a
// place.
#include "compat/qthread/threads/futures.hpp"

#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/library/result.hpp"
#include "compat/qthread/threads/task.hpp"

#include <qthread/futurelib.h>

#include <tulle/spawn_group.hpp>

#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace tulle::compat {

namespace {

using group_pointer = std::shared_ptr<spawn_group>;

struct futures_state {
    std::mutex lock; // guards the rest
    group_pointer group;
    std::size_t limit = 0; // of the group
    // In a child process: threads of the parent hold its permits, and never give them back.
    bool is_of_parent = false;
    std::vector<group_pointer> left_behind; // groups of the parent, whose end would wait for these
};

// It is never destroyed: the end of a group waits for its threads, of which some may wait for ever.
futures_state& state() {
    static auto& s_state = *new futures_state;
    return s_state;
}

group_pointer make_group(std::size_t limit) {
    if (limit == 0) return nullptr;
    return std::make_shared<spawn_group>(per_shepherd{limit}, when_full::block);
}

// Throws std::bad_alloc, and what the start of the run time does in a child process.
group_pointer futures() {
    futures_state& s = state();
    std::lock_guard const held(s.lock);
    if (!s.is_of_parent) return s.group;
    s.left_behind.reserve(s.left_behind.size() + 1);
    group_pointer made = make_group(s.limit);
    s.left_behind.push_back(std::exchange(s.group, std::move(made)));
    s.is_of_parent = false;
    return s.group;
}

int start(spawn_group& group, birth const& b, int shepherd) {
    the().live_tasks.begin();
    int const error = guarded([&] { group.spawn_at(shepherd, b); });
    if (error != QTHREAD_SUCCESS) the().live_tasks.end();
    return error;
}

int fork_future(qthread_f function, void* argument, aligned_t* result, int shepherd) {
    if (function == nullptr || !is_object_or_null(result)) return QTHREAD_BADARGS;
    group_pointer group;
    int const error = guarded([&group] { group = futures(); });
    if (error != QTHREAD_SUCCESS) return error;
    if (group == nullptr)
        return qthread_fork_to(function, argument, result,
                               shepherd < 0 ? NO_SHEPHERD
                                            : static_cast<qthread_shepherd_id_t>(shepherd));
    if (result != nullptr && qthread_empty(result) != QTHREAD_SUCCESS) return QTHREAD_MALLOC_ERROR;
    return start(*group, {function, argument, result, 0}, shepherd);
}

} // namespace

void end_futures() noexcept {
    group_pointer ended; // its end joins, without the lock
    futures_state& s = state();
    std::lock_guard const held(s.lock);
    if (s.is_of_parent) {
        s.limit = 0;
    } else if (the().live_tasks.now() ==
               0) { // else some wait for ever: it stays, and is found again
        ended.swap(s.group);
    }
}

void futures_at_fork(fork_phase phase) noexcept {
    futures_state& s = state();
    if (phase == fork_phase::before) return s.lock.lock();
    if (phase == fork_phase::in_child) s.is_of_parent = s.group != nullptr;
    s.lock.unlock();
}

} // namespace tulle::compat

using namespace tulle::compat;

int future_init(int limit) {
    if (limit < 0) return QTHREAD_BADARGS;
    if (!the().is_running()) return QTHREAD_NOT_ALLOWED;
    return guarded([limit] {
        futures_state& s = state();
        group_pointer made = make_group(static_cast<std::size_t>(limit));
        std::lock_guard const held(s.lock);
        if (s.is_of_parent) s.left_behind.push_back(s.group);
        s.group.swap(made);
        s.limit = static_cast<std::size_t>(limit);
        s.is_of_parent = false;
    });
}

int future_fork(qthread_f func, void* arg, aligned_t* ret) {
    return fork_future(func, arg, ret, -1);
}
int future_fork_to(qthread_f func, void* arg, aligned_t* ret, qthread_shepherd_id_t shepherd) {
    if (!the().is_running()) return QTHREAD_NOT_ALLOWED;
    return fork_future(func, arg, ret, static_cast<int>(shepherd % the().shepherds));
}
