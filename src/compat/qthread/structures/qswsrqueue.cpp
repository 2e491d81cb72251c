// SPDX-License-Identifier: Apache-2.0
// The ring is ring_core.hpp; a side that waits is a thread that waits for a semaphore.
#include "base/atomic.hpp"
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/structures/ring_core.hpp"

#include <qthread/qswsrqueue.h>
#include <qthread/qthread.h>

#include <tulle/semaphore.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>

using tulle::compat::is_object;

struct qswsrqueue_s {
    tulle::compat::ring_core<tulle::base::machine, tulle::binary_semaphore> ring;

    explicit qswsrqueue_s(std::uint64_t size) : ring(size) {}
};

qswsrqueue_t* qswsrqueue_create(size_t elements) try {
    constexpr std::uint64_t k_least = 8;
    if (elements > std::numeric_limits<std::uint32_t>::max()) return nullptr;
    return new qswsrqueue_s(std::bit_ceil(std::max<std::uint64_t>(elements, k_least)));
} catch (std::bad_alloc const&) {
    return nullptr;
}

int qswsrqueue_destroy(qswsrqueue_t* q) {
    if (!is_object(q)) return QTHREAD_BADARGS;
    delete q;
    return QTHREAD_SUCCESS;
}

int qswsrqueue_enqueue(qswsrqueue_t* q, void* elem) {
    if (!is_object(q) || elem == nullptr) return QTHREAD_BADARGS;
    return q->ring.try_put(elem) ? QTHREAD_SUCCESS : QTHREAD_OPFAIL;
}

int qswsrqueue_enqueue_blocking(qswsrqueue_t* q, void* elem) {
    if (!is_object(q) || elem == nullptr) return QTHREAD_BADARGS;
    q->ring.wait_and_put(elem);
    return QTHREAD_SUCCESS;
}

void* qswsrqueue_dequeue(qswsrqueue_t* q) { return is_object(q) ? q->ring.try_take() : nullptr; }

void* qswsrqueue_dequeue_blocking(qswsrqueue_t* q) {
    return is_object(q) ? q->ring.wait_and_take() : nullptr;
}

int qswsrqueue_empty(qswsrqueue_t* q) {
    if (!is_object(q)) return QTHREAD_BADARGS;
    return q->ring.is_empty() ? 1 : 0;
}
