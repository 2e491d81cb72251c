// SPDX-License-Identifier: Apache-2.0
#include "sched/records/join.hpp"

#include "arch/exception_state.hpp"
#include "base/error.hpp"
#include "sched/modes/guest.hpp"
#include "sched/records/join_word.hpp"
#include "sched/scheduler.hpp"

#include <tulle/detail/caught_exception.hpp>
#include <tulle/detail/exceptions.hpp>
#include <tulle/schedule_point.hpp>
#include <tulle/scope.hpp>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace tulle::sched {

namespace {

// Left in a slot whose thread was joined while younger ones were not. A thief may run it.
void run_joined(record*) noexcept {}

record_deque& as_deque(detail::deque_front* front) noexcept {
    return *static_cast<record_deque*>(front);
}

// Post action of a parent that waits for a stolen child.
void post_wait_for(void* word, void* waiter) noexcept {
    auto& state = *static_cast<std::atomic<std::uintptr_t>*>(word);
    if (!join_word(state).set_waiter(reinterpret_cast<std::uintptr_t>(waiter)))
        resume(*static_cast<fiber*>(waiter));
}

void wait_stolen(record& slot) noexcept {
    join_word word(slot.state);
    if (!word.is_done()) {
        fiber& self = *this_worker()->current;
        self.set_wait({wait_kind::stolen_child, &slot.state});
        suspend(&post_wait_for, &slot.state, &self);
    }
    schedule_point();
}

// The youngest record: off the deque. True: it is the caller's; false: a thief's, and done.
bool take_youngest(record_deque& deque, record* slot) noexcept {
    record_owner owner(deque);
    if (owner.reclaim(slot, deque.holes != 0) == deque::reclaim_result::mine) return true;
    wait_stolen(*slot);
    join_word(slot->state).reset();
    owner.settle(slot);
    return false;
}

// Takes holes off down to `slot`: they are at the top once everything above them has been joined.
void discard_joined_above(record_deque& deque, record* slot) noexcept {
    while (deque.holes != 0 && deque.top() > slot && (deque.top() - 1)->run == &run_joined) {
        --deque.holes;
        static_cast<void>(take_youngest(deque, deque.top() - 1));
    }
}

// A record with younger ones above it stays in its slot as one that does nothing: a hole. INV: no
// hole is at the top after a join, as the joins of all that is above one come through join_cold.
bool take_from_below(record_deque& deque, record* slot) noexcept {
    auto const result = record_owner(deque).reclaim_below(slot, [slot](bool stolen) {
        if (!stolen) slot->run = &run_joined;
    });
    ++deque.holes;
    if (result == deque::reclaim_result::mine) return true;
    wait_stolen(*slot);
    slot->run = &run_joined; // state stays done: nobody waits when the slot is taken off
    return false;
}

// Called in a deterministic run: another thread may go first, and take what is about to be joined.
// A failed retract() has lowered `head`; while others run, it stands where it was. release: as in
// retract.
TULLE_COLD void let_others_go_before_join(record_deque& deque, record* slot) noexcept {
    if (deque.top() == slot) deque.head.store(slot + 1, std::memory_order_release);
    schedule_point();
}

// Opens a deque of the next level, or where memory is short the largest that there is. The smallest
// is 16 KiB: less than the handles of as many children.
bool open_larger(scheduler& s, fiber& f, std::uint8_t level) noexcept {
    int wanted = std::min(level + 1, deque_pool::k_levels - 1);
    while (wanted >= 0 && s.open_deque(f, static_cast<std::uint8_t>(wanted)) == nullptr) --wanted;
    return wanted >= 0;
}

} // namespace

bool discard_joined_records(record_deque& deque) noexcept {
    discard_joined_above(deque, deque.base());
    return deque.is_empty();
}

bool discard_joined_records(fiber& f) noexcept {
    for (record_deque* deque = f.records; deque != nullptr; deque = deque->older) {
        if (!discard_joined_records(*deque)) return false;
    }
    return true;
}

