// SPDX-License-Identifier: Apache-2.0
// What a ready queue holds: a thread that has a stack, or one that has not started.
#pragma once

#include "base/intrusive_list.hpp"

#include <cstdint>

namespace tulle::sched {

enum class runnable_kind : std::uint8_t { fiber, thread };

struct runnable {
    runnable* next = nullptr; // in the one queue that it is in; guarded by that queue
    runnable_kind kind;
    bool bound = false; // runs on one worker only

    explicit runnable(runnable_kind k) noexcept : kind(k) {}
};

// First in, first out. No synchronisation of its own.
using runnable_list = base::intrusive_queue<&runnable::next>;

} // namespace tulle::sched
