// SPDX-License-Identifier: Apache-2.0
// Queues that qthreads wait in until another one releases them, in the order of their coming. A
// waiter is a frame of its thread; who releases it notifies its signal, as the last access.
#include "base/intrusive_list.hpp"
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/library/library.hpp"
#include "compat/qthread/library/result.hpp"

#include <tulle/mutex.hpp>
#include <tulle/signal.hpp>

#include <limits>
#include <mutex>
#include <new>

namespace tulle::compat {

namespace {

struct waiter {
    waiter* next = nullptr;
    signal released{1};
};

} // namespace

} // namespace tulle::compat

struct qthread_queue_s {
    qthread_queue_s(bool known, aligned_t limit) : tells_length(known), most(limit) {}

    bool const tells_length;
    aligned_t const most;
    tulle::mutex lock; // guards the rest
    tulle::base::intrusive_queue<&tulle::compat::waiter::next> waiters;
    aligned_t length = 0;
};

using namespace tulle::compat;

qthread_queue_t qthread_queue_create(uint8_t flags, aligned_t length) {
    bool const is_capped = (flags & QTHREAD_QUEUE_CAPPED) != 0;
    bool const tells_length = is_capped || (flags & QTHREAD_QUEUE_MULTI_JOIN_LENGTH) != 0;
    return new (std::nothrow)
        qthread_queue_s(tells_length, is_capped ? length : std::numeric_limits<aligned_t>::max());
}

int qthread_queue_join(qthread_queue_t q) {
    if (!is_object(q)) return QTHREAD_BADARGS;
    waiter self;
    waiting_mark const mark;
    {
        std::lock_guard const held(q->lock);
        if (q->length == q->most) return QTHREAD_OPFAIL;
        q->waiters.push_back(self);
        ++q->length;
    }
    self.released.wait();
    return QTHREAD_SUCCESS;
}

aligned_t qthread_queue_length(qthread_queue_t q) {
    if (!is_object(q) || !q->tells_length) return 0;
    std::lock_guard const held(q->lock);
    return q->length;
}

int qthread_queue_release_one(qthread_queue_t q) {
    if (!is_object(q)) return QTHREAD_BADARGS;
    std::unique_lock held(q->lock);
    waiter* const w = q->waiters.pop_front();
    if (w != nullptr) --q->length;
    held.unlock();
    if (w == nullptr) return QTHREAD_OPFAIL;
    w->released.notify();
    return QTHREAD_SUCCESS;
}

// Those that wait now.
int qthread_queue_release_all(qthread_queue_t q) {
    if (!is_object(q)) return QTHREAD_BADARGS;
    std::unique_lock held(q->lock);
    auto all = q->waiters.take_all();
    q->length = 0;
    held.unlock();
    while (waiter* const w = all.pop_front()) w->released.notify();
    return QTHREAD_SUCCESS;
}

int qthread_queue_destroy(qthread_queue_t q) {
    if (!is_object(q)) return QTHREAD_BADARGS;
    delete q;
    return QTHREAD_SUCCESS;
}
