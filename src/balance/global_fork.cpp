// SPDX-License-Identifier: Apache-2.0
// The slow half of <tulle/global_fork.hpp>. It does what sched/records/join.cpp does for forked
// threads, but its deques are given back when they are empty, and its parents wait for a signal,
// since the thief may belong to another process.
#include "balance/balance.hpp"
#include "sched/records/join_word.hpp"
#include "sched/switch.hpp"

#include <tulle/global_fork.hpp>
#include <tulle/schedule_point.hpp>
#include <tulle/signal.hpp>

#include <utility>

namespace tulle::balance {

namespace {

global_deque& as_global(detail::global_deque_front* front) noexcept {
    return *static_cast<global_deque*>(front);
}

void wait_for_thief(global_record& slot) noexcept {
    sched::join_word word(slot.state);
    if (word.is_done()) return;
    signal ended{1};
    if (word.set_waiter(reinterpret_cast<std::uintptr_t>(&ended))) ended.wait();
}

// Takes the youngest record off the deque. True: the caller runs it. False: a thief has run it.
bool take_youngest_record(global_deque& deque, global_record* slot) noexcept {
    global_owner owner(deque);
    if (owner.reclaim(slot, deque.joined != 0) == deque::reclaim_result::mine) return true;
    wait_for_thief(*slot);
    sched::join_word(slot->state).reset();
    owner.settle(slot);
    return false;
}

// Takes joined records off the top, once all above them have been joined.
void discard_joined(global_deque& deque) noexcept {
    while (deque.joined != 0 && !deque.is_empty() &&
           (deque.top() - 1)->code == global_record::k_joined) {
        --deque.joined;
        static_cast<void>(take_youngest_record(deque, deque.top() - 1));
    }
}

// A record with younger ones above it stays in the deque as one that does nothing. Its body stays
// what it is.
bool take_record_below(global_deque& deque, global_record* slot) noexcept {
    auto const result = global_owner(deque).reclaim_below(slot, [slot](bool stolen) {
        if (!stolen) slot->code = global_record::k_joined;
    });
    ++deque.joined;
    if (result == deque::reclaim_result::mine) return true;
    wait_for_thief(*slot);
    // The state stays done: nobody waits when the slot is taken off.
    slot->code = global_record::k_joined;
    return false;
}

constexpr auto k_deque = detail::attachment_of::global_deque;

} // namespace

} // namespace tulle::balance

namespace tulle::detail {

using namespace tulle::balance;

global_room find_global_room_cold(global_deque_front* front) noexcept {
    if (front != nullptr) {
        global_deque& deque = as_global(front);
        return deque.is_full(deque.top()) ? global_room{nullptr, false}
                                          : global_room{front, deque.is_empty()};
    }
    global_deque* const deque = balance_of_caller().open();
    set_attachment(k_deque, deque != nullptr ? static_cast<global_deque_front*>(deque) : nullptr);
    return {deque, true};
}

void global_published_cold(global_deque_front* front) noexcept {
    global_deque& deque = as_global(front);
    deque.owner->published(deque);
    schedule_point();
}

bool join_global_cold(global_deque_front* front, global_record* slot) noexcept {
    global_deque& deque = as_global(front);
    if (deque.top() > slot + 1) return take_record_below(deque, slot);
    bool const is_mine = take_youngest_record(deque, slot);
    discard_joined(deque);
    return is_mine;
}

void leave_global_deque_cold() noexcept {
    auto* const front = current_global_deque();
    if (front == nullptr) return;
    global_deque& deque = as_global(front);
    if (!deque.is_empty()) return;
    set_attachment(k_deque, nullptr);
    deque.owner->close(deque);
}

void rethrow_global_cold(global_record* slot) {
    std::rethrow_exception(std::exchange(slot->exception, nullptr));
}

} // namespace tulle::detail
