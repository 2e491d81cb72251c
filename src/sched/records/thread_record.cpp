// SPDX-License-Identifier: Apache-2.0
#include "sched/records/thread_record.hpp"

#include "base/error.hpp"
#include "sched/records/join_word.hpp"
#include "sched/records/shared_blocks.hpp"
#include "sched/scheduler.hpp"
#include "sched/values/keys.hpp"
#include "sched/values/names.hpp"

#include <tulle/detail/caught_exception.hpp>

#include <cstring>
#include <new>
#include <utility>

namespace tulle::sched {

namespace {

constexpr int k_most_cached = 2 * shared_blocks::k_in_bundle;
static_assert(sizeof(thread_record) <= detail::k_block_size);

constinit shared_blocks s_shared;

void delete_blocks(runnable_list& blocks) noexcept {
    while (runnable* const r = blocks.pop_front()) ::operator delete(static_cast<void*>(r));
}

TULLE_COLD void give_bundle(worker& w) noexcept {
    runnable_list bundle;
    for (int k = 0; k != shared_blocks::k_in_bundle; ++k)
        bundle.push_back(*w.free_records.pop_front());
    w.free_record_count -= shared_blocks::k_in_bundle;
    if (!s_shared.give(bundle)) delete_blocks(bundle);
}

TULLE_COLD void* take_bundle(worker& w) noexcept {
    if (!s_shared.take(w.free_records)) return ::operator new(detail::k_block_size, std::nothrow);
    w.free_record_count = shared_blocks::k_in_bundle - 1;
    return w.free_records.pop_front();
}

void* allocate_memory(worker& w) noexcept {
    if (TULLE_UNLIKELY(w.free_record_count == 0)) return take_bundle(w);
    --w.free_record_count;
    return w.free_records.pop_front();
}

void free_memory(void* block) noexcept {
    worker* const w = this_worker();
    if (w == nullptr) return ::operator delete(block);
    w->free_records.push_front(*::new (block) runnable(runnable_kind::thread));
    if (TULLE_UNLIKELY(++w->free_record_count == k_most_cached)) give_bundle(*w);
}

void free_record(thread_record& t) noexcept {
    t.~thread_record();
    free_memory(&t);
}

} // namespace

thread_record* allocate_record(worker& w) noexcept {
    void* const memory = allocate_memory(w);
    return memory == nullptr ? nullptr : ::new (memory) thread_record;
}

// The worker may use its list again while memory is given back.
void free_cached_records(worker& w) noexcept {
    runnable_list blocks = std::exchange(w.free_records, {});
    w.free_record_count = 0;
    delete_blocks(blocks);
}

void free_shared_records() noexcept {
    runnable_list bundle;
    while (s_shared.take(bundle)) delete_blocks(bundle);
}

namespace {

// In a handler. `name`: the thread's, in quotes and behind a blank, or nothing.
[[noreturn]] TULLE_COLD void end_of_uncaught(char const* name) noexcept {
    base::fatal(
        "a detached thread%s ended with an exception: %s; nobody joins it, so it has to catch "
        "what it throws",
        name, detail::caught_message());
}

[[noreturn]] TULLE_COLD void end_of_uncaught_in(thread_id id) noexcept {
    char quoted[64] = " \"";
    if (!copy_name(id, quoted + 2, sizeof quoted - 3)) end_of_uncaught("");
    std::strcat(quoted, "\"");
    end_of_uncaught(quoted);
}

[[noreturn]] TULLE_COLD void end_of_dropped(std::exception_ptr const& exception) noexcept {
    try {
        std::rethrow_exception(exception);
    } catch (...) {
        end_of_uncaught("");
    }
}

} // namespace

void end_record(thread_record& t) noexcept {
    if (t.close != nullptr) {
        if (t.exception != nullptr) end_of_dropped(t.exception);
        t.close(&t);
    }
    free_record(t);
}

namespace {

// The record of a detached thread is gone when its function has begun.
void run_body(thread_record& t, bool detached, thread_identity const& own) noexcept {
    try {
        t.run(&t);
    } catch (...) {
        std::exception_ptr caught = detail::caught_exception();
        if (detached) end_of_uncaught_in(own.id);
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
    run_body(t, detached, frame);
    if (frame.at_end != 0) end_frame(frame);
    on->frame = frame.outer;
    worker& w = *this_worker();
    // relaxed: one writer; whoever stops the scheduler has its own reasons to know that the thread
    // has ended
    w.threads_ended.store(w.threads_ended.load(std::memory_order_relaxed) + 1,
                          std::memory_order_relaxed);
    if (detached) return nullptr;
    std::uintptr_t const waiter = join_word(t.word).finish();
    if (TULLE_LIKELY(waiter != k_abandoned)) return reinterpret_cast<fiber*>(waiter);
    drop_both_references(t);
    return nullptr;
}

} // namespace tulle::sched

namespace tulle::detail {

void* allocate_block() noexcept {
    sched::worker* const w = sched::this_worker();
    return w == nullptr ? ::operator new(k_block_size, std::nothrow) : sched::allocate_memory(*w);
}

void free_block(void* block) noexcept { sched::free_memory(block); }

} // namespace tulle::detail
