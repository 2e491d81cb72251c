// SPDX-License-Identifier: Apache-2.0
#include "sched/modes/guest_list.hpp"

#include <algorithm>
#include <new>
#include <utility>

namespace tulle::sched {

guest_list::~guest_list() {
    // relaxed: nobody else uses the list any more.
    guest* g = m_first.load(std::memory_order_relaxed);
    while (g != nullptr) delete std::exchange(g, g->next);
}

guest& guest_list::find(worker_remote const& w) const noexcept {
    return *std::find_if(begin(), end(), [&w](guest& g) { return &g.remote() == &w; });
}

bool guest_list::leave_work() const noexcept {
    return std::any_of(begin(), end(), [](guest const& g) { return g.looks_stealable(); });
}

bool guest_list::set_wake_flags() const noexcept {
    bool any = false;
    for (guest& g : *this) any = g.remote().visible.set_wake_flag() || any;
    return any;
}

bool guest_list::show_deques() const noexcept {
    return std::any_of(begin(), end(),
                       [](guest& g) { return g.remote().visible.get() != nullptr; });
}

std::int64_t guest_list::live_threads() const noexcept {
    std::int64_t live = 0;
    for (guest& g : *this) { // relaxed: a snapshot
        worker_remote const& w = g.remote();
        live += w.threads_made.load(std::memory_order_relaxed) -
                w.threads_ended.load(std::memory_order_relaxed);
    }
    return live;
}

guest* guest_list::make(scheduler& owner, bool asymmetric) noexcept {
    auto* const g = new (std::nothrow) guest(owner, asymmetric);
    if (g == nullptr) return nullptr;
    g->next = m_first.load(std::memory_order_relaxed); // relaxed: written under the lock
    g->as_worker.local_number = g->next == nullptr ? 1 : g->next->as_worker.local_number + 2;
    m_first.store(g, std::memory_order_release); // pairs with begin
    return g;
}

void guest_list::release(guest& left) noexcept {
    std::lock_guard const held(m_lock);
    m_free.push(left);
}

void guest_list::forget_all_but(worker_remote const* caller) noexcept {
    m_free.clear();
    for (guest& g : *this) {
        worker& w = g.as_worker;
        // relaxed, both: there is one OS thread.
        w.threads_made.store(0, std::memory_order_relaxed);
        w.threads_ended.store(0, std::memory_order_relaxed);
        w.next_id = w.id_limit = 0; // those are smaller than the first of this process
        if (&g.remote() == caller) continue;
        w.visible.forget();
        w.handlers.forget();
        w.free_records = {}; // perhaps half changed
        w.free_record_count = 0;
        ::new (static_cast<void*>(&g.stack)) fiber(fiber_kind::guest);
        m_free.push(g);
    }
}

} // namespace tulle::sched
