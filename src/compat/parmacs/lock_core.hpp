// SPDX-License-Identifier: Apache-2.0
// A lock of one word for processes that may share processors. A lock that is free goes to whoever
// comes first: whoever releases it tells the first of those that sleep, and does not wait until
// that one has woken up. One that was told and came too late several times asks for it to be handed
// over. So a process that holds the lock often keeps it while others sleep, and none waits forever.
// Source of the idea: the mutex of Go, with its two modes.
#pragma once

#include "base/spin_lock.hpp"

#include <tulle/detail/spin_wait.hpp>

#include <cstdint>
#include <mutex>

namespace tulle::parmacs {

// Of one that sleeps. Whoever has told it does not touch it any more.
template <class Machine> struct lock_entry {
    template <class T> using plain = typename Machine::template plain<T>;

    plain<lock_entry*> after{nullptr};
    plain<bool> is_granted{false}; // when told: the lock is its own already
};

// Zero bytes are a free one.
template <class Machine> class lock_core {
    template <class T> using atomic = typename Machine::template atomic<T>;
    template <class T> using plain = typename Machine::template plain<T>;
    using entry = lock_entry<Machine>;
    using section = std::lock_guard<base::basic_spin_lock<Machine>>;

public:
    struct released {
        bool was_held;
        entry* to_tell; // null: nobody
    };

    // acquire, here and in enter, pairs with the releases in unlock. relaxed: exchanged.
    [[nodiscard]] bool try_lock() noexcept {
        std::uint32_t now = 0; // mostly; a load before would move the line twice
        do {
            if (m_state.compare_exchange_weak(now, now | k_held, std::memory_order_acquire,
                                              std::memory_order_relaxed))
                return true;
        } while ((now & k_held) == 0);
        return false;
    }
    // A hint; relaxed: nothing is read on its strength.
    [[nodiscard]] bool looks_held() const noexcept {
        return (m_state.load(std::memory_order_relaxed) & k_held) != 0;
    }
    // True: the caller has the lock. Otherwise its entry is in the list, and it sleeps until it is
    // told. `was_told`: it has been, but the lock was not its own; `insists`: too often.
    [[nodiscard]] bool enter(entry& own, bool was_told, bool insists) noexcept {
        section const held(m_list_lock);
        std::uint32_t now = m_state.load(std::memory_order_relaxed);
        bool is_free = false;
        std::uint32_t next = 0;
        do {
            now = when_nobody_leaves(now);
            is_free = (now & k_held) == 0;
            next = (was_told ? now & ~k_told : now) |
                   (is_free ? k_held : k_queued | (insists ? k_hand_over : 0));
        } while (!m_state.compare_exchange_weak(now, next, std::memory_order_acquire,
                                                std::memory_order_relaxed));
        if (is_free) return true;
        own.is_granted.store(false);
        insert(own, was_told);
        return false;
    }
    // False: somebody is to be told, or nobody holds it, and the caller calls unlock().
    [[nodiscard]] bool try_unlock() noexcept {
        std::uint32_t now = k_held; // mostly
        do {
            if (m_state.compare_exchange_weak(now, now & ~k_held, std::memory_order_release,
                                              std::memory_order_relaxed))
                return true;
        } while (may_just_leave(now));
        return false;
    }
    [[nodiscard]] released unlock() noexcept {
        if (try_unlock()) return {true, nullptr};
        // relaxed: while the lock is held, its bit stays, and so does the list.
        if ((m_state.load(std::memory_order_relaxed) & k_held) == 0) return {false, nullptr};
        return leave_to_first();
    }
    // Instead of unlock(), in two steps, for a holder that has something short to do behind a full
    // fence before it lets another one go on: begin_leaving() is that fence, and end_leaving()
    // takes no exchange, as nobody changes the state meanwhile. False: somebody sleeps, or has been
    // told, or nobody holds the lock; nothing has happened, and the caller calls unlock().
    [[nodiscard]] bool begin_leaving() noexcept {
        return Machine::exchange_and_fence(m_state, k_held, k_held | k_leaving);
    }
    void end_leaving() noexcept {
        m_state.store(0, std::memory_order_release); // pairs with try_lock and enter
    }

private:
    static constexpr std::uint32_t k_held = 1;
    static constexpr std::uint32_t k_leaving = 16; // beside k_held and no other
    // Changed with the lock of the list held:
    static constexpr std::uint32_t k_queued = 2;    // the list has entries
    static constexpr std::uint32_t k_told = 4;      // one is awake that was told, and will enter
    static constexpr std::uint32_t k_hand_over = 8; // the first insists

    // relaxed: whoever leaves stores once more, and the caller's exchange orders.
    [[nodiscard]] std::uint32_t when_nobody_leaves(std::uint32_t now) const noexcept {
        for (detail::spin_wait<Machine> wait; (now & k_leaving) != 0;) {
            wait.step();
            now = m_state.load(std::memory_order_relaxed);
        }
        return now;
    }
    [[nodiscard]] static bool may_just_leave(std::uint32_t state) noexcept {
        bool const somebody_sees_to_it = (state & (k_told | k_hand_over)) == k_told;
        return (state & k_held) != 0 && ((state & k_queued) == 0 || somebody_sees_to_it);
    }

    // While the lock is held nobody changes the state without that of the list.
    [[nodiscard]] released leave_to_first() noexcept {
        section const held(m_list_lock);
        std::uint32_t const now = m_state.load(std::memory_order_relaxed);
        entry* const first = m_first.load();
        m_first.store(first->after.load());
        bool const is_granted = (now & k_hand_over) != 0;
        first->is_granted.store(is_granted);
        std::uint32_t const more = m_first.load() != nullptr ? k_queued : 0;
        std::uint32_t const rest = now & ~(k_held | k_queued | k_hand_over);
        m_state.store(rest | more | (is_granted ? k_held : k_told), std::memory_order_release);
        return {true, first};
    }
    void insert(entry& own, bool first) noexcept {
        if (first || m_first.load() == nullptr) {
            own.after.store(m_first.load());
            m_first.store(&own);
            return;
        }
        entry* last = m_first.load();
        while (last->after.load() != nullptr) last = last->after.load();
        own.after.store(nullptr);
        last->after.store(&own);
    }

    atomic<std::uint32_t> m_state{0};
    base::basic_spin_lock<Machine> m_list_lock;
    plain<entry*> m_first{nullptr};
};

} // namespace tulle::parmacs
