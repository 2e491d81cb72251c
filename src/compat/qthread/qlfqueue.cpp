// SPDX-License-Identifier: Apache-2.0
// The list is fifo_core.hpp; nodes come from the heap.
#include "compat/qthread/arguments.hpp"
#include "compat/qthread/fifo_core.hpp"
#include "compat/qthread/process_hazards.hpp"

#include <qthread/qlfqueue.h>
#include <qthread/qthread.h>

#include <new>

using tulle::base::machine;
using tulle::compat::is_object;
using tulle::compat::own_hazards;

namespace {

using node = tulle::compat::fifo_node<machine>;

void free_node(void* n) { delete static_cast<node*>(n); }

} // namespace

struct qlfqueue_s {
    tulle::compat::fifo_core<machine> list;
};

qlfqueue_t* qlfqueue_create() {
    auto* const dummy = new (std::nothrow) node;
    if (dummy == nullptr) return nullptr;
    auto* const q = new (std::nothrow) qlfqueue_s{tulle::compat::fifo_core<machine>(dummy)};
    if (q == nullptr) delete dummy;
    return q;
}

int qlfqueue_destroy(qlfqueue_t* q) {
    if (!is_object(q)) return QTHREAD_BADARGS;
    for (node* n = q->list.first(); n != nullptr;) {
        node* const next = n->next.load(std::memory_order_relaxed); // relaxed: nobody else is here
        delete n;
        n = next;
    }
    delete q;
    return QTHREAD_SUCCESS;
}

int qlfqueue_enqueue(qlfqueue_t* q, void* elem) try {
    if (!is_object(q) || elem == nullptr) return QTHREAD_BADARGS;
    auto& hazards = own_hazards();
    auto* const fresh = new node;
    fresh->value.store(elem);
    q->list.append(hazards, fresh);
    return QTHREAD_SUCCESS;
} catch (std::bad_alloc const&) {
    return QTHREAD_MALLOC_ERROR;
}

// Ends the program when there is no memory to note the node that goes.
void* qlfqueue_dequeue(qlfqueue_t* q) {
    if (!is_object(q)) return nullptr;
    auto& hazards = own_hazards();
    void* value = nullptr;
    node* const former = q->list.take_first(hazards, value);
    if (former == nullptr) return nullptr; // `value` may be one that another thread has taken
    hazards.retire(former, free_node);
    return value;
}

int qlfqueue_empty(qlfqueue_t* q) {
    if (!is_object(q)) return QTHREAD_BADARGS;
    return q->list.is_empty(own_hazards()) ? 1 : 0;
}
