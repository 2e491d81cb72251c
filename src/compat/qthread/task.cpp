// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/task.hpp"

#include "compat/qthread/arguments.hpp"
#include "compat/qthread/library.hpp"
#include "compat/qthread/result.hpp"
#include "compat/qthread/team.hpp"

#include <qthread/sinc.h>

#include <tulle/detail/standing.hpp>
#include <tulle/runtime.hpp>
#include <tulle/thread.hpp>

#include <cstdlib>
#include <cstring>
#include <new>

namespace tulle::compat {

namespace {

constexpr std::size_t round_up(std::size_t bytes) noexcept {
    return (bytes + alignof(std::max_align_t) - 1) & ~(alignof(std::max_align_t) - 1);
}

void wait_for_preconditions(task& t) noexcept {
    if (t.preconditions == nullptr) return;
    auto const count = reinterpret_cast<std::uintptr_t>(t.preconditions[0]);
    for (std::uintptr_t k = 1; k <= count; ++k)
        static_cast<void>(qthread_readFF(nullptr, t.preconditions[k]));
    std::free(t.preconditions);
    t.preconditions = nullptr;
}

void run(task* t) noexcept {
    void* const outer = detail::attachment(detail::attachment_of::qthread);
    detail::set_attachment(detail::attachment_of::qthread, t);
    wait_for_preconditions(*t);
    aligned_t const value = t->function(t->argument);
    if (t->of != nullptr) leave_team(*t);
    void* const result = t->result;
    unsigned const flags = t->flags;
    detail::set_attachment(detail::attachment_of::qthread, outer);
    free_task(t);
    deliver(result, flags, value);
    the().live_tasks.fetch_sub(1, std::memory_order_release); // pairs with qthread_finalize
}

// The result is not there from now on.
int empty_result(void* result, unsigned flags) noexcept {
    if (result == nullptr || (flags & (QTHREAD_SPAWN_RET_SINC | QTHREAD_SPAWN_RET_SINC_VOID)) != 0)
        return QTHREAD_SUCCESS;
    if ((flags & QTHREAD_SPAWN_RET_SYNCVAR_T) != 0)
        return qthread_syncvar_empty(static_cast<syncvar_t*>(result));
    return qthread_empty(static_cast<aligned_t*>(result));
}

// Null or a word for each.
bool are_words(aligned_t* const* preconditions) noexcept {
    if (preconditions == nullptr) return true;
    auto const count = reinterpret_cast<std::uintptr_t>(preconditions[0]);
    for (std::uintptr_t k = 1; k <= count; ++k)
        if (!is_object(preconditions[k])) return false;
    return true;
}

// A word, a syncvar and a sinc are aligned alike.
bool is_possible(fork_request const& wanted) noexcept {
    return wanted.function != nullptr && is_object_or_null(wanted.result) &&
           is_bytes(wanted.argument, wanted.copied) && are_words(wanted.preconditions);
}

int native_shepherd(qthread_shepherd_id_t wanted) noexcept {
    return wanted == NO_SHEPHERD ? -1 : static_cast<int>(wanted % the().shepherds);
}

int start(task* t, fork_request const& wanted, void const* site) noexcept {
    attributes how;
    how.shepherd = native_shepherd(wanted.shepherd);
    // relaxed: who finalises knows of it otherwise
    the().live_tasks.fetch_add(1, std::memory_order_relaxed);
    int const error = guarded([&] {
        tulle::detail::thread_core* const core = tulle::detail::make_thread(
            how, [t] { run(t); }, true);
        core->site = site;
        tulle::detail::start_thread(core, true, false);
    });
    // relaxed: it never was
    if (error != QTHREAD_SUCCESS) the().live_tasks.fetch_sub(1, std::memory_order_relaxed);
    return error;
}

} // namespace

task* self() noexcept {
    return static_cast<task*>(detail::attachment(detail::attachment_of::qthread));
}

task* make_task(qthread_f f, void const* argument, std::size_t copied) noexcept {
    std::size_t const local_size = the().tasklocal_size;
    auto* const memory = static_cast<std::byte*>(
        std::malloc(round_up(sizeof(task)) + round_up(copied) + local_size));
    if (memory == nullptr) return nullptr;
    auto* const t = ::new (static_cast<void*>(memory)) task;
    t->function = f;
    t->argument = const_cast<void*>(argument);
    if (copied != 0) {
        t->argument = memory + round_up(sizeof(task));
        std::memcpy(t->argument, argument, copied);
    }
    t->local = memory + round_up(sizeof(task)) + round_up(copied);
    t->local_size = static_cast<unsigned>(local_size);
    std::memset(t->local, 0, local_size);
    return t;
}

void free_task(task* t) noexcept {
    std::free(t->grown);
    std::free(t);
}

void deliver(void* result, unsigned flags, aligned_t value) noexcept {
    if (!is_object(result)) return;
    if ((flags & QTHREAD_SPAWN_RET_SINC_VOID) != 0)
        return qt_sinc_submit(static_cast<qt_sinc_t*>(result), nullptr);
    if ((flags & QTHREAD_SPAWN_RET_SINC) != 0)
        return qt_sinc_submit(static_cast<qt_sinc_t*>(result), &value);
    if ((flags & QTHREAD_SPAWN_RET_SYNCVAR_T) != 0)
        static_cast<void>(
            qthread_syncvar_writeEF_const(static_cast<syncvar_t*>(result), INT64TOINT60(value)));
    else
        static_cast<void>(qthread_writeEF_const(static_cast<aligned_t*>(result), value));
}

int fork(fork_request const& wanted, void const* site) noexcept {
    if (!is_possible(wanted)) return QTHREAD_BADARGS;
    if (!the().is_running()) return QTHREAD_NOT_ALLOWED;
    task* const t = make_task(wanted.function, wanted.argument, wanted.copied);
    if (t == nullptr) return QTHREAD_MALLOC_ERROR;
    t->result = wanted.result;
    t->flags = wanted.flags;
    t->preconditions = wanted.preconditions;
    int error = enter_team(*t, wanted.flags);
    if (error == QTHREAD_SUCCESS) error = empty_result(wanted.result, wanted.flags);
    if (error == QTHREAD_SUCCESS) error = start(t, wanted, site);
    if (error != QTHREAD_SUCCESS) {
        abandon_team(*t);
        free_task(t);
    }
    return error;
}

} // namespace tulle::compat
