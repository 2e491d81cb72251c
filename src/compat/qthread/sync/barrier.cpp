// SPDX-License-Identifier: Apache-2.0
// Barriers under their two names: the native one, made anew when the number of participants
// changes. What is no barrier is left alone.
#include <qthread/barrier.h>
#include <qthread/feb_barrier.h>

#include "compat/qthread/library/arguments.hpp"
#include "compat/qthread/threads/task.hpp"

#include <tulle/barrier.hpp>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <new>

struct qt_barrier_s {
    explicit qt_barrier_s(size_t size)
        : participants(size),
          gate(std::make_unique<tulle::barrier>(static_cast<std::int64_t>(size))) {}

    void enter() {
        entered.fetch_add(1, std::memory_order_relaxed); // relaxed: for people
        gate->arrive_and_wait();
    }

    size_t participants;
    std::unique_ptr<tulle::barrier> gate;
    std::atomic<size_t> entered{0}; // ever
};
struct qt_feb_barrier_s : qt_barrier_s {
    using qt_barrier_s::qt_barrier_s;
};

using namespace tulle::compat;

namespace {

// More threads than there can be are none.
bool is_number(size_t threads) noexcept {
    return threads != 0 && threads <= size_t{std::numeric_limits<std::int32_t>::max()};
}

template <class Barrier> Barrier* create(size_t size) noexcept try {
    return is_number(size) ? new Barrier(size) : nullptr;
} catch (std::bad_alloc const&) {
    return nullptr;
}

void enter(qt_barrier_s* b) {
    if (is_object(b)) b->enter();
}

template <class Barrier> void destroy(Barrier* b) {
    if (is_object(b)) delete b;
}

// Without memory it stays as it is.
void resize(qt_barrier_s* b, size_t size) noexcept try {
    if (!is_object(b) || !is_number(size) || size == b->participants) return;
    b->gate = std::make_unique<tulle::barrier>(static_cast<std::int64_t>(size));
    b->participants = size;
} catch (std::bad_alloc const&) {}

} // namespace

qt_barrier_t* qt_barrier_create(size_t size, qt_barrier_btype /*type*/) {
    return create<qt_barrier_s>(size);
}
void qt_barrier_enter(qt_barrier_t* b) { enter(b); }
void qt_barrier_enter_id(qt_barrier_t* b, size_t /*id*/) { enter(b); }
void qt_barrier_destroy(qt_barrier_t* b) { destroy(b); }
void qt_barrier_resize(qt_barrier_t* b, size_t size) { resize(b, size); }
void qt_barrier_dump(qt_barrier_t* b, qt_barrier_dtype /*dt*/) {
    if (!is_object(b)) return;
    size_t const entered = b->entered.load(std::memory_order_relaxed); // relaxed: a snapshot
    std::printf("barrier %p: %zu participants, entered %zu times\n", static_cast<void*>(b),
                b->participants, entered);
}

qt_barrier_t* qt_get_barrier() {
    task const* const me = self();
    return me == nullptr ? nullptr : me->barrier;
}
void qt_set_barrier(qt_barrier_t* b) {
    if (task* const me = self()) me->barrier = b;
}

qt_feb_barrier_t* qt_feb_barrier_create(size_t max_threads) {
    return create<qt_feb_barrier_s>(max_threads);
}
void qt_feb_barrier_enter(qt_feb_barrier_t* b) { enter(b); }
void qt_feb_barrier_resize(qt_feb_barrier_t* b, size_t new_size) { resize(b, new_size); }
void qt_feb_barrier_destroy(qt_feb_barrier_t* b) { destroy(b); }
