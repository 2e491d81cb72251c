// SPDX-License-Identifier: Apache-2.0
#include "sched/timer_queue.hpp"

#include <mutex>
#include <new>

namespace tulle::sched {

bool timer_queue::insert(timer& t, bool& becomes_first) noexcept try {
    std::lock_guard const held(m_lock);
    m_heap.push_back(&t);
    t.position = m_heap.size();
    sift_up(t.position);
    becomes_first = t.position == 1;
    publish_next();
    return true;
} catch (std::bad_alloc const&) {
    return false;
}

void timer_queue::remove(timer& t) noexcept {
    std::lock_guard const held(m_lock);
    if (t.position == 0) return;
    take_out(t);
    publish_next();
}

std::size_t timer_queue::expire(std::uint64_t now) noexcept {
    if (now < next_deadline()) return 0;
    std::lock_guard const held(m_lock);
    std::size_t fired = 0;
    for (; !m_heap.empty() && m_heap.front()->deadline <= now; ++fired) {
        timer& t = *m_heap.front();
        take_out(t);
        t.fire(t);
    }
    publish_next();
    return fired;
}

void timer_queue::place(std::size_t position, timer& t) noexcept {
    m_heap[position - 1] = &t;
    t.position = position;
}

void timer_queue::sift_up(std::size_t position) noexcept {
    timer& moving = *m_heap[position - 1];
    while (position > 1 && m_heap[position / 2 - 1]->deadline > moving.deadline) {
        place(position, *m_heap[position / 2 - 1]);
        position /= 2;
    }
    place(position, moving);
}

void timer_queue::sift_down(std::size_t position) noexcept {
    timer& moving = *m_heap[position - 1];
    for (;;) {
        std::size_t child = position * 2;
        if (child > m_heap.size()) break;
        if (child < m_heap.size() && m_heap[child]->deadline < m_heap[child - 1]->deadline) ++child;
        if (m_heap[child - 1]->deadline >= moving.deadline) break;
        place(position, *m_heap[child - 1]);
        position = child;
    }
    place(position, moving);
}

void timer_queue::take_out(timer& t) noexcept {
    std::size_t const hole = t.position;
    t.position = 0;
    timer& last = *m_heap.back();
    m_heap.pop_back();
    if (&last == &t) return;
    place(hole, last);
    sift_up(hole);
    sift_down(last.position);
}

void timer_queue::publish_next() noexcept {
    m_next.store(m_heap.empty() ? k_never : m_heap.front()->deadline,
                 std::memory_order_relaxed); // relaxed: see next_deadline
}

} // namespace tulle::sched
