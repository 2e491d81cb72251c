// SPDX-License-Identifier: Apache-2.0
#include "runtime_fixture.hpp"
#include "sched/switch.hpp"

#include <array>
#include <cerrno>
#include <cfenv>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include <unistd.h>

namespace {

using namespace tulle;

class switch_test : public over_workers {};
INSTANTIATE_TEST_SUITE_P(workers, switch_test, ::testing::Values(1, 2, 4));

TEST_P(switch_test, resumed_before_or_after_it_has_suspended) {
    for (int round = 0; round < 3000; ++round) {
        one_shot event;
        auto firing = spawn([&event] { event.fire(); });
        if (round % 2 == 0) this_thread::yield();
        event.wait();
        firing.join();
    }
}

TEST_P(switch_test, two_threads_wake_each_other) {
    constexpr int k_rounds = 2000;
    std::vector<one_shot> ping(k_rounds), pong(k_rounds);
    auto const other = [&] {
        for (int k = 0; k < k_rounds; ++k) {
            ping[static_cast<std::size_t>(k)].wait();
            pong[static_cast<std::size_t>(k)].fire();
        }
    };
    auto t = spawn(other);
    for (int k = 0; k < k_rounds; ++k) {
        ping[static_cast<std::size_t>(k)].fire();
        pong[static_cast<std::size_t>(k)].wait();
    }
    t.join();
}

TEST_P(switch_test, yield_with_nothing_else_returns) {
    for (int k = 0; k < 10000; ++k) this_thread::yield();
}

TEST_P(switch_test, main_stays_on_its_os_thread) {
    auto const self = std::this_thread::get_id();
    std::atomic<bool> stop{false};
    std::vector<thread<void>> others;
    for (int k = 0; k < 8; ++k) others.push_back(spawn([&] { yield_until(stop); }));
    for (int k = 0; k < 2000; ++k) {
        this_thread::yield();
        ASSERT_EQ(std::this_thread::get_id(), self);
        ASSERT_EQ(this_thread::worker_index(), 0);
    }
    stop = true;
    for (auto& t : others) t.join();
    this_thread::sleep_for(std::chrono::microseconds(100));
    EXPECT_EQ(std::this_thread::get_id(), self);
}

TEST(switch_fairness, threads_that_yield_take_turns_on_one_worker) {
    initialize({.workers = 1});
    constexpr int k_threads = 5, k_turns = 1000;
    std::array<long, k_threads> turns{};
    std::vector<thread<long>> threads;
    for (std::size_t self = 0; self < k_threads; ++self) {
        threads.push_back(spawn([&turns, self] {
            long widest = 0;
            for (int k = 0; k < k_turns; ++k) {
                ++turns[self];
                for (long const other : turns) widest = std::max(widest, turns[self] - other);
                this_thread::yield();
            }
            return widest;
        }));
    }
    for (auto& t : threads) EXPECT_LE(t.join(), 2);
    finalize();
}

// A worker whose threads only yield to each other never looked at timers.
TEST(switch_fairness, sleeper_wakes_while_others_only_yield) {
    initialize({.workers = 1});
    std::atomic<bool> woken{false};
    auto one = spawn([&] { yield_until(woken); });
    auto two = spawn([&] { yield_until(woken); });
    this_thread::sleep_for(std::chrono::milliseconds(1));
    woken = true;
    one.join();
    two.join();
    finalize();
}

TEST(switch_fairness, thread_from_outside_runs_while_others_only_yield) {
    initialize({.workers = 1});
    std::atomic<bool> ran{false};
    auto one = spawn([&] { yield_until(ran); });
    auto two = spawn([&] { yield_until(ran); });
    std::thread outside([&] { spawn([&] { ran = true; }).join(); });
    one.join();
    two.join();
    outside.join();
    finalize();
}

// --- what travels with a thread ------------------------------------------------------------------

void rethrow_after_yields(int mine) {
    try {
        try {
            this_thread::yield();
            throw mine;
        } catch (int) {
            for (int k = 0; k < 5; ++k) this_thread::yield();
            throw;
        }
    } catch (int caught) {
        this_thread::yield();
        ASSERT_EQ(caught, mine);
        ASSERT_NE(std::current_exception(), nullptr);
    }
    ASSERT_EQ(std::current_exception(), nullptr);
}

TEST_P(switch_test, exceptions_are_rethrown_after_waits_inside_handlers) {
    std::vector<thread<void>> threads;
    for (int k = 0; k < 20; ++k) {
        threads.push_back(spawn([k] {
            for (int round = 0; round < 50; ++round) rethrow_after_yields(1000 * k + round);
        }));
    }
    rethrow_after_yields(-1);
    for (auto& t : threads) t.join();
}

struct yields_when_destroyed {
    int& in_flight;
    ~yields_when_destroyed() {
        for (int k = 0; k < 5; ++k) this_thread::yield();
        in_flight = std::uncaught_exceptions();
    }
};

TEST_P(switch_test, waits_while_unwinding_keep_the_count_of_exceptions) {
    std::vector<thread<void>> threads;
    for (int k = 0; k < 20; ++k) {
        threads.push_back(spawn([k] {
            for (int round = 0; round < 50; ++round) {
                int in_flight = -1;
                try {
                    yields_when_destroyed const guard{in_flight};
                    if (k % 2 == 0) throw std::runtime_error("unwinds");
                } catch (std::runtime_error const&) {}
                ASSERT_EQ(in_flight, k % 2 == 0 ? 1 : 0);
            }
        }));
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(std::uncaught_exceptions(), 0);
}

TEST_P(switch_test, rounding_mode_belongs_to_a_thread) {
    int const modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    std::vector<thread<void>> threads;
    for (int k = 0; k < 16; ++k) {
        threads.push_back(spawn([mode = modes[k % 4]] {
            ASSERT_EQ(std::fesetround(mode), 0);
            for (int round = 0; round < 200; ++round) {
                this_thread::yield();
                ASSERT_EQ(std::fegetround(), mode);
            }
            std::fesetround(FE_TONEAREST);
        }));
    }
    for (auto& t : threads) t.join();
    EXPECT_EQ(std::fegetround(), FE_TONEAREST);
}

#if defined(__SSE2__)
// Else each switch between a thread that has computed and another one that has not changes MXCSR.
TEST_P(switch_test, threads_begin_with_the_flag_of_inexact_results_and_main_has_it) {
    finalize();
    std::feclearexcept(FE_ALL_EXCEPT);
    initialize({.workers = GetParam()});
    EXPECT_NE(std::fetestexcept(FE_INEXACT), 0);
    one_shot begun;
    int flags = 0;
    auto begins_elsewhere = spawn([&] {
        flags = std::fetestexcept(FE_ALL_EXCEPT);
        begun.fire();
    });
    begun.wait();
    begins_elsewhere.join();
    EXPECT_EQ(flags, FE_INEXACT);
}
#endif

thread_local int t_number = 0;
[[gnu::noinline]] int& number_of_this_os_thread() {
    asm volatile("");
    return t_number;
}
[[gnu::noinline]] std::thread::id id_of_this_os_thread() {
    asm volatile("");
    return std::this_thread::get_id();
}

TEST_P(switch_test, thread_locals_are_those_of_the_os_thread) {
    std::vector<thread<void>> threads;
    for (int k = 0; k < 8; ++k) {
        threads.push_back(spawn([] {
            for (int round = 0; round < 500; ++round) {
                auto const here = id_of_this_os_thread();
                int const before = ++number_of_this_os_thread();
                ASSERT_EQ(number_of_this_os_thread(), before);
                ASSERT_EQ(id_of_this_os_thread(), here);
                this_thread::yield();
            }
        }));
    }
    for (auto& t : threads) t.join();
}

TEST_P(switch_test, thread_migrates_to_a_worker_that_is_free) {
    if (GetParam() < 2) GTEST_SKIP() << "nowhere to go";
    std::atomic<bool> moved{false};
    std::vector<thread<void>> threads;
    for (int k = 0; k < 4; ++k) {
        threads.push_back(spawn([&] {
            int const first = this_thread::worker_index();
            while (!moved) {
                this_thread::yield();
                if (this_thread::worker_index() != first) moved = true;
            }
        }));
    }
    for (auto& t : threads) t.join();
    EXPECT_TRUE(moved);
}

[[gnu::noinline]] int* errno_of_this_os_thread() {
    asm volatile("");
    return &errno;
}
[[gnu::noinline]] int error_of_a_failing_call() {
    asm volatile("");
    return ::close(-1) == 0 ? 0 : errno;
}

// errno is the OS thread's. A thread that has moved reads and writes that of its new worker, and
// nothing of the old one's.
TEST_P(switch_test, errno_is_that_of_the_worker_after_a_migration) {
    if (GetParam() < 2) GTEST_SKIP() << "nowhere to go";
    std::array<std::atomic<int*>, 4> of_worker{};
    std::atomic<int> moves{0};
    std::vector<thread<void>> threads;
    for (int k = 0; k < 6; ++k) {
        threads.push_back(spawn([&, k] {
            for (int last = this_thread::worker_index(); moves.load() < 200;) {
                int* const place = errno_of_this_os_thread();
                int const here = this_thread::worker_index();
                int* known = nullptr;
                auto& expected = of_worker[static_cast<std::size_t>(here)];
                static_cast<void>(expected.compare_exchange_strong(known, place));
                ASSERT_EQ(expected.load(), place);
                ASSERT_EQ(error_of_a_failing_call(), EBADF);
                *errno_of_this_os_thread() = 1000 + k;
                ASSERT_EQ(*place, 1000 + k);
                if (here != last) moves.fetch_add(1);
                last = here;
                if (k % 2 == 0)
                    this_thread::yield();
                else
                    this_thread::sleep_for(std::chrono::microseconds(20));
            }
        }));
    }
    for (auto& t : threads) t.join();
    std::set<int*> places;
    for (auto const& place : of_worker) {
        if (place == nullptr) continue;
        EXPECT_TRUE(places.insert(place).second) << "two workers share it";
    }
}

// The thread that yielded stayed in the queue of a worker that computes, although another slept.
TEST(switch_wake, thread_that_yields_to_main_goes_on_elsewhere_while_main_computes) {
    initialize({.workers = 2});
    for (int round = 0; round < 20; ++round) {
        std::atomic<bool> at_main{false}, done{false};
        attributes first;
        first.child_first = true;
        auto t = spawn(first, [&] {
            while (!at_main) this_thread::yield();
            done = true;
        });
        at_main = true;
        compute_until(done);
        t.join();
    }
    finalize();
}

} // namespace
