// SPDX-License-Identifier: Apache-2.0
#include "sched/thread_record.hpp"

#include "base/error.hpp"
#include "sched/join_word.hpp"
#include "sched/keys.hpp"
#include "sched/names.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/caught_exception.hpp>

#include <new>

namespace tulle::sched {

namespace {

constexpr int k_most_cached = 256;

void free_record(thread_record& t) noexcept {
    t.~thread_record();
    worker* const w = this_worker();
    if (w == nullptr || w->free_record_count >= k_most_cached) {
        ::operator delete(static_cast<void*>(&t));
        return;
    }
    w->free_records.push_front(*::new (static_cast<void*>(&t)) runnable(runnable_kind::thread));
    ++w->free_record_count;
}

} // namespace

thread_record* allocate_record(worker& w) noexcept {
    void* memory = w.free_records.pop_front();
    if (memory != nullptr)
        --w.free_record_count;
    else
        memory = ::operator new(sizeof(thread_record), std::nothrow);
    return memory == nullptr ? nullptr : ::new (memory) thread_record;
}

void free_cached_records(worker& w) noexcept {
    while (runnable* const r = w.free_records.pop_front()) ::operator delete(static_cast<void*>(r));
    w.free_record_count = 0;
}

void drop_reference(thread_record& t) noexcept {
    if (!detail::drop_reference(t.references)) return;
    if (t.close != nullptr) {
        if (t.exception != nullptr) base::fatal("a detached thread ended with an exception");
        t.close(&t);
    }
    free_record(t);
}

namespace {

void run_body(thread_record& t, bool detached) noexcept {
    try {
        t.run(&t);
    } catch (...) {
        std::exception_ptr caught = detail::caught_exception();
        // Its record is gone.
        if (detached) base::fatal("a detached thread ended with an exception");
        t.exception = std::move(caught);
    }
}

} // namespace

TULLE_COLD void end_thread(thread_identity& thread) noexcept {
    end_values(thread); // first: a destructor may ask for the name, or set it
    if (thread.has(k_has_name)) forget_name(thread.id);
    thread.at_end = 0;
    thread.id = 0;
}

namespace {

TULLE_COLD void end_frame(thread_frame& frame) noexcept {
    std::uint8_t const flags = frame.at_end;
    end_thread(frame);
    if ((flags & k_inherited) != 0) end_inherited(frame, (flags & k_is_bottom) != 0);
}

} // namespace

fiber* run_thread(thread_record& t) noexcept {
    fiber* const on = this_worker()->current; // the stack stays the same whatever the body does
    bool const detached = t.detached;
    thread_frame frame{on->frame, t.id, static_cast<std::uint8_t>(t.named), t.site,
                       detached ? nullptr : &t};
    on->frame = &frame;
    run_body(t, detached);
    if (frame.at_end != 0) end_frame(frame);
    on->frame = frame.outer;
    worker& w = *this_worker();
    // relaxed: one writer; whoever stops the scheduler has its own reasons to know that the thread
    // has ended
    w.threads_ended.store(w.threads_ended.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
    if (detached) return nullptr;
    auto* const waiter = reinterpret_cast<fiber*>(join_word(t.word).finish());
    drop_reference(t);
    return waiter;
}

} // namespace tulle::sched
