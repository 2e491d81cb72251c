// SPDX-License-Identifier: Apache-2.0
// The list is fifo_core.hpp; segments come from the heap.
#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/structures/fifo_core.hpp"
#include "compat/qthread/structures/process_hazards.hpp"

#include <qthread/qlfqueue.h>
#include <qthread/qthread.h>

#include <tulle/detail/attributes.hpp>

#include <cstddef>
#include <new>

using tulle::base::machine;
using tulle::compat::is_object;
using tulle::compat::own_hazards;

namespace {

constexpr std::size_t k_places = 63; // of a segment: half a KiB

using queue = tulle::compat::fifo_core<machine, k_places>;
using segment = queue::segment;

segment* make_segment() noexcept { return new (std::nothrow) segment; }
void free_segment(void* s) { delete static_cast<segment*>(s); }

} // namespace

struct qlfqueue_s {
    queue list;
};

qlfqueue_t* qlfqueue_create() {
    segment* const first = make_segment();
    if (first == nullptr) return nullptr;
    auto* const q = new (std::nothrow) qlfqueue_s{queue(first)};
    if (q == nullptr) delete first;
    return q;
}

int qlfqueue_destroy(qlfqueue_t* q) {
    if (!is_object(q)) return QTHREAD_BADARGS;
    for (segment* s = q->list.first(); s != nullptr;) {
        segment* const next =
            s->next.load(std::memory_order_relaxed); // relaxed: nobody else is here
        delete s;
        s = next;
    }
    delete q;
    return QTHREAD_SUCCESS;
}

int qlfqueue_enqueue(qlfqueue_t* q, void* elem) try {
    if (!is_object(q) || elem == nullptr) return QTHREAD_BADARGS;
    auto& hazards = own_hazards();
    segment* spare = nullptr;
    if (TULLE_LIKELY(q->list.append(hazards, elem, spare))) return QTHREAD_SUCCESS;
    spare = make_segment();
    if (spare == nullptr) return QTHREAD_MALLOC_ERROR;
    static_cast<void>(q->list.append(hazards, elem, spare)); // it cannot fail with a spare
    delete spare;
    return QTHREAD_SUCCESS;
} catch (std::bad_alloc const&) {
    return QTHREAD_MALLOC_ERROR;
}

// Without memory for the hazards of a thread that comes for the first time it finds nothing.
void* qlfqueue_dequeue(qlfqueue_t* q) try {
    return is_object(q) ? q->list.take_first(own_hazards(), free_segment) : nullptr;
} catch (std::bad_alloc const&) {
    return nullptr;
}

int qlfqueue_empty(qlfqueue_t* q) try {
    if (!is_object(q)) return QTHREAD_BADARGS;
    return q->list.is_empty(own_hazards()) ? 1 : 0;
} catch (std::bad_alloc const&) {
    return QTHREAD_MALLOC_ERROR;
}
