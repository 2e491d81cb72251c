// SPDX-License-Identifier: Apache-2.0
//
// The environment of the synchronisation cores on the simulated machine: a thread parks on a futex
// of its own, time-outs are fired by a thread of the test, and time stands still. With
// posts_elsewhere, what is to be done once a thread has suspended is done by another thread of the
// test, as by the context that comes next on its worker: then the one that has suspended may go on
// in the middle of it.
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
        plain<bool> inserted{false}; // this and the next: guarded by timer_lock
        plain<timer*> next{nullptr};
    };
    struct post_request {
        void (*post)(void*, void*);
        void* a;
        void* b;
    };

    parking_world() { current = this; }
    parking_world(parking_world const&) = delete;
    parking_world& operator=(parking_world const&) = delete;
    ~parking_world() {
        if (execution::is_running()) check(timers == nullptr, "no timer outlives its wait");
    }

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
        timer* before = nullptr;
        for (timer* at = timers; at != &t; at = at->next.load()) {
            check(at != nullptr, "a timer that is inserted is in the list");
            before = at;
        }
        timer* const next = t.next.load();
        if (before == nullptr)
            timers = next;
        else
            before->next.store(next);
        t.inserted.store(false);
    }
    // The body of the thread that runs the posts of others, until so many of them have called
    // end_suspending().
    void run_posts(int others) {
        // Pairs with end_suspending.
        while (ended.load(std::memory_order_acquire) < others) {
            // Pairs with hand_over.
            if (post_request const* const asked = next_post.load(std::memory_order_acquire)) {
                post_request const copy = *asked;
                // relaxed: the frame that it was in is read no more
                next_post.store(nullptr, std::memory_order_relaxed);
                copy.post(copy.a, copy.b);
            } else {
                machine::pause();
            }
        }
    }
    void end_suspending() { ended.fetch_add(1, std::memory_order_release); } // pairs with run_posts
    void hand_over(post_request const& to_be_run) {
        post_request const* none = nullptr;
        while (!next_post.compare_exchange_strong(none, &to_be_run, std::memory_order_release,
                                                  std::memory_order_relaxed)) {
            none = nullptr;
            machine::pause();
        }
    }

    static inline parking_world* current = nullptr;

    std::array<atomic<std::uint32_t>, 8> awake;
    base::basic_spin_lock<machine> timer_lock;
    timer* timers = nullptr; // guarded by timer_lock
    int time_outs = 0;       // guarded by timer_lock
    atomic<post_request const*> next_post{nullptr};
    atomic<int> ended{0};
    int parks = 0; // counts for the test itself
};

// Of which no wait is left when it is destroyed.
struct cancellation : wait::cancellation_core<machine> {
    ~cancellation() {
        if (execution::is_running())
            check(!has_nodes(), "no wait is left in what could have ended it");
    }
};

enum class posts { in_place, elsewhere };

template <bool Deterministic = false, posts Posts = posts::in_place> struct basic_parking {
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
    // Every second contended unlock hands off.
    static constexpr std::uint32_t k_passed_per_clock = 2;
    static constexpr std::uint64_t k_longest_wait_ns = 0;

    static handle self() { return &parking_world::current->awake[execution::current().running()]; }
    static void set_wait(handle thread, wait::wait_reason /*reason*/) noexcept {
        check(thread == self(), "a thread tells what it waits for itself");
    }
    static void suspend(void (*post)(void*, void*), void* a, void* b) noexcept {
        parking_world& w = *parking_world::current;
        handle const mine = self();
        parking_world::post_request const request{post, a, b};
        if (Posts == posts::elsewhere)
            w.hand_over(request);
        else
            post(a, b);
        ++w.parks;
        // Pairs with resume.
        while (mine->load(std::memory_order_acquire) == 0) machine::futex_wait(*mine, 0);
        // relaxed: the next resume comes after the next publication
        mine->store(0, std::memory_order_relaxed);
    }
    static void resume(handle thread) noexcept {
        check(thread != nullptr, "there is a thread to resume");
        // Pairs with suspend.
        check(thread->exchange(1, std::memory_order_release) == 0, "a thread is resumed once");
        machine::futex_wake(*thread, 1);
    }
    static void insert_timer(timer& t) noexcept {
        parking_world& w = *parking_world::current;
        std::lock_guard const held(w.timer_lock);
        t.next.store(w.timers);
        t.inserted.store(true);
        w.timers = &t;
    }
    static void remove_timer(timer& t) noexcept {
        parking_world& w = *parking_world::current;
        std::lock_guard const held(w.timer_lock);
        if (t.inserted.load()) w.take_out(t);
    }
    static std::uint64_t now() noexcept { return 1; }
    static bool has_heavy_fence() noexcept { return execution::current().has_heavy_fence(); }
    static void schedule_point() noexcept {}
    // If at all, the first thread: the others are the OS threads of the program's own.
    static bool is_deterministic() noexcept {
        return Deterministic && execution::current().running() == 1;
    }
    static void relax() noexcept { machine::pause(); }
    [[nodiscard]] static bool has_ready_threads() noexcept { return false; }
};

using parking = basic_parking<>;
using parking_elsewhere = basic_parking<false, posts::elsewhere>;

// Of the code under test; the environment above orders more than each test needs.
inline std::string survivors_in_code(std::vector<mutant> mutants) {
    std::erase_if(mutants, [](mutant const& m) {
        return survivors({m}).find("sync_world.hpp") != std::string::npos;
    });
    return survivors(mutants);
}

} // namespace tulle::model
