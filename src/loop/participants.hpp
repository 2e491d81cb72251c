// SPDX-License-Identifier: Apache-2.0
// The threads that take part in a loop: the list on which a participant without iterations finds
// the ranges of the others, and the early end, which closes all of them. Pieces that have been
// stolen and are in nobody's range yet are counted, so that nobody takes the loop to be over
// meanwhile.
//
// A Participant lies in the frame of its thread. It has a `range`, and `next`, `prev` and `number`,
// which are guarded by the lock.
// INV-1 a range that is on the list, or pinned by a thread that found it there, is in a frame that
// stays.
// INV-2 after end_early() no range on the list has iterations left, and none is opened.
// Why leave() waits for nobody (INV-1): a participant that leaves has found under the lock that
// nothing is in flight and nothing is left, and a thread that has a range pinned is in flight; or
// the loop has ended early, and end_early() has closed its range, for which it took the pin. In
// both cases each thread that takes the lock later finds the range empty, and it is not pinned any
// more.
#pragma once

#include "base/intrusive_list.hpp"
#include "base/spin_lock.hpp"
#include "loop/loop_range.hpp"

#include <cstdint>
#include <mutex>

namespace tulle::loop {

template <class Machine, class Participant> class participants {
    template <class T> using plain = typename Machine::template plain<T>;
    using section = std::lock_guard<base::basic_spin_lock<Machine>>;

public:
    void enter(Participant& self) noexcept {
        section const held(m_lock);
        self.number = m_arrivals.load();
        m_arrivals.store(self.number + 1);
        m_list.push_front(self);
    }
    // Called after steal() has found nothing that is left, begin() has returned false, or
    // end_early().
    void leave(Participant& self) noexcept {
        section const held(m_lock);
        m_list.remove(self);
    }

    // A participant makes some iterations its range: all at first, later what it has stolen. False:
    // there is nothing, or it is left out because the loop has ended early (INV-2).
    [[nodiscard]] bool begin(Participant& self, iterations some) noexcept {
        if (some.empty()) return false;
        section const held(m_lock);
        m_in_flight.store(m_in_flight.load() - 1);
        if (m_ended_early.load()) return false;
        self.range.open(some);
        return true;
    }
    // Anyone may call this: no more iterations are begun, but for what owners take at this very
    // moment.
    void end_early() noexcept {
        section const held(m_lock);
        m_ended_early.store(true);
        for (Participant& p : m_list) p.range.close();
    }
    // The caller of the loop asks this at its end.
    [[nodiscard]] bool has_ended_early() const noexcept { return m_ended_early.load(); }

    // Tries once to take iterations of another participant, for begin(). `some_left`: another
    // attempt may be worth while; otherwise all have begun.
    [[nodiscard]] iterations steal(steal_effort effort, bool& some_left) noexcept {
        Participant* const victim = choose_victim(effort, some_left);
        if (victim == nullptr) return {};
        iterations const found = victim->range.steal(effort);
        if (found.empty()) {
            section const held(m_lock);
            m_in_flight.store(m_in_flight.load() - 1);
        }
        return found;
    }

private:
    // Pins the participant that shares most; with the fence, the one that has most left. Null:
    // there is none, or another thread has it pinned.
    [[nodiscard]] Participant* choose_victim(steal_effort effort, bool& some_left) noexcept {
        section const held(m_lock);
        Participant* chosen = nullptr;
        std::uint64_t most = 0;
        some_left = m_in_flight.load() != 0;
        for (Participant& p : m_list) {
            std::uint64_t const left = p.range.size_hint();
            some_left = some_left || left != 0;
            std::uint64_t const size =
                effort == steal_effort::shared_only ? p.range.shared_hint() : left;
            if (size <= most) continue;
            most = size;
            chosen = &p;
        }
        if (chosen == nullptr || !chosen->range.try_pin()) return nullptr;
        m_in_flight.store(m_in_flight.load() + 1);
        return chosen;
    }

    base::basic_spin_lock<Machine> m_lock; // guards all below
    base::intrusive_list<&Participant::next, &Participant::prev> m_list;
    plain<std::uint64_t> m_arrivals{0};
    // Pieces that are in nobody's range, on their way from one to another; at first the whole.
    plain<std::uint64_t> m_in_flight{1};
    plain<bool> m_ended_early{false};
};

} // namespace tulle::loop
