// SPDX-License-Identifier: Apache-2.0
// What <tulle/spawn_group.hpp> stands on. A place is held from the moment when a thread is admitted until it ends; what was kept takes the
// place of the thread that ends. All fields under `lock`, except `outstanding`, which each thread notifies as its last access.
#pragma once

#include "sched/runnable.hpp"

#include <tulle/condition_variable.hpp>
#include <tulle/mutex.hpp>
#include <tulle/signal.hpp>
#include <tulle/spawn_group.hpp>

#include <cstddef>
#include <exception>

namespace tulle::detail {

// A thread of the group that waits until the thread that it has lent its place to ends. In its frame.
struct group_lender {
    thread_id to = 0;
    group_lender* next = nullptr;
    signal place_is_back{1};
};

struct group_core {
    group_core(std::size_t limit, when_full chosen) noexcept : most(limit), policy(chosen) {}

    std::size_t const most;
    when_full const policy;
    mutable mutex lock;
    std::size_t alive = 0; // places taken
    sched::runnable_list kept;
    condition_variable place_is_free;
    group_member* members = nullptr;
    group_lender* lenders = nullptr;
    std::exception_ptr exception;
    signal outstanding; // threads admitted, kept ones included, that have not ended
};

} // namespace tulle::detail
