// SPDX-License-Identifier: Apache-2.0
// Main goes on elsewhere when its own worker is stuck, which the watcher finds (watch/watcher.hpp),
// and comes back to it for what only its OS thread may do.
#include "sched/scheduler.hpp"

namespace tulle::sched {

// It lies in the mailbox of worker 0, or among its ready threads. From now on it has no home.
void scheduler::free_main() noexcept {
    if (m_main_stays.load(std::memory_order_relaxed)) return; // relaxed: see bind_main
    worker_remote& home = *workers()[0];
    runnable* main = home.mailbox.looks_empty() ? nullptr : home.mailbox.take();
    if (main == nullptr) main = home.ready.steal_bound();
    if (main == nullptr) return;
    m_adopted.unbind();
    inject(*main, -1);
}

void scheduler::let_main_move() noexcept {
    worker const* const self = this_worker();
    bool const is_main = self != nullptr && self->current == &m_adopted;
    // relaxed: main has written it.
    if (is_main && m_settings.main_may_move && !m_main_stays.load(std::memory_order_relaxed))
        m_adopted.unbind();
}

namespace {

void post_to_its_home(void* main, void*) noexcept {
    auto& f = *static_cast<fiber*>(main);
    f.home->owner->post_to_mailbox(*f.home, f);
}

} // namespace

void scheduler::bind_main() noexcept {
    worker_remote& home = *workers()[0];
    if (m_adopted.bound) return;
    m_main_stays.store(true, std::memory_order_relaxed); // relaxed: the mailbox orders it
    // More than once where free_main has read m_main_stays before, and then takes main away.
    for (;;) {
        m_adopted.bind(home);
        if (this_worker() == &home) return;
        suspend(&post_to_its_home, &m_adopted, nullptr);
    }
}

} // namespace tulle::sched
