// SPDX-License-Identifier: Apache-2.0
// What a ready queue holds: a thread that has a stack, or one that has not started.
#pragma once

#include "base/debug_access.hpp"

#include <cstdint>

namespace tulle::sched {

enum class runnable_kind : std::uint8_t { fiber, thread };

struct runnable {
    runnable* next = nullptr; // in the one queue that it is in; guarded by that queue
    runnable_kind kind;
    bool bound = false; // runs on one worker only

    explicit runnable(runnable_kind k) noexcept : kind(k) {}
};

// A first-in first-out list of runnables, linked through them. No synchronisation of its own.
class runnable_list {
public:
    [[nodiscard]] bool empty() const noexcept { return m_first == nullptr; }
    [[nodiscard]] runnable* first() const noexcept { return m_first; }

    void push_back(runnable& r) noexcept {
        r.next = nullptr;
        if (m_first == nullptr)
            m_first = &r;
        else
            m_last->next = &r;
        m_last = &r;
    }
    void push_front(runnable& r) noexcept {
        r.next = m_first;
        if (m_first == nullptr) m_last = &r;
        m_first = &r;
    }
    runnable* pop_front() noexcept {
        runnable* const r = m_first;
        if (r != nullptr) m_first = r->next;
        return r;
    }
    // Takes out those for which `is_wanted` says true; `each(r)` is called for them. Both lists
    // keep their order.
    template <class Predicate, class Visitor>
    [[nodiscard]] runnable_list extract(Predicate is_wanted, Visitor each) noexcept {
        runnable_list wanted, others;
        while (runnable* const r = pop_front()) {
            bool const goes = is_wanted(*r);
            (goes ? wanted : others).push_back(*r);
            if (goes) each(*r);
        }
        *this = others;
        return wanted;
    }
    void append(runnable_list& others) noexcept {
        if (others.empty()) return;
        if (m_first == nullptr)
            m_first = others.m_first;
        else
            m_last->next = others.m_first;
        m_last = others.m_last;
        others.m_first = nullptr;
    }

private:
    friend struct base::debug_access;
    runnable* m_first = nullptr;
    runnable* m_last = nullptr; // undefined when empty
};

} // namespace tulle::sched
