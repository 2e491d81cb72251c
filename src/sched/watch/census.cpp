// SPDX-License-Identifier: Apache-2.0
#include "sched/watch/census.hpp"

#include "base/sanitize.hpp"
#include "os/careful_read.hpp"
#include "sched/modes/guest.hpp"

#include <algorithm>
#include <cstring>

namespace tulle::sched {

namespace {

constexpr std::size_t k_most_nested = 64; // a list that changes meanwhile has an end, too

// What a load() does; that is a function of its own without optimization, which the sanitizer would
// see. relaxed: see set_wait.
template <class T> TULLE_NO_SANITIZE T load_unseen(std::atomic<T> const& from) noexcept {
    static_assert(sizeof from == sizeof(T));
    T value;
    __atomic_load(reinterpret_cast<T const*>(&from), &value, __ATOMIC_RELAXED);
    return value;
}

// False where the memory holds no fiber: its stack is cached, or the fiber is being made.
TULLE_NO_SANITIZE bool is_fiber(stack::span stack) noexcept {
    fiber const& f = fiber_of(stack);
    // relaxed: see census.hpp.
    return load_unseen(f.alive) == fiber::k_alive_mark && f.stack.low == stack.low;
}

// Its saved context lies on its own stack, unless it has gone on meanwhile.
TULLE_NO_SANITIZE arch::registers saved_registers(fiber const& f) noexcept {
    std::uintptr_t at = 0; // every backend's context is one pointer into the stack
    static_assert(sizeof at == sizeof f.context);
    __builtin_memcpy(&at, &f.context, sizeof at);
    auto const low = reinterpret_cast<std::uintptr_t>(f.stack.low);
    bool const is_ours = f.kind_of_stack != fiber_kind::pooled ||
                         (at >= low && at + arch::backend::k_saved_bytes <= low + f.stack.size);
    return at != 0 && is_ours ? arch::backend::saved_registers(f.context) : arch::registers{};
}

TULLE_NO_SANITIZE void copy_outer(thread_frame const& innermost, thread_view& seen) noexcept {
    seen.nested = 1;
    for (auto const* outer = innermost.outer; outer != nullptr && seen.nested < k_most_nested;
         outer = outer->outer, ++seen.nested) {
        if (seen.outer_count < seen.outer.size()) seen.outer[seen.outer_count++] = outer->id;
    }
}

TULLE_NO_SANITIZE void copy(fiber const& f, thread_view& seen) noexcept {
    seen.stands_on = &f;
    seen.stack_kind = f.kind_of_stack;
    seen.stolen = f.stolen;
    seen.stack = f.stack;
    seen.has_own_stack = f.kind_of_stack == fiber_kind::pooled && !f.hosts_loop;
    seen.has_variables = f.thread_pointer != nullptr;
    seen.id = f.stolen != nullptr ? f.base.id : 0;
    if (f.frame != nullptr) {
        seen.id = f.frame->id;
        seen.site = f.frame->site;
        copy_outer(*f.frame, seen);
    }
    seen.waits = {load_unseen(f.waits_for), load_unseen(f.wait_object)};
}

TULLE_NO_SANITIZE arch::registers waiting_registers(worker_remote const& guest) noexcept {
    return arch::registers_of(guest.waits_at);
}

// The registers of a worker that a report's signal has stopped.
TULLE_NO_SANITIZE arch::registers interrupted_registers(worker_remote const& w) noexcept {
    return w.stopped_at;
}

// What a worker that is not the caller's runs, which may be over.
TULLE_NO_SANITIZE fiber const* fiber_on(worker_remote const& w) noexcept { return w.current; }

} // namespace

worker_remote const* census::runs_on(fiber const& f) const noexcept {
    for (auto const& w : m_scheduler.m_registry.cores()) {
        if (fiber_on(*w) == &f) return w.get();
    }
    return nullptr;
}

// False: no thread stands on it.
bool census::inspect(fiber const& f, thread_view& seen, depth how) const noexcept {
    copy(f, seen);
    if (seen.id == 0 && seen.stolen == nullptr) return false; // a loop without work
    if (worker_remote const* const w = runs_on(f)) {
        seen.worker = w->index;
        // relaxed, these: written once, or a finding that may be old.
        seen.tid = w->tid.load(std::memory_order_relaxed);
        seen.found = w->found.load(std::memory_order_relaxed);
        seen.found_call = w->found_call.load(std::memory_order_relaxed);
        seen.waits = {};
        if (how == depth::registers) seen.from = interrupted_registers(*w);
    } else if (how == depth::registers) {
        seen.from = saved_registers(f);
    }
    return true;
}

void census::visit_pooled(void* on_tour, stack::span stack) noexcept {
    auto const& t = *static_cast<tour*>(on_tour);
    thread_view seen;
    if (is_fiber(stack) && t.of.inspect(fiber_of(stack), seen, t.how)) t.call(t.argument, seen);
}

void census::visit_guests(tour const& t) const noexcept {
    for (guest& g : m_scheduler.m_guests) {
        worker_remote const& w = g.remote();
        thread_view seen;
        copy(g.stack, seen);
        seen.tid = w.tid.load(std::memory_order_relaxed); // relaxed: see census.hpp
        if (seen.tid == 0) continue;
        if (t.how == depth::registers && seen.waits.kind != wait_kind::nothing)
            seen.from = waiting_registers(w);
        t.call(t.argument, seen);
    }
}

void census::visit(visitor call, void* argument, depth how) const noexcept {
    tour t{*this, call, argument, how};
    thread_view seen;
    if (m_scheduler.m_settings.adopt_caller && inspect(m_scheduler.m_adopted, seen, how))
        call(argument, seen);
    visit_guests(t);
    if (m_scheduler.m_stacks != nullptr) m_scheduler.m_stacks->visit(&visit_pooled, &t);
}

thread_view census::current_of(worker const& w) noexcept {
    thread_view seen;
    if (w.current == nullptr) return seen;
    copy(*w.current, seen);
    seen.worker = w.index;
    seen.tid = w.tid.load(std::memory_order_relaxed); // relaxed: written once
    return seen;
}

thread_id census::number_on(void const* fiber_address) noexcept {
    auto const& f = *static_cast<fiber const*>(fiber_address);
    std::uint32_t mark = 0;
    if (auto const alive = os::careful_read(&f.alive)) std::memcpy(&mark, &*alive, sizeof mark);
    if (mark != fiber::k_alive_mark) return 0;
    std::uint64_t const frame = os::careful_read(&f.frame).value_or(0);
    void const* const number =
        frame != 0 ? &reinterpret_cast<thread_frame const*>(frame)->id : &f.base.id;
    return os::careful_read(number).value_or(0);
}

unstarted_counts census::unstarted() const noexcept {
    unstarted_counts counts;
    for (worker_remote const* const w : m_scheduler.workers()) counts.ready += w->ready.size_hint();
    counts.injected = m_scheduler.m_injector.count_queued();
    counts.starving = m_scheduler.m_injector.count_unstarted();
    counts.forked = m_scheduler.m_parked.count_records();
    return counts;
}

std::size_t census::count_waiting() const noexcept {
    std::size_t count = 0;
    // One that runs in the place of its joiner stands on the same stack: both wait.
    auto const add = [](void* sum, thread_view const& seen) noexcept {
        if (seen.worker < 0)
            *static_cast<std::size_t*>(sum) += std::max(seen.nested, std::size_t{1});
    };
    visit(add, &count, depth::waits);
    return count;
}

} // namespace tulle::sched
