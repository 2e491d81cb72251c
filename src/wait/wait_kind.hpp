// SPDX-License-Identifier: Apache-2.0
// What a thread waits for, as it tells the reports of waiting threads (src/diag). Written by paths
// that block, before the thread is published to its waker: two plain stores. No time is kept:
// reading the clock would cost more than half of a wait.
#pragma once

#include <cstdint>

namespace tulle::wait {

enum class wait_kind : std::uint8_t {
    nothing, // it runs, is ready, or has yielded
    mutex,   // a tulle_mutex_t
    // A tulle::mutex or a recursive one, which know who holds them (sync/mutex_owner.hpp).
    owned_mutex,
    condition,       // a condition variable
    barrier,         //
    phased_barrier,  //
    latch,           //
    signal,          //
    once,            // a once_flag
    semaphore,       //
    shared_mutex,    // for reading or for writing
    channel_send,    // until there is room, or it is closed
    channel_receive, // until there is an item, or it is closed
    channel_select,  // one of several
    cancellation,    // of a token
    word_full,       // a full/empty word or a tulle::full_empty, until it is full
    word_empty,      // either of these, until it is empty
    address_lock,    // an address that is locked
    group_permit,    // the permits of a spawn_group (group/permits.hpp)
    future,          // a future's state
    stolen_child,    // the `state` of a forked thread's record
    spawned_thread,  // a thread_record
    sleep,           // a point in time
    descriptor,      // a file descriptor, until it is ready; the object is its number
    helper,          // a helper OS thread that makes a call which blocks (io/helpers.hpp)
};

struct wait_reason {
    wait_kind kind = wait_kind::nothing;
    void const* object = nullptr;
    // Another turn of the same wait, whose waker counts on the waiter to try again soon.
    bool is_again = false;
};

} // namespace tulle::wait
