// SPDX-License-Identifier: Apache-2.0
#include "loop/invitation.hpp"

#include "loop/job.hpp"
#include "sched/scheduler.hpp"

#include <tulle/fork.hpp>

#include <new>
#include <utility>

namespace tulle::loop {

namespace {

// Some microseconds: what the last chunk of a loop takes, which is less than to suspend a thread
// and to search for other work.
constexpr int k_pauses_before_wait = 128;

// Where stacks are short, a thread that is about to wait runs its records first
// (sched/modes/stack_shortage.cpp): here, the invitation of a participant whose iteration waits. If
// that one began another iteration, which waits, too, the stack would grow with each.
bool is_above_one_that_waits() noexcept {
    sched::record_deque const* const records = sched::this_worker()->current->records;
    return records != nullptr && records->is_floor;
}

} // namespace

invitation::invitation(job& loop) noexcept : m_job(loop), m_deque(detail::current_deque()) {
    if (TULLE_UNLIKELY(m_deque == nullptr)) m_deque = detail::open_deque_cold();
    m_slot = m_deque->top();
    ::new (static_cast<void*>(m_slot->body)) job*(&loop);
    m_slot->run = &come_in;
    if (TULLE_UNLIKELY(!m_deque->publish(m_slot))) detail::published_cold(m_deque);
    if (m_job.width() > 1)
        sched::record_owner(*static_cast<sched::record_deque*>(m_deque)).share_all();
}

invitation::~invitation() {
    if (TULLE_UNLIKELY(!m_deque->retract(m_slot))) withdraw_cold();
}

void invitation::come_in(detail::record* slot) noexcept {
    if (TULLE_LIKELY(!is_above_one_that_waits()))
        (*std::launder(reinterpret_cast<job**>(slot->body)))->help();
}

// This is a guess: the deque's lock decides, in join_cold.
bool invitation::is_stolen() const noexcept {
    return m_slot < static_cast<sched::record_deque*>(m_deque)->stolen_end();
}

void invitation::wait_a_little() const noexcept {
    if (m_job.width() == 1) return;
    // relaxed: join_cold checks again, with acquire.
    for (int k = 0; k < k_pauses_before_wait &&
                    m_slot->state.load(std::memory_order_relaxed) != detail::k_done;
         ++k)
        os::machine::pause();
}

void invitation::withdraw_cold() noexcept {
    if (is_stolen()) wait_a_little();
    if (detail::join_cold(m_deque, m_slot)) return;
    // An exception is there only in a process that was forked off meanwhile, where the thread that
    // came in is not.
    if (TULLE_UNLIKELY(m_slot->exception != nullptr))
        m_job.fail(std::exchange(m_slot->exception, nullptr));
}

} // namespace tulle::loop
