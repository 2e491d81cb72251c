// SPDX-License-Identifier: Apache-2.0
// The queue of Michael and Scott (1996, doi:10.1145/248052.248106): a list whose first node is a dummy, with hazard pointers.
// The head never passes the tail, so a node that the tail points to has not been taken out.
#include "compat/qthread/hazard.hpp"

#include <qthread/qlfqueue.h>
#include <qthread/qthread.h>

#include <atomic>
#include <new>

namespace {

using tulle::compat::hazard_record;

struct node {
    std::atomic<node*> next{nullptr};
    void* value = nullptr; // does not change when others can see the node
};

void free_node(void* n) { delete static_cast<node*>(n); }

} // namespace

struct qlfqueue_s {
    alignas(64) std::atomic<node*> head;
    alignas(64) std::atomic<node*> tail;

    explicit qlfqueue_s(node* dummy) noexcept : head(dummy), tail(dummy) {}
};

namespace {

// Moves the tail one node on, if it is still `from`.
void advance_tail(qlfqueue_s& q, node* from, node* to) noexcept {
    // seq_cst: when the head has passed a node, an announcement of it as tail fails (hazard.hpp, A2).
    q.tail.compare_exchange_strong(from, to, std::memory_order_seq_cst, std::memory_order_relaxed);
}

void append(qlfqueue_s& q, hazard_record& hazards, node* fresh) noexcept {
    for (;;) {
        node* const tail = hazards.protect(0, q.tail);
        node* next = nullptr;
        // release pairs with the acquire loads of next: the value.
        if (tail->next.compare_exchange_strong(next, fresh, std::memory_order_acq_rel, std::memory_order_acquire)) {
            return advance_tail(q, tail, fresh);
        }
        advance_tail(q, tail, next);
    }
}

// The node that was the dummy, and the value of the one that is now; null: empty.
node* take_first(qlfqueue_s& q, hazard_record& hazards, void*& value) noexcept {
    for (;;) {
        node* head = hazards.protect(0, q.head);
        node* const tail = q.tail.load(std::memory_order_seq_cst);
        node* const next = head->next.load(std::memory_order_acquire); // pairs with append
        if (next == nullptr) return nullptr;                           // `head` is the last node, so it was the first at this moment, too
        hazards.announce(1, next);
        if (q.head.load(std::memory_order_seq_cst) != head) continue; // A2: the node behind the head has not been taken out
        if (head == tail) {
            advance_tail(q, tail, next);
            continue;
        }
        value = next->value;
        if (q.head.compare_exchange_strong(head, next, std::memory_order_seq_cst, std::memory_order_relaxed)) return head; // B1
    }
}

} // namespace

qlfqueue_t* qlfqueue_create() {
    auto* const dummy = new (std::nothrow) node;
    auto* const q = dummy != nullptr ? new (std::nothrow) qlfqueue_s(dummy) : nullptr;
    if (q == nullptr) delete dummy;
    return q;
}

int qlfqueue_destroy(qlfqueue_t* q) {
    if (q == nullptr) return QTHREAD_BADARGS;
    for (node* n = q->head.load(std::memory_order_acquire); n != nullptr;) { // acquire pairs with append; nobody else is here
        node* const next = n->next.load(std::memory_order_relaxed);
        delete n;
        n = next;
    }
    delete q;
    return QTHREAD_SUCCESS;
}

int qlfqueue_enqueue(qlfqueue_t* q, void* elem) try {
    if (q == nullptr || elem == nullptr) return QTHREAD_BADARGS;
    hazard_record& hazards = hazard_record::mine();
    auto* const fresh = new node;
    fresh->value = elem;
    append(*q, hazards, fresh);
    hazards.clear();
    return QTHREAD_SUCCESS;
} catch (std::bad_alloc const&) {
    return QTHREAD_MALLOC_ERROR;
}

// Ends the program when there is no memory to note the node that goes.
void* qlfqueue_dequeue(qlfqueue_t* q) {
    if (q == nullptr) return nullptr;
    hazard_record& hazards = hazard_record::mine();
    void* value = nullptr;
    node* const old = take_first(*q, hazards, value);
    hazards.clear();
    if (old == nullptr) return nullptr; // `value` may be one that another thread has taken
    hazards.retire(old, free_node);
    return value;
}

int qlfqueue_empty(qlfqueue_t* q) {
    if (q == nullptr) return QTHREAD_BADARGS;
    hazard_record& hazards = hazard_record::mine();
    // acquire pairs with append, though nothing is read.
    bool const is_empty = hazards.protect(0, q->head)->next.load(std::memory_order_acquire) == nullptr;
    hazards.clear();
    return is_empty ? 1 : 0;
}
