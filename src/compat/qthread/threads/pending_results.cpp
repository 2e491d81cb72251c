// SPDX-License-Identifier: Apache-2.0
#include "compat/qthread/threads/pending_results.hpp"

#include "compat/qthread/library/library.hpp"
#include "compat/qthread/threads/task.hpp"

#include <tulle/detail/stack_attachments.hpp>
#include <tulle/detail/thread_core.hpp>

#include <utility>

namespace tulle::compat {

namespace {

// As much as a qthread may use. Nothing is known of an OS thread's own stack.
bool has_room() noexcept {
    auto const area = detail::current_stack();
    auto const* const here = static_cast<std::byte const*>(__builtin_frame_address(0));
    return area.size != 0 && static_cast<std::size_t>(here - area.low) >= the().stack_size;
}

} // namespace

void pending_results::drop(entry& e) noexcept {
    detail::release_thread(std::exchange(e.child, nullptr));
    --m_count;
}

void pending_results::drop_all() noexcept {
    for (entry& e : m_entries)
        if (e.child != nullptr) drop(e);
}

// The entry goes first: what runs may fork for the same word.
void pending_results::find_and_run(void const* word) noexcept {
    for (std::size_t k = 1; k <= k_most; ++k) {
        entry& e = m_entries[(m_next - k) % k_most];
        if (e.child == nullptr || e.word != word) continue;
        detail::thread_core* const child = std::exchange(e.child, nullptr);
        --m_count;
        if (has_room()) static_cast<void>(detail::try_run_thread(child));
        detail::release_thread(child);
        return;
    }
}

// The caller may come back on another worker; nobody else has changed this meanwhile.
bool pending_results::yield_to_newest() noexcept {
    for (std::size_t k = 1; k <= k_most; ++k) {
        entry& e = m_entries[(m_next - k) % k_most];
        if (e.child == nullptr) continue;
        detail::yielded const how = detail::yield_to_thread(e.child);
        if (how == detail::yielded::not_now) return false;
        drop(e);
        if (how == detail::yielded::to_it) return true;
    }
    return false;
}

bool has_pending_results() noexcept {
    task const* const me = self();
    return me != nullptr && !me->pending.empty();
}

void run_pending_result(void const* word) noexcept {
    if (task* const me = self()) me->pending.run_for(word);
}

} // namespace tulle::compat
