// SPDX-License-Identifier: Apache-2.0
// The list in which thieves find deques that no worker stands on: their stacks are suspended, or
// have opened a larger deque on top. A deque is in the list while its is_parked is set. That,
// next_parked and prev_parked are guarded by the lock of the list.
#pragma once

#include "base/intrusive_list.hpp"
#include "base/spin_lock.hpp"
#include "deque/split_deque.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace tulle::sched {

template <class Machine, class Deque, class Slot> class basic_parked_deques {
public:
    // `in_order`: the deque goes before the first one in the list whose records a serial run would
    // reach later than its own (comes_before). Else it goes to the end.
    void add(Deque& deque, bool in_order = false) noexcept;
    // The stack of this deque gives it up. Without that it would keep its position in the list for
    // the next stack that uses it.
    void remove(Deque& deque) noexcept;
    // The oldest record of one of the deques; `victim` is that deque then. Null: there is none.
    // `in_turn`: each deque gives one in its turn; else the one that was parked first gives all
    // that it has before the next one does.
    [[nodiscard]] Slot* steal(Deque*& victim, bool in_turn = true) noexcept;
    // Moves the first `count` deques to the end.
    void rotate(std::uint32_t count) noexcept;
    // Hints, which count empty deques, too. relaxed: written under the lock, which decides. A
    // worker that goes to sleep reads them after its heavy fence.
    [[nodiscard]] bool looks_empty() const noexcept { return size_hint() == 0; }
    [[nodiscard]] std::uint32_t size_hint() const noexcept {
        return m_count.load(std::memory_order_relaxed);
    }
    // Whether one of the deques holds a record now. A worker asks before it goes to sleep.
    [[nodiscard]] bool has_stealable() noexcept;
    // How many records nobody has begun, for reports. It does not wait for the lock for ever, since
    // in a copy of the process nobody may be left to release it.
    [[nodiscard]] std::size_t count_records() noexcept;

private:
    void move_to_end(Deque& deque) noexcept;
    void drop(Deque& deque) noexcept;

    static constexpr int k_most_tried = 64;

    base::basic_spin_lock<Machine> m_lock; // guards the list
    base::intrusive_list<&Deque::next_parked, &Deque::prev_parked> m_deques;
    typename Machine::template atomic<std::uint32_t> m_count{0};
};

template <class Machine, class Deque, class Slot>
void basic_parked_deques<Machine, Deque, Slot>::add(Deque& deque, bool in_order) noexcept {
    std::lock_guard const held(m_lock);
    if (deque.is_parked && !in_order) return;
    if (deque.is_parked) drop(deque);
    deque.is_parked = true;
    auto behind = in_order ? m_deques.begin() : m_deques.end();
    while (behind != m_deques.end() && !comes_before(deque, *behind)) ++behind;
    m_deques.insert(behind, deque);
    m_count.store(m_count.load(std::memory_order_relaxed) + 1,
                  std::memory_order_relaxed); // relaxed: a hint; one writer
}

template <class Machine, class Deque, class Slot>
void basic_parked_deques<Machine, Deque, Slot>::remove(Deque& deque) noexcept {
    std::lock_guard const held(m_lock);
    if (deque.is_parked) drop(deque);
}

// The caller of this one and of the next holds the lock.
template <class Machine, class Deque, class Slot>
void basic_parked_deques<Machine, Deque, Slot>::move_to_end(Deque& deque) noexcept {
    m_deques.remove(deque);
    m_deques.push_back(deque);
}

template <class Machine, class Deque, class Slot>
void basic_parked_deques<Machine, Deque, Slot>::drop(Deque& deque) noexcept {
    m_deques.remove(deque);
    deque.is_parked = false;
    // relaxed: as in add.
    m_count.store(m_count.load(std::memory_order_relaxed) - 1, std::memory_order_relaxed);
}

// Goes round: a deque that gave a record moves to the end, an empty one leaves the list.
template <class Machine, class Deque, class Slot>
Slot* basic_parked_deques<Machine, Deque, Slot>::steal(Deque*& victim, bool in_turn) noexcept {
    if (looks_empty() || !m_lock.try_lock()) return nullptr;
    std::lock_guard const held(m_lock, std::adopt_lock);
    Slot* found = nullptr;
    for (int tried = 0; found == nullptr && !m_deques.empty() && tried < k_most_tried; ++tried) {
        Deque& deque = *m_deques.first();
        found = deque::deque_thief<Machine, Slot>(deque).steal();
        if (found != nullptr) victim = &deque;
        if (found == nullptr && !deque.looks_stealable()) {
            drop(deque);
        } else if (in_turn) {
            move_to_end(deque);
        } else {
            break;
        }
    }
    return found;
}

template <class Machine, class Deque, class Slot>
void basic_parked_deques<Machine, Deque, Slot>::rotate(std::uint32_t count) noexcept {
    std::lock_guard const held(m_lock);
    for (; count != 0 && !m_deques.empty(); --count) move_to_end(*m_deques.first());
}

template <class Machine, class Deque, class Slot>
std::size_t basic_parked_deques<Machine, Deque, Slot>::count_records() noexcept {
    bool held = false;
    for (int tries = 0; !held && tries < k_most_tried; ++tries) held = m_lock.try_lock();
    if (!held) return 0;
    std::lock_guard const held_now(m_lock, std::adopt_lock);
    std::size_t count = 0;
    for (Deque& d : m_deques) {
        if (d.top() > d.stolen_end()) count += static_cast<std::size_t>(d.top() - d.stolen_end());
    }
    return count;
}

template <class Machine, class Deque, class Slot>
bool basic_parked_deques<Machine, Deque, Slot>::has_stealable() noexcept {
    if (looks_empty()) return false;
    std::lock_guard const held(m_lock);
    return std::any_of(m_deques.begin(), m_deques.end(),
                       [](Deque const& d) { return d.looks_stealable(); });
}

} // namespace tulle::sched
