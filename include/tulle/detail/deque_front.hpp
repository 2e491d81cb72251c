// SPDX-License-Identifier: Apache-2.0
// The owner's side of the asymmetric split deque: what fork and join touch when nothing was stolen.
// No locked instruction, no fence.
// The other side, the proof and the papers: src/deque/README.md.
//   publish   A1 store head; compiler barrier; A2 load limit
//   sleeper   B1 store limit; membarrier; B2 load head
//   retract   C1 store head; compiler barrier; C2 load split
//   thief     D1 store split; membarrier; D2 load head
// The membarrier(2) of a sleeper or a thief is a full fence on the owner's processor, too.
#pragma once

#include <tulle/detail/attributes.hpp>
#include <tulle/detail/machine.hpp>
#include <tulle/detail/record.hpp>

namespace tulle::detail {

template <class Machine, class Slot> struct alignas(64) basic_deque_front {
    template <class T> using atomic = typename Machine::template atomic<T>;

    atomic<Slot*> head{nullptr}; // next free slot; written by the owner only
    // Publishing at or above it takes the cold path: the last slot, or the wake flag of a
    // sleeping worker.
    atomic<Slot*> limit{nullptr};
    // Slots below are shared with thieves; written under the deque's lock.
    atomic<Slot*> split{nullptr};

    // relaxed: only the owner writes head.
    TULLE_INLINE Slot* top() const noexcept {
        return Machine::template load<std::memory_order_relaxed>(head);
    }

    // Makes the slot at top() visible to thieves. False: call the cold path (the wake flag is set,
    // or the array is full).
    [[nodiscard]] TULLE_INLINE bool publish(Slot* slot) noexcept {
        // A1; pairs with the acquire of head in deque_thief::share.
        Machine::template store<std::memory_order_release>(head, slot + 1);
        Machine::compiler_barrier();
        // A2; relaxed: ordered by the sleeper's membarrier.
        return slot < Machine::template load<std::memory_order_relaxed>(limit);
    }

    // Takes the youngest slot back. False: it is not the youngest, or a thief may have it; call the
    // cold path.
    [[nodiscard]] TULLE_INLINE bool retract(Slot* slot) noexcept {
        Slot* own = slot;
        // So that slot + 1 is computed afresh, not kept in a register over all that ran since the
        // fork.
        __asm__("" : "+r"(own));
        if (TULLE_UNLIKELY(top() != own + 1)) return false;
        // C1; release: a thief that reads this head (D2) must see the older records, and no release
        // sequence reaches back to their publish.
        Machine::template store<std::memory_order_release>(head, slot);
        Machine::compiler_barrier();
        // C2; relaxed: ordered by the thief's membarrier.
        return slot >= Machine::template load<std::memory_order_relaxed>(split);
    }
};

using deque_front = basic_deque_front<native_machine, record>;

} // namespace tulle::detail
