// SPDX-License-Identifier: Apache-2.0
#include "sched/queues/injector.hpp"

#include "sched/records/thread_record.hpp"

#include <algorithm>

namespace tulle::sched {

namespace {

// A thread that its joiner has run leaves a reference in its queue.
void drop_references(shared_queue& queue) noexcept {
    while (runnable* const r = queue.pop()) drop_reference(*static_cast<thread_record*>(r));
}

} // namespace

// Moves the threads that have a stack to the front.
runnable* shared_queue::pop_started() noexcept {
    if (started_hint() == 0) return nullptr;
    std::lock_guard const held(m_lock);
    runnable_list started, others;
    while (runnable* const r = m_list.pop_front())
        (r->kind == runnable_kind::fiber ? started : others).push_back(*r);
    runnable* const first = started.pop_front();
    started.append(others);
    m_list = started;
    if (first != nullptr) count(*first, -1);
    return first;
}

runnable_list shared_queue::pop_some_started(std::uint32_t most) noexcept {
    runnable_list taken;
    if (started_hint() == 0) return taken;
    std::lock_guard const held(m_lock);
    std::uint32_t const wanted = std::min((size_hint() + 1) / 2, most);
    for (std::uint32_t k = 0; k < wanted; ++k) {
        runnable* const r = m_list.first();
        if (r == nullptr || r->kind != runnable_kind::fiber) break;
        taken.push_back(*m_list.pop_front());
        count(*r, -1);
    }
    return taken;
}

shepherd& injector::push_placed(runnable& r, int shepherd_index) noexcept {
    shepherd& s = *m_shepherds[static_cast<std::size_t>(shepherd_index)];
    s.placed.push(r);
    return s;
}

void injector::push_injected(runnable& r) noexcept {
    // relaxed: only an even distribution is wanted.
    std::uint64_t const turn = m_turn.fetch_add(1, std::memory_order_relaxed);
    m_shepherds[turn % m_shepherds.size()]->injected.push(r);
}

runnable* injector::take_at_home(shepherd& home) noexcept {
    if (runnable* const r = home.placed.pop()) return r;
    if (runnable* const r = take_unstarted()) return r;
    return home.injected.pop();
}

runnable* injector::take_from(shepherd& other) noexcept {
    if (runnable* const r = other.injected.pop()) return r;
    return other.has_orphan() ? other.placed.pop_while_none(other.active) : nullptr;
}

runnable* injector::take_started(shepherd& home) noexcept {
    runnable* r = home.placed.pop_started();
    for (auto s = m_shepherds.begin(); r == nullptr && s != m_shepherds.end(); ++s) {
        r = (*s)->injected.pop_started();
        if (r == nullptr && (*s)->has_orphan()) r = (*s)->placed.pop_started();
    }
    return r;
}

bool injector::has_work(shepherd const& home) const noexcept {
    return has_unstarted() || home.placed.size_hint() != 0 || has_injected() ||
           std::any_of(m_shepherds.begin(), m_shepherds.end(),
                       [](auto const& s) { return s->has_orphan(); });
}

bool injector::has_placed() const noexcept {
    return std::any_of(m_shepherds.begin(), m_shepherds.end(),
                       [](auto const& s) { return s->placed.size_hint() != 0; });
}

bool injector::has_injected() const noexcept {
    return std::any_of(m_shepherds.begin(), m_shepherds.end(),
                       [](auto const& s) { return s->injected.size_hint() != 0; });
}

bool injector::has_started() const noexcept {
    return std::any_of(m_shepherds.begin(), m_shepherds.end(), [](auto const& s) {
        return s->placed.started_hint() != 0 || s->injected.started_hint() != 0;
    });
}

bool injector::is_far_behind(int shepherd_index, std::uint64_t most) const noexcept {
    if (shepherd_index >= 0)
        return m_shepherds[static_cast<std::size_t>(shepherd_index)]->placed.size_hint() > most;
    std::uint64_t waiting = m_unstarted.size_hint();
    for (auto const& s : m_shepherds) waiting += s->injected.size_hint();
    return waiting > most;
}

std::uint64_t injector::count_queued() const noexcept {
    std::uint64_t sum = 0;
    for (auto const& s : m_shepherds) sum += s->placed.size_hint() + s->injected.size_hint();
    return sum;
}

void injector::clear() noexcept {
    for (auto const& s : m_shepherds) {
        drop_references(s->placed);
        drop_references(s->injected);
    }
    drop_references(m_unstarted);
}

} // namespace tulle::sched
