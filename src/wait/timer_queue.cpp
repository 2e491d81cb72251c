// SPDX-License-Identifier: Apache-2.0
#include "wait/timer_queue.hpp"

#include <bit>
#include <mutex>

namespace tulle::wait {

namespace {

std::size_t side_of(timer const& t) noexcept { return t.parent != nullptr && t.parent->child[1] == &t ? 1 : 0; }

} // namespace

bool timer_queue::insert(timer& t) noexcept {
    std::lock_guard const held(m_lock);
    ++m_count;
    t.child[0] = t.child[1] = nullptr;
    t.queued = true;
    put(m_count == 1 ? nullptr : at(m_count / 2), m_count % 2, &t);
    sift_up(t);
    publish_next();
    return m_first == &t;
}

void timer_queue::remove(timer& t) noexcept {
    std::lock_guard const held(m_lock);
    if (!t.queued) return;
    take_out(t);
    publish_next();
}

std::size_t timer_queue::expire(std::uint64_t now) noexcept {
    if (now < next_deadline()) return 0;
    std::lock_guard const held(m_lock);
    std::size_t fired = 0;
    for (; m_first != nullptr && m_first->deadline <= now; ++fired) {
        timer& t = *m_first;
        take_out(t);
        t.fire(t);
    }
    publish_next();
    return fired;
}

// Positions are counted from 1, row by row. The bits of a position below the highest are the way down to it, 0 to the left.
timer* timer_queue::at(std::size_t position) const noexcept {
    timer* t = m_first;
    for (auto bit = static_cast<unsigned>(std::bit_width(position)) - 1; bit-- > 0;) t = t->child[(position >> bit) & 1U];
    return t;
}

void timer_queue::put(timer* parent, std::size_t side, timer* t) noexcept {
    (parent == nullptr ? m_first : parent->child[side]) = t;
    if (t != nullptr) t->parent = parent;
}

void timer_queue::swap_with_parent(timer& t) noexcept {
    timer& above = *t.parent;
    std::size_t const side = side_of(t);
    timer* const sibling = above.child[1 - side];
    put(above.parent, side_of(above), &t);
    put(&above, 0, t.child[0]);
    put(&above, 1, t.child[1]);
    put(&t, side, &above);
    put(&t, 1 - side, sibling);
}

void timer_queue::sift_up(timer& t) noexcept {
    while (t.parent != nullptr && t.parent->deadline > t.deadline) swap_with_parent(t);
}

void timer_queue::sift_down(timer& t) noexcept {
    for (;;) {
        timer* least = t.child[0];
        if (t.child[1] != nullptr && t.child[1]->deadline < least->deadline) least = t.child[1];
        if (least == nullptr || least->deadline >= t.deadline) return;
        swap_with_parent(*least);
    }
}

void timer_queue::take_out(timer& t) noexcept {
    timer& last = *at(m_count);
    put(last.parent, side_of(last), nullptr);
    --m_count;
    t.queued = false;
    if (&last == &t) return;
    put(t.parent, side_of(t), &last);
    put(&last, 0, t.child[0]);
    put(&last, 1, t.child[1]);
    sift_up(last);
    sift_down(last);
}

void timer_queue::publish_next() noexcept {
    m_next.store(m_first == nullptr ? k_never : m_first->deadline, std::memory_order_relaxed); // relaxed: see next_deadline
}

} // namespace tulle::wait
