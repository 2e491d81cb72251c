// SPDX-License-Identifier: Apache-2.0
//
// The environment of the synchronisation cores on the simulated machine: a thread parks on a futex of its own, time-outs are fired by a
// thread of the test, and time stands still.
#pragma once

#include "base/spin_lock.hpp"
#include "explorer/explore.hpp"
#include "wait/cancellation_core.hpp"
#include "wait/wait_kind.hpp"

#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

namespace tulle::model {

struct parking_world {
    struct timer {
        std::uint64_t deadline = 0;
        void (*fire)(timer&) noexcept = nullptr;
        bool inserted = false;
        timer* next = nullptr;
    };

    parking_world() { current = this; }

    // By the test's clock thread: the time of all that wait now is up.
    void time_passes() {
        std::lock_guard const held(timer_lock);
        while (timer* const t = timers) {
            take_out(*t);
            ++time_outs;
            t->fire(*t);
        }
    }
    void take_out(timer& t) {
        timer** link = &timers;
        while (*link != &t) {
            check(*link != nullptr, "a timer that is inserted is in the list");
            link = &(*link)->next;
        }
        *link = t.next;
        t.inserted = false;
    }

    static inline parking_world* current = nullptr;

    std::array<atomic<std::uint32_t>, 8> awake;
    base::basic_spin_lock<machine> timer_lock;
    timer* timers = nullptr; // guarded by timer_lock
    int time_outs = 0;       // guarded by timer_lock
    int parks = 0;           // counts for the test itself
};

template <bool HeavyFence, bool Deterministic = false> struct basic_parking {
    using machine = model::machine;
    using front_machine = model::machine;
    using handle = atomic<std::uint32_t>*;
    using timer = parking_world::timer;
    using cancellation = wait::cancellation_core<model::machine>;
    using lock = base::basic_spin_lock<model::machine>;

    static constexpr bool k_may_read_unlocked = true;
    static constexpr int k_spin_rounds = 1;
    static constexpr std::uint32_t k_most_pauses = 1;
    static constexpr std::uint16_t k_most_tries = 2;
    static constexpr std::uint32_t k_passed_per_clock = 2; // every second contended unlock hands off
    static constexpr std::uint64_t k_longest_wait_ns = 0;

    static handle self() { return &parking_world::current->awake[execution::current().running()]; }
    static void set_wait(handle thread, wait::wait_reason /*reason*/) noexcept {
        check(thread == self(), "a thread tells what it waits for itself");
    }
    static void suspend(void (*post)(void*, void*), void* a, void* b) noexcept {
        handle const mine = self();
        ++parking_world::current->parks;
        post(a, b);
        while (mine->load(std::memory_order_acquire) == 0) machine::futex_wait(*mine, 0); // pairs with resume
        mine->store(0, std::memory_order_relaxed); // relaxed: the next resume comes after the next publication
    }
    static void resume(handle thread) noexcept {
        check(thread != nullptr, "there is a thread to resume");
        check(thread->exchange(1, std::memory_order_release) == 0, "a thread is resumed once"); // pairs with suspend
        machine::futex_wake(*thread, 1);
    }
    static void insert_timer(timer& t) noexcept {
        parking_world& w = *parking_world::current;
        std::lock_guard const held(w.timer_lock);
        t.next = w.timers;
        t.inserted = true;
        w.timers = &t;
    }
    static void remove_timer(timer& t) noexcept {
        parking_world& w = *parking_world::current;
        std::lock_guard const held(w.timer_lock);
        if (t.inserted) w.take_out(t);
    }
    static std::uint64_t now() noexcept { return 1; }
    static bool has_heavy_fence() noexcept { return HeavyFence; }
    static void schedule_point() noexcept {}
    // If at all, the first thread: the others are the OS threads of the program's own.
    static bool is_deterministic() noexcept { return Deterministic && execution::current().running() == 1; }
    static void relax() noexcept { machine::pause(); }
    [[nodiscard]] static bool has_ready_threads() noexcept { return false; }
};

using parking = basic_parking<true>;

// Of the code under test; the environment above orders more than each test needs.
inline std::string survivors_in_code(std::vector<mutant> mutants) {
    std::erase_if(mutants, [](mutant const& m) { return survivors({m}).find("sync_world.hpp") != std::string::npos; });
    return survivors(mutants);
}

} // namespace tulle::model
