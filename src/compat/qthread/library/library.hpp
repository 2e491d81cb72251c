// SPDX-License-Identifier: Apache-2.0
// What all parts of the face share: how it was initialised, and counts.
#pragma once

#include "compat/qthread/library/live_count.hpp"

#include <qthread/qthread.h>

#include <atomic>
#include <cstddef>

namespace tulle::compat {

// Of a native stack: its guard, and what lies at its top. Programs that want stacks of a size leave
// this out of STACK_SIZE, so that a power of two stays one.
inline constexpr std::size_t k_stack_overhead = 8192;

struct library {
    std::atomic<bool> running{false}; // between initialise and finalise
    bool has_started_tulle = false;   // and has not ended it; else somebody else has
    std::size_t shepherds = 0;
    std::size_t workers = 0;      // that there are, enabled or not
    std::size_t workers_each = 0; // of each shepherd, of some one less
    std::size_t stack_size = 0;   // bytes that a qthread may use at least
    std::size_t tasklocal_size = sizeof(void*);
    std::size_t most_io_workers = 0;
    std::size_t io_timeout_s = 0;
    std::atomic<unsigned> next_task_id{1};
    std::atomic<unsigned> next_team_id{QTHREAD_DEFAULT_TEAM_ID + 1};
    live_count live_tasks;
    std::atomic<std::size_t> waiting_tasks{0}; // of these, in queues and for syncvars

    // Pairs with qthread_initialize.
    [[nodiscard]] bool is_running() const noexcept {
        return running.load(std::memory_order_acquire);
    }
};

[[nodiscard]] library& the() noexcept;

// The caller waits in the scope of this object; it is kept for programs that ask how busy the
// shepherds are.
struct waiting_mark {
    // relaxed, both: a number for reports
    waiting_mark() noexcept { the().waiting_tasks.fetch_add(1, std::memory_order_relaxed); }
    ~waiting_mark() { the().waiting_tasks.fetch_sub(1, std::memory_order_relaxed); }
    waiting_mark(waiting_mark const&) = delete;
    waiting_mark& operator=(waiting_mark const&) = delete;
};

} // namespace tulle::compat
