// SPDX-License-Identifier: Apache-2.0
#include "os/topology.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/stack_attachments.hpp>

#include <utility>

namespace tulle::detail {

using namespace tulle::sched;

void* attachment(attachment_of which) noexcept {
    worker* const w = this_worker();
    return w == nullptr || w->current == nullptr
               ? nullptr
               : w->current->attachments[static_cast<std::size_t>(which)];
}

void set_attachment(attachment_of which, void* pointer) noexcept {
    worker* const w = this_worker();
    if (w != nullptr && w->current != nullptr)
        w->current->attachments[static_cast<std::size_t>(which)] = pointer;
}

void* exchange_attachment(attachment_of which, void* pointer) noexcept {
    worker* const w = this_worker();
    if (w == nullptr || w->current == nullptr) return nullptr;
    return std::exchange(w->current->attachments[static_cast<std::size_t>(which)], pointer);
}

thread_core* running_thread() noexcept {
    worker* const w = this_worker();
    return w == nullptr || w->current == nullptr || w->current->frame == nullptr
               ? nullptr
               : w->current->frame->record;
}

stack_area current_stack() noexcept {
    worker* const w = this_worker();
    if (w == nullptr || w->is_guest() || w->current->kind_of_stack != fiber_kind::pooled) return {};
    return {w->current->stack.low, w->current->stack.size - k_pooled_fiber_bytes};
}

std::size_t usual_stack_size() noexcept { return scheduler::instance().chosen().stack_size; }

void let_main_move() noexcept { scheduler::instance().let_main_move(); }

int default_worker_count() { return os::discover().default_workers; }

} // namespace tulle::detail
