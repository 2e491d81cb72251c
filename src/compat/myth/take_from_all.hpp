// SPDX-License-Identifier: Apache-2.0
// The last search of a ticket (run_queue.hpp), which ends if it finds nothing. INV-1: there are as
// many tickets as threads in queues, at least. A ticket that ends without a thread keeps that up
// only if all queues are empty at one moment. Had it searched them one after the other, a thread
// could be put behind it, whose own ticket takes one that lies ahead of it; so the lock under which
// threads are put in and taken out is held over the whole search.
#pragma once

#include <mutex>

namespace tulle::myth {

// Its own queue first, then the `count` others from `first` on. `take(queue)` gives a thread or
// null. Any thread; waits for the lock.
template <class Mutex, class Take>
[[nodiscard]] auto take_from_all(Mutex& lock, int own, int first, int count, Take take) {
    std::lock_guard const held(lock);
    auto found = take(own);
    for (int k = 0; found == nullptr && k < count; ++k) {
        int const queue = (first + k) % count;
        if (queue != own) found = take(queue);
    }
    return found;
}

} // namespace tulle::myth
