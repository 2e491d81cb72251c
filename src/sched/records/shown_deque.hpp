// SPDX-License-Identifier: Apache-2.0
// The deque of the stack that a worker stands on, as others see it. A worker that goes to sleep
// sets the wake flags of all deques that are shown, and must not miss one that is shown at that
// moment:
//   owner    S1 show it; light fence; S2 does somebody sleep?
//   sleeper  H1 count itself asleep; heavy fence; B1 set the wake flag of the deque that is shown
// Either the sleeper finds it at B1, or its owner sees the sleeper at S2 and sets the wake flag
// itself.
#pragma once

#include <tulle/detail/attributes.hpp>

#include <atomic>

namespace tulle::sched {

template <class Machine, class Deque> class shown_deque {
    template <class T> using atomic = typename Machine::template atomic<T>;

public:
    // The worker calls this; null: it shows none. `asymmetric` is read behind the store, where it
    // is needed.
    template <class IdleSet>
    TULLE_INLINE void show(Deque* deque, IdleSet const& idle, bool const& asymmetric) noexcept {
        m_deque.store(deque, std::memory_order_release); // S1; pairs with get()
        if (deque == nullptr) return;
        if (TULLE_LIKELY(asymmetric))
            Machine::compiler_barrier();
        else
            Machine::fence_seq_cst();
        if (TULLE_UNLIKELY(idle.somebody_sleeps())) deque->set_wake_flag(); // S2
    }
    // B1 of park/sleep_steps.hpp. False: none is shown.
    bool set_wake_flag() noexcept {
        Deque* const deque = get();
        if (deque != nullptr) deque->set_wake_flag();
        return deque != nullptr;
    }
    // Called while nobody else reads it. relaxed for that reason.
    void forget() noexcept { m_deque.store(nullptr, std::memory_order_relaxed); }

    // Anyone may call this; null: none is shown. acquire pairs with show(): the deque is open.
    [[nodiscard]] TULLE_INLINE Deque* get() const noexcept {
        return m_deque.load(std::memory_order_acquire);
    }

private:
    atomic<Deque*> m_deque{nullptr};
};

} // namespace tulle::sched