void lose_stolen_records(record_deque& deque) noexcept {
    for (record* slot = deque.base(); slot < deque.stolen_end() && slot < deque.top(); ++slot) {
        join_word word(slot->state);
        if (word.is_done()) continue;
        if (slot->run != &run_joined) slot->exception = left_behind_error();
        static_cast<void>(word.finish());
    }
}

bool is_joined(record const& slot) noexcept { return slot.run == &run_joined; }

} // namespace tulle::sched

namespace tulle::detail {

using namespace tulle::sched;

deque_front* open_deque_cold() noexcept {
    fiber& f = this_fiber();
    if (f.records == nullptr && scheduler::instance().open_deque(f, 0) == nullptr) {
        base::fatal("no memory for the records of forked threads (%s); raise the limit of address "
                    "space (ulimit -v)",
                    std::strerror(errno));
    }
    scheduler::instance().show_first_deque(*this_worker(), f.records);
    return f.records;
}

void published_cold(deque_front* front) noexcept {
    scheduler& s = scheduler::instance();
    record_deque& deque = sched::as_deque(front);
    if (!deque.is_asymmetric()) record_owner(deque).share_all();
    deque.clear_wake_flag(); // E1 of park/sleep_steps.hpp
    // A guest that has outlived a run time. Without another one nobody takes the record, and its
    // join runs it.
    if (TULLE_UNLIKELY(!s.is_running())) static_cast<void>(attach_caller());
    if (deque.is_full(deque.top())) {
        fiber& f = *this_worker()->current;
        s.park_records(f);
        if (!sched::open_larger(s, f, deque.level)) {
            base::fatal("no memory for more than %zu forked threads that are not joined (%s); "
                        "raise the limit of address space (ulimit -v)",
                        deque.capacity(), std::strerror(errno));
        }
        s.show_deque(*this_worker(), f.records);
    }
    park::notify(s.idle()); // E2
    schedule_point();
}

bool join_cold(deque_front* front, record* slot) noexcept {
    record_deque& deque = sched::as_deque(front);
    if (this_run() != nullptr) let_others_go_before_join(deque, slot);
    if (deque.top() > slot + 1) return take_from_below(deque, slot);
    bool const mine = take_youngest(deque, slot);
    discard_joined_above(deque, deque.base());
    return mine;
}

void close_empty_deques_cold() noexcept {
    fiber& f = *this_worker()->current;
    while (f.records->older != nullptr && !f.records->is_floor && f.records->is_empty())
        scheduler::instance().close_newest_deque(f);
}

void check_scope_cold(deque_front const* of_scope) noexcept {
    record_deque const* deque = this_worker()->current->records;
    while (deque != nullptr && deque != of_scope) deque = deque->older;
    if (deque == nullptr)
        base::fatal_misuse(
            "a thread spawns into a scope that it has not made; let it make one of its own, "
            "or spawn into a tulle::spawn_group");
}

std::exception_ptr caught_exception() noexcept {
    std::exception_ptr caught = std::current_exception();
    if (caught == nullptr) {
        this_worker()->current->sanitizer.forget_frames_below(__builtin_frame_address(0));
        base::fatal("a thread called pthread_exit, or its OS thread was cancelled; let its "
                    "function return instead");
    }
    return caught;
}

char const* caught_message() noexcept {
    try {
        throw;
    } catch (std::exception const& e) {
        return e.what();
    } catch (...) {
        return "an exception that is not a std::exception";
    }
}

void end_without_exceptions(char const* message) noexcept {
    base::fatal("%s (the program ends, as its code is compiled with -fno-exceptions)", message);
}

// The callee may wait, and end on another OS thread.
std::exception_ptr call_apart(void (*call)(void*), void* argument) noexcept {
    arch::exception_state of_caller, of_callee;
    std::exception_ptr thrown;
    arch::swap(of_caller, {}, this_worker()->exception_globals);
    try {
        call(argument);
    } catch (...) {
        thrown = caught_exception();
    }
    arch::swap(of_callee, of_caller, this_worker()->exception_globals); // the callee's is empty
    return thrown;
}

void rethrow_cold(record* slot) { std::rethrow_exception(std::exchange(slot->exception, nullptr)); }

} // namespace tulle::detail
