// SPDX-License-Identifier: Apache-2.0
#include "sched/watch/debug_layout.hpp"

#include "base/debug_access.hpp"
#include "sched/modes/guest.hpp"
#include "sched/scheduler.hpp"
#include "stack/stack_arena.hpp"

#include <cstddef>
#include <iterator>
#include <type_traits>

#include <pthread.h>

// The types have private members and bases; both compilers know their offsets all the same.
#pragma GCC diagnostic ignored "-Winvalid-offsetof"

#define TULLE_OFFSET_OF(name, type, member)                                                        \
    { name, offsetof(type, member) }
#define TULLE_OFFSET(type, member)                                                                 \
    { #type "." #member, offsetof(type, member) }

namespace {

constexpr std::uint64_t context_kind() noexcept {
    if (std::is_same_v<tulle::arch::backend, tulle::arch::ucontext_backend>) return 1;
    return std::is_same_v<tulle::arch::backend, tulle::arch::setjmp_backend> ? 2 : 0;
}

} // namespace

namespace tulle::base {

struct debug_access {
    using scheduler = sched::scheduler;
    using shepherd = sched::shepherd;
    using worker = sched::worker;
    using growing_list = sched::growing_list<std::unique_ptr<sched::worker>>;
    using guest = sched::guest;
    using fiber = sched::fiber;
    using runnable = sched::runnable;
    using runnable_list = sched::runnable_list;
    using ready_queue = sched::ready_queue;
    using stack_cache = sched::stack_cache;
    using thread_frame = sched::thread_frame;
    using thread_record = sched::thread_record;
    using record_deque = sched::record_deque;
    using sleeper = park::sleeper<os::machine>;
    using stack_pool = stack::stack_pool;
    using stack_arena = stack::stack_arena;
    using slab = stack::stack_arena::slab;
    using span = stack::span;

    static constexpr tulle_debug_entry k_entries[] = {
        TULLE_OFFSET_OF("scheduler.m_workers", scheduler, m_registry.m_workers),
        TULLE_OFFSET_OF("scheduler.m_shepherds", scheduler, m_registry.m_shepherds),
        TULLE_OFFSET(scheduler, m_adopted),
        TULLE_OFFSET(scheduler, m_stacks),
        TULLE_OFFSET_OF("scheduler.m_guests", scheduler, m_guests.m_first),
        TULLE_OFFSET_OF("scheduler.m_free_guests", scheduler, m_guests.m_free),
        TULLE_OFFSET_OF("scheduler.m_shared_spares", scheduler, m_shared_spares.m_list),
        TULLE_OFFSET(growing_list, m_items),
        TULLE_OFFSET(growing_list, m_count),
        TULLE_OFFSET_OF("shepherd.placed", shepherd, placed.m_list),
        TULLE_OFFSET_OF("shepherd.injected", shepherd, injected.m_list),
        TULLE_OFFSET(worker, kind),
        TULLE_OFFSET(worker, index),
        TULLE_OFFSET(worker, current),
        TULLE_OFFSET(worker, ready),
        TULLE_OFFSET_OF("worker.spares", worker, spares.m_list),
        TULLE_OFFSET_OF("worker.emergency", worker, spares.m_reserve),
        TULLE_OFFSET(worker, stacks),
        TULLE_OFFSET(worker, start_next),
        TULLE_OFFSET(worker, mailbox),
        TULLE_OFFSET(worker, sleeper),
        TULLE_OFFSET(sleeper, m_handoff),
        TULLE_OFFSET(ready_queue, m_list),
        TULLE_OFFSET(runnable_list, m_first),
        TULLE_OFFSET(stack_cache, m_free),
        TULLE_OFFSET(stack_cache, m_count),
        TULLE_OFFSET(guest, as_worker),
        TULLE_OFFSET(guest, stack),
        TULLE_OFFSET(guest, next),
        TULLE_OFFSET(guest, next_free),
        TULLE_OFFSET(runnable, next),
        TULLE_OFFSET(runnable, kind),
        TULLE_OFFSET(fiber, hosts_loop),
        TULLE_OFFSET(fiber, context),
        TULLE_OFFSET(fiber, frame),
        TULLE_OFFSET(fiber, stack),
        TULLE_OFFSET(thread_frame, outer),
        TULLE_OFFSET(thread_frame, id),
        TULLE_OFFSET(thread_frame, site),
        TULLE_OFFSET(thread_record, id),
        TULLE_OFFSET(thread_record, site),
        TULLE_OFFSET(thread_record, claimed),
        TULLE_OFFSET(stack_pool, m_arenas),
        TULLE_OFFSET(stack_arena, m_bytes),
        TULLE_OFFSET(stack_arena, m_guard_bytes),
        TULLE_OFFSET(stack_arena, m_slabs),
        TULLE_OFFSET(stack_arena, m_slab_count),
        TULLE_OFFSET(slab, base),
        TULLE_OFFSET(slab, next),
        TULLE_OFFSET(slab, fresh),
        TULLE_OFFSET(span, low),
        TULLE_OFFSET(span, size),
        {"size of fiber", sizeof(fiber)},
        {"size of span", sizeof(span)},
        {"size of slab", sizeof(slab)},
        {"bytes of a pooled fiber", sched::k_pooled_fiber_bytes},
        {"classes of stacks", stack::k_class_count},
        {"stack in use", stack_arena::k_in_use},
        {"context", context_kind()}, // 0: assembly; 1: ucontext; 2: setjmp
    };
};

} // namespace tulle::base

#undef TULLE_OFFSET
#undef TULLE_OFFSET_OF

using tulle::base::debug_access;

constinit tulle_debug_table tulle_debug_layout = {
    "tulle threads",
    1,
    static_cast<std::uint32_t>(std::size(debug_access::k_entries)),
    nullptr,
    nullptr,
    0,
    debug_access::k_entries};

namespace tulle::sched {

void publish_to_debuggers(scheduler const& s) noexcept {
    auto const word =
        reinterpret_cast<std::uintptr_t>(&tulle_current) + offsetof(detail::current_block, worker);
    tulle_debug_layout.current_worker =
        static_cast<std::int64_t>(word - static_cast<std::uintptr_t>(pthread_self()));
    tulle_debug_layout.scheduler = &s;
}

void publish_names_to_debuggers(void const* names) noexcept { tulle_debug_layout.names = names; }

} // namespace tulle::sched
