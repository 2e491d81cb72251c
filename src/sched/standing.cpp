// SPDX-License-Identifier: Apache-2.0
#include "os/topology.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/standing.hpp>

namespace tulle::detail {

using namespace tulle::sched;

void* attachment() noexcept {
    worker* const w = this_worker();
    return w == nullptr || w->current == nullptr ? nullptr : w->current->attachment;
}

void set_attachment(void* pointer) noexcept {
    worker* const w = this_worker();
    if (w != nullptr && w->current != nullptr) w->current->attachment = pointer;
}

stack_area current_stack() noexcept {
    worker* const w = this_worker();
    if (w == nullptr || w->is_guest() || w->current->kind_of_stack != fiber_kind::pooled) return {};
    return {w->current->stack.low, w->current->stack.size - k_pooled_fiber_bytes};
}

int default_worker_count() { return os::discover().default_workers; }

} // namespace tulle::detail
