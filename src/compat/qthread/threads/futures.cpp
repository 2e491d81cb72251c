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

#include <atomic>
#include <memory>
#include <mutex>

namespace tulle::compat {

namespace {

std::mutex s_futures_lock; // of changes of the group
std::shared_ptr<spawn_group> s_futures;

std::shared_ptr<spawn_group> futures() {
    std::lock_guard const held(s_futures_lock);
    return s_futures;
}

int start(spawn_group& group, birth const& b, int shepherd) {
    the().live_tasks.begin();
    int const error = guarded([&] { group.spawn_at(shepherd, b); });
    if (error != QTHREAD_SUCCESS) the().live_tasks.end();
    return error;
}

int fork_future(qthread_f function, void* argument, aligned_t* result, int shepherd) {
    if (function == nullptr || !is_object_or_null(result)) return QTHREAD_BADARGS;
    auto const group = futures();
    if (group == nullptr)
        return qthread_fork_to(function, argument, result,
                               shepherd < 0 ? NO_SHEPHERD
                                            : static_cast<qthread_shepherd_id_t>(shepherd));
    if (result != nullptr && qthread_empty(result) != QTHREAD_SUCCESS) return QTHREAD_MALLOC_ERROR;
    return start(*group, {function, argument, result, 0}, shepherd);
}

} // namespace

void end_futures() noexcept {
    std::shared_ptr<spawn_group> ended; // its end joins, without the lock
    std::lock_guard const held(s_futures_lock);
    // Not if some wait for ever: then it stays, and is found again.
    if (the().live_tasks.now() == 0) ended.swap(s_futures);
}

} // namespace tulle::compat

using namespace tulle::compat;

int future_init(int limit) {
    if (limit < 0) return QTHREAD_BADARGS;
    if (!the().is_running()) return QTHREAD_NOT_ALLOWED;
    return guarded([limit] {
        std::shared_ptr<tulle::spawn_group> made;
        if (limit != 0)
            made = std::make_shared<tulle::spawn_group>(
                tulle::per_shepherd{static_cast<std::size_t>(limit)}, tulle::when_full::block);
        std::lock_guard const held(s_futures_lock);
        s_futures.swap(made);
    });
}

int future_fork(qthread_f func, void* arg, aligned_t* ret) {
    return fork_future(func, arg, ret, -1);
}
int future_fork_to(qthread_f func, void* arg, aligned_t* ret, qthread_shepherd_id_t shepherd) {
    if (!the().is_running()) return QTHREAD_NOT_ALLOWED;
    return fork_future(func, arg, ret, static_cast<int>(shepherd % the().shepherds));
}
