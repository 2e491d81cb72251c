// SPDX-License-Identifier: Apache-2.0
// Workers that run while a thread blocks one on purpose, with the number of that one
// (lent_number.hpp). A stand-in is a worker whose index is not below the number that is wanted; but
// for its role it would stand by.
#include "sched/scheduler.hpp"

#include <tulle/detail/worker_numbers.hpp>

#include <algorithm>
#include <new>

namespace tulle::sched {

namespace {

// The post action of a thread that must not stay on its worker. Main goes on there all the same,
// when the worker does.
void post_ready_elsewhere(void* pending, void*) noexcept {
    auto& f = *static_cast<fiber*>(pending);
    scheduler& s = scheduler::instance();
    f.home != nullptr ? s.post_to_mailbox(*f.home, f) : s.inject(f, f.shepherd);
}

} // namespace

// One that stands by, so that nothing runs on it that would see a number come or go.
worker_remote* active_workers::free_stand_in(shepherd& home) noexcept {
    for (worker_remote* const w : home.workers) { // relaxed, all: under m_changing
        if (is_spare(*w) && w->stands_by.load(std::memory_order_relaxed)) return w;
    }
    return nullptr;
}

// How many more there have to be if each worker is to have one.
std::size_t active_workers::missing_stand_ins() const noexcept {
    std::size_t missing = 0;
    for (auto const& s : m_scheduler.shepherds()) {
        auto const own = static_cast<std::size_t>(
            std::count_if(s->workers.begin(), s->workers.end(),
                          [this](auto const* w) { return w->index < m_limit.number(); }));
        missing += std::max(own, s->workers.size() - own) - (s->workers.size() - own);
    }
    return missing;
}

// Null: there are as many as there may be, or there is no memory, or no OS thread. `kept`: so many
// more are to be possible.
worker_remote* active_workers::lend_to_stand_in(worker_remote& lender, std::size_t kept) noexcept
    try {
    worker_remote* w = free_stand_in(*lender.home);
    if (w == nullptr) {
        auto const most = static_cast<std::size_t>(m_scheduler.most_workers());
        if (m_scheduler.workers().size() + kept >= most) return nullptr;
        w = &m_scheduler.make_worker(lender.home);
    }
    lender.numbers.lend_to(w->numbers);
    if (m_scheduler.revive(m_scheduler.m_registry.core_of(*w)) == 0) return w;
    static_cast<void>(lender.numbers.take_back());
    return nullptr;
} catch (std::bad_alloc const&) {
    return nullptr;
}

bool active_workers::begin_stand_in(worker_remote& lender, std::size_t kept) noexcept {
    worker_remote* const w = lend_to_stand_in(lender, kept);
    if (w == nullptr) return false;
    // relaxed: the change of m_limit follows.
    w->role.store(worker_role::stand_in, std::memory_order_relaxed);
    w->probe.set(); // it comes for threads that wait
    count_anew(m_limit.number());
    m_limit.tell_all();
    return true;
}

// What blocks a stand-in leaves the number to another one, which is none that a worker may need
// that has none yet.
void active_workers::pass_number_on(worker_remote& stand_in) noexcept {
    if (give_number_back(stand_in)) return;
    worker_remote& lender =
        *m_scheduler.workers()[static_cast<std::size_t>(stand_in.numbers.index_of_lender())];
    static_cast<void>(lender.numbers.take_back());
    // relaxed: the change of m_limit follows.
    stand_in.role.store(worker_role::regular, std::memory_order_relaxed);
    count_anew(m_limit.number());
    if (!begin_stand_in(lender, missing_stand_ins())) lender.numbers.want_stand_in();
}

// A worker that could stand in does so for one that wants it.
void active_workers::take_up(worker_remote& w) noexcept {
    if (!is_spare(w)) return;
    auto const& all = w.home->workers;
    auto const found = std::find_if(all.begin(), all.end(), [](worker_remote const* lender) {
        return lender->numbers.wants_stand_in();
    });
    if (found == all.end()) return;
    (*found)->numbers.lend_to(w.numbers);
    // relaxed: the change of m_limit follows.
    w.role.store(worker_role::stand_in, std::memory_order_relaxed);
    count_anew(m_limit.number());
    m_limit.tell_all();
}

bool active_workers::lend_number(worker& self) noexcept {
    std::lock_guard const held(m_changing);
    lent_number& own = self.numbers;
    if (m_scheduler.is_stopping() || m_scheduler.is_deterministic()) return false;
    if (own.is_lent() || own.wants_stand_in()) return false;
    if (own.stands_in()) {
        pass_number_on(self);
        return true;
    }
    if (self.index >= m_limit.number()) return false; // it has none
    if (!begin_stand_in(self, 0)) own.want_stand_in();
    return true;
}

bool active_workers::take_number_back(int index) noexcept {
    std::lock_guard const held(m_changing);
    worker_remote& lender = *m_scheduler.workers()[static_cast<std::size_t>(index)];
    if (lender.numbers.is_lent()) return recall(lender);
    static_cast<void>(lender.numbers.take_back()); // if it has wanted somebody
    if (index < m_limit.number()) return false;
    take_up(lender); // it was a stand-in when it was blocked
    lender.numbers.begin();
    return is_surplus(lender);
}

// relaxed, all stores: the change of m_limit follows.
bool active_workers::recall(worker_remote& lender) noexcept {
    worker_remote& w =
        *m_scheduler.workers()[static_cast<std::size_t>(lender.numbers.index_of_stand_in())];
    bool const waits = lender.numbers.take_back() == lent_number::taken_back::later;
    w.role.store(worker_role::regular, std::memory_order_relaxed);
    if (waits) {
        for (worker_remote* const each : {&lender, &w}) {
            each->is_held_back.store(true, std::memory_order_relaxed);
            each->probe.set(); // its next decision is to stand by
        }
    }
    apply_change(m_limit.number());
    return waits;
}

// What runs on this worker has no number from now on. True: the lender has waited for it.
bool active_workers::give_number_back(worker_remote& stand_in) noexcept {
    lent_number const* const lender = stand_in.numbers.end();
    if (lender == nullptr) return false;
    worker_remote& back = *m_scheduler.workers()[static_cast<std::size_t>(lender->own())];
    // relaxed, both: the change of m_limit follows.
    back.is_held_back.store(false, std::memory_order_relaxed);
    stand_in.is_held_back.store(false, std::memory_order_relaxed);
    count_anew(m_limit.number());
    m_limit.tell_all();
    return true;
}

} // namespace tulle::sched

namespace tulle {

using namespace tulle::sched;

int detail::lend_number() noexcept {
    worker* const self = this_worker();
    if (self == nullptr || self->is_guest()) return -1;
    return self->owner->active().lend_number(*self) ? self->index : -1;
}

// The loop that comes next stands by, as its first decision probes.
void detail::take_number_back(int lender) noexcept {
    worker* const self = this_worker();
    bool const waits = scheduler::instance().active().take_number_back(lender);
    if (!waits || self == nullptr || self->index != lender) return;
    self->probe.set();
    suspend_to_loop(&post_ready_elsewhere, self->current, nullptr);
}

int detail::lent_number() noexcept {
    worker const* const self = this_worker();
    return self == nullptr ? -1 : self->numbers.number();
}

} // namespace tulle
