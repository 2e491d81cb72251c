// SPDX-License-Identifier: Apache-2.0
#include "emulated.hpp"
#include "sched/modes/deterministic.hpp"

#include "runtime/runtime.hpp"
#include "sched/scheduler.hpp"

#include <tulle.h>
#include <tulle/tulle.hpp>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <shared_mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace {

using namespace std::chrono_literals;
using tulle::sched::scheduler;

tulle::sched::deterministic_run& the_run() { return scheduler::instance().deterministic(); }

// The run time in this mode, or as usual with seed 0. Started from below, as finding out about the
// machine takes milliseconds.
class seeded {
public:
    explicit seeded(std::uint64_t seed, int workers = 4, bool adopts = true) {
        static tulle::sched::settings s_usual =
            *tulle::runtime::settings_of(tulle::runtime::the().options(), true);
        s_usual.seed = seed;
        s_usual.workers = s_usual.max_workers = workers;
        s_usual.adopt_caller = adopts;
        EXPECT_EQ(scheduler::instance().start(s_usual), 0);
    }
    ~seeded() { EXPECT_EQ(tulle::runtime::the().stop(), 0); }
    seeded(seeded const&) = delete;
    seeded& operator=(seeded const&) = delete;
};

struct observed {
    std::string order;
    std::uint64_t trace = 0;
    std::uint64_t steps = 0;

    friend auto operator<=>(observed const&, observed const&) = default;
};

template <class Program> observed observe(std::uint64_t seed, Program program) {
    observed result;
    seeded const run(seed);
    program(result.order);
    result.trace = the_run().trace();
    result.steps = the_run().steps();
    return result;
}

auto writer(std::string& order, char letter, int times) {
    return [&order, letter, times] {
        for (int k = 0; k < times; ++k) {
            order += letter;
            tulle::schedule_point();
        }
    };
}

void two_writers(std::string& order) {
    auto a = tulle::spawn(writer(order, 'a', 3));
    auto b = tulle::spawn(writer(order, 'b', 3));
    a.join();
    b.join();
}

void three_children(std::string& order) {
    auto a = tulle::fork(writer(order, 'a', 1));
    auto b = tulle::fork(writer(order, 'b', 1));
    auto c = tulle::fork(writer(order, 'c', 1));
    c.join();
    b.join();
    a.join();
}

// Uses a bit of everything.
void busy_program(std::string& order) {
    tulle::mutex lock;
    tulle::condition_variable changed;
    tulle::barrier meeting(3);
    tulle::latch done(3);
    int turns = 0;
    std::vector<tulle::thread<void>> threads;
    for (char letter = 'a'; letter < 'd'; ++letter) {
        threads.push_back(tulle::spawn([&, letter] {
            for (int k = 0; k < 4; ++k) {
                {
                    std::unique_lock held(lock);
                    order += letter;
                    ++turns;
                    changed.notify_all();
                    if (k == 2) changed.wait_for(held, 1ms, [&] { return turns >= 9; });
                }
                auto child = tulle::fork(
                    [&order, letter] { order += static_cast<char>(letter - 'a' + 'A'); });
                if (k == 1)
                    tulle::this_thread::sleep_for(std::chrono::microseconds(10 * (letter - 'a')));
                child.join();
                meeting.arrive_and_wait();
            }
            done.count_down();
        }));
    }
    done.wait();
    for (auto& t : threads) t.join();
}

TEST(deterministic, a_seed_always_gives_the_same_order) {
    for (std::uint64_t seed = 1; seed <= 30; ++seed) {
        observed const first = observe(seed, &busy_program);
        EXPECT_EQ(first.order.size(), 24U);
        EXPECT_GT(first.steps, 50U);
        EXPECT_EQ(observe(seed, &busy_program), first) << seed;
    }
}

TEST(deterministic, seeds_differ) {
    std::set<observed> seen;
    for (std::uint64_t seed = 1; seed <= 200; ++seed) seen.insert(observe(seed, &busy_program));
    EXPECT_GE(seen.size(), 150U); // of millions
}

TEST(deterministic, all_orders_of_a_small_program_are_found) {
    std::set<std::string> orders;
    std::map<std::uint64_t, std::string> by_trace;
    for (std::uint64_t seed = 1; seed <= 1000; ++seed) {
        observed const o = observe(seed, &two_writers);
        orders.insert(o.order);
        EXPECT_EQ(by_trace.emplace(o.trace, o.order).first->second, o.order)
            << "two orders with one trace";
    }
    EXPECT_EQ(orders.size(), 20U); // 6 over 3
    EXPECT_GE(by_trace.size(), 20U);
}

TEST(deterministic, forked_threads_start_in_any_order) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 1; seed <= 500; ++seed)
        orders.insert(observe(seed, &three_children).order);
    EXPECT_EQ(orders.size(), 6U);
}

TEST(deterministic, has_one_worker) {
    seeded const run(5, 4);
    EXPECT_EQ(tulle::worker_count(), 1);
    EXPECT_EQ(scheduler::instance().active().set_count(3), 0); // as wanted, but for the number
    EXPECT_EQ(scheduler::instance().active().set_count(0), EINVAL);
    EXPECT_EQ(tulle::worker_count(), 1);
    EXPECT_EQ(scheduler::instance().workers().size(), 1U);
}

// --- scheduling points ---------------------------------------------------------------------------

TEST(deterministic, every_call_is_a_scheduling_point) {
    seeded const run(3);
    tulle::mutex m;
    tulle::condition_variable condition;
    tulle::latch latch(100);
    tulle::latch open(0);
    tulle::barrier alone(1);
    tulle::signal signal(100);
    tulle::signal no_signal(0);
    int word = 0;
    tulle::full_empty<int> object(1);
    tulle::spawn_group group(100);
    tulle::promise<int> promise;
    tulle::future<int> future = promise.get_future();
    tulle::thread<void> ended = tulle::spawn([] {});
    std::map<std::string, std::function<void()>> const calls{
        {"fork and join", [] { tulle::fork([] {}).join(); }},
        {"parallel_for", [] { tulle::parallel_for(0, 2, [](int) {}); }},
        {"parallel_for, one iteration", [] { tulle::parallel_for(0, 1, [](int) {}); }},
        {"scope", [] { tulle::scope().spawn([] {}); }},
        {"spawn and join", [] { tulle::spawn([] {}).join(); }},
        {"spawn, placed", [] { tulle::spawn_detached({.shepherd = 0}, [] {}); }},
        {"try_join", [&] { static_cast<void>(ended.try_join()); }},
        {"join_for", [&] { static_cast<void>(ended.join_for(1s)); }},
        {"yield", [] { tulle::this_thread::yield(); }},
        {"sleep", [] { tulle::this_thread::sleep_for(0s); }},
        {"schedule_point", [] { tulle::schedule_point(); }},
        {"lock", [&] { m.lock(); }},
        {"try_lock that fails", [&] { static_cast<void>(m.try_lock()); }},
        {"unlock", [&] { m.unlock(); }},
        {"unlocked try_lock", [&] { static_cast<void>(m.try_lock()); }},
        {"zz unlock", [&] { m.unlock(); }},
        {"notify_one", [&] { condition.notify_one(); }},
        {"notify_all", [&] { condition.notify_all(); }},
        {"count_down", [&] { latch.count_down(); }},
        {"latch.try_wait", [&] { static_cast<void>(latch.try_wait()); }},
        {"latch.wait", [&] { open.wait(); }},
        {"latch.wait_for", [&] { static_cast<void>(latch.wait_for(1s)); }},
        {"barrier", [&] { alone.arrive_and_wait(); }},
        {"notify", [&] { signal.notify(); }},
        {"add_signalers", [&] { signal.add_signalers(1); }},
        {"signal.try_wait", [&] { static_cast<void>(signal.try_wait()); }},
        {"signal.wait", [&] { no_signal.wait(); }},
        {"read_ff", [&] { static_cast<void>(tulle::feb::read_ff(word)); }},
        {"read_xx", [&] { static_cast<void>(tulle::feb::read_xx(word)); }},
        {"is_full", [&] { static_cast<void>(tulle::feb::is_full(word)); }},
        {"write_f", [&] { tulle::feb::write_f(word, 1); }},
        {"purge and fill", [&] { tulle::feb::purge(word), tulle::feb::fill(word); }},
        {"empty and write_ef",
         [&] {
             tulle::feb::empty(word);
             tulle::feb::write_ef(word, 1);
         }},
        {"object.is_full", [&] { static_cast<void>(object.is_full()); }},
        {"object.read_ff", [&] { static_cast<void>(object.read_ff()); }},
        {"object.read_xx", [&] { static_cast<void>(object.read_xx()); }},
        {"object.try_write_ef", [&] { static_cast<void>(object.try_write_ef(3)); }},
        {"object.write_f", [&] { object.write_f(3); }},
        {"group.spawn", [&] { group.spawn([] {}); }},
        {"group.try_spawn", [&] { static_cast<void>(group.try_spawn([] {})); }},
        {"async and get", [] { tulle::async([] {}).get(); }},
        {"future.try_wait", [&] { static_cast<void>(future.try_wait()); }},
        {"set_value", [] { tulle::promise<void>().set_value(); }},
        {"then", [] { tulle::make_ready_future(1).then([](int) {}).get(); }},
        {"call_once", [] {
             tulle::once_flag flag;
             tulle::call_once(flag, [] {});
         }}};
    for (auto const& [name, call] : calls) { // in alphabetical order: lock, try_lock, unlock
        std::uint64_t const before = the_run().steps();
        call();
        EXPECT_GT(the_run().steps(), before) << name;
    }
    ended.join();
}

TEST(deterministic, every_call_on_locks_and_channels_is_a_scheduling_point) {
    seeded const run(3);
    tulle::counting_semaphore<> units(10);
    tulle::shared_mutex shared;
    tulle::spin_lock spin;
    tulle::phased_barrier phases(1);
    tulle::channel<int> channel(5);
    tulle::cancellation_source source;
    tulle::cancellation_token const token = source.get_token();
    std::vector<std::pair<std::string, std::function<void()>>> const calls{
        {"acquire", [&] { units.acquire(); }},
        {"try_acquire", [&] { static_cast<void>(units.try_acquire()); }},
        {"try_acquire_for", [&] { static_cast<void>(units.try_acquire_for(1s)); }},
        {"release", [&] { units.release(); }},
        {"lock", [&] { shared.lock(); }},
        {"unlock", [&] { shared.unlock(); }},
        {"lock_shared", [&] { shared.lock_shared(); }},
        {"try_lock_shared", [&] { static_cast<void>(shared.try_lock_shared()); }},
        {"unlock_shared", [&] { shared.unlock_shared(); }},
        {"spin lock", [&] { spin.lock(); }},
        {"spin try_lock", [&] { static_cast<void>(spin.try_lock()); }},
        {"arrive_and_wait", [&] { phases.arrive_and_wait(); }},
        {"send", [&] { channel.send(1); }},
        {"try_send", [&] { static_cast<void>(channel.try_send(2)); }},
        {"receive", [&] { static_cast<void>(channel.receive()); }},
        {"select",
         [&] {
             tulle::receive_case from(channel);
             static_cast<void>(tulle::select(from));
         }},
        {"close", [&] { channel.close(); }},
        {"stop_requested", [&] { static_cast<void>(token.stop_requested()); }},
        {"token.wait_for", [&] { static_cast<void>(token.wait_for(1ms)); }},
        {"request_stop_after", [&] { source.request_stop_after(1h); }},
        {"request_stop", [&] { source.request_stop(); }}};
    for (auto const& [name, call] : calls) {
        std::uint64_t const before = the_run().steps();
        call();
        EXPECT_GT(the_run().steps(), before) << name;
    }
}

// Everything that can wait in one program.
void program_of_channels(std::string& order) {
    tulle::channel<char> letters(1);
    tulle::channel<char> others(0);
    tulle::shared_mutex shared;
    tulle::counting_semaphore<> units(1);
    tulle::cancellable_scope scope;
    scope.request_stop_after(10ms);
    for (char letter = 'a'; letter < 'd'; ++letter) {
        scope.spawn([&, letter](tulle::cancellation_token const& token) {
            for (int k = 0; k < 3; ++k) {
                tulle::send_case here(letters, letter);
                tulle::send_case there(others, static_cast<char>(letter - 'a' + 'A'));
                static_cast<void>(tulle::select(here, there));
                std::shared_lock const held(shared);
                if (units.acquire(token)) units.release();
            }
        });
    }
    scope.spawn([&] {
        for (int k = 0; k < 9; ++k) {
            tulle::receive_case from_letters(letters);
            tulle::receive_case from_others(others);
            order += tulle::select(from_letters, from_others) == 0 ? *from_letters.item
                                                                   : *from_others.item;
            std::lock_guard const held(shared);
        }
    });
    scope.join();
}

TEST(deterministic, channels_and_locks_repeat_their_order) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        observed const first = observe(seed, &program_of_channels);
        EXPECT_EQ(first.order.size(), 9U);
        EXPECT_EQ(observe(seed, &program_of_channels), first) << seed;
        orders.insert(first.order);
    }
    EXPECT_GE(orders.size(), 20U);
}

TEST(deterministic, every_c_function_is_a_scheduling_point) {
    seeded const run(3);
    tulle_mutex_t m = TULLE_MUTEX_INIT;
    tulle_cond_t condition = TULLE_COND_INIT;
    tulle_latch_t latch = TULLE_LATCH_INIT(1);
    tulle_signal_t signal = TULLE_SIGNAL_INIT(1);
    std::uint64_t word = 0;
    auto const steps = [] { return the_run().steps(); };
    std::vector<std::pair<int, std::function<int()>>> const calls{
        {0, [] { return tulle_schedule_point(); }},
        {0, [] { return tulle_yield(); }},
        {0, [&] { return tulle_mutex_lock(&m); }},
        {-EBUSY, [&] { return tulle_mutex_destroy(&m); }},
        {-EBUSY, [&] { return tulle_mutex_trylock(&m); }},
        {0, [&] { return tulle_mutex_unlock(&m); }},
        {-EPERM, [&] { return tulle_mutex_unlock(&m); }},
        {0, [&] { return tulle_mutex_destroy(&m); }},
        {0, [&] { return tulle_mutex_timedlock(&m, 1); }},
        {-ETIMEDOUT, [&] { return tulle_cond_timedwait(&condition, &m, 1000); }},
        {0, [&] { return tulle_cond_signal(&condition); }},
        {-EBUSY, [&] { return tulle_latch_trywait(&latch); }},
        {-EBUSY, [&] { return tulle_feb_try_write_ef(&word, &word, 8); }},
        {0, [&] { return tulle_feb_read_xx(nullptr, &word, 8); }},
        {1, [&] { return tulle_feb_is_full(&word); }},
        {-EBUSY, [&] { return tulle_signal_trywait(&signal); }},
        {0, [] {
             return tulle_loop_for(
                 0, 3, 1, [](int64_t, void*) {}, nullptr, nullptr);
         }}};
    for (std::size_t k = 0; k < calls.size(); ++k) {
        std::uint64_t const before = steps();
        EXPECT_EQ(calls[k].second(), calls[k].first) << k;
        // destroys, and the unlock that is refused
        bool const only_looks = k == 3 || k == 6 || k == 7;
        EXPECT_EQ(steps() > before, !only_looks) << k;
    }
}

TEST(deterministic, a_mutex_excludes_whatever_the_seed) {
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        tulle::mutex lock;
        int value = 0;
        {
            seeded const run(seed);
            std::vector<tulle::thread<void>> threads;
            for (int k = 0; k < 4; ++k) {
                threads.push_back(tulle::spawn([&] {
                    for (int i = 0; i < 5; ++i) {
                        std::unique_lock held(lock, std::defer_lock);
                        if (i == 3)
                            while (!held.try_lock()) {}
                        else
                            held.lock();
                        int const seen = value;
                        tulle::schedule_point();
                        value = seen + 1;
                    }
                }));
            }
            for (auto& t : threads) t.join();
            EXPECT_TRUE(lock.try_lock());
            lock.unlock();
        }
        ASSERT_EQ(value, 20) << seed;
    }
}

TEST(deterministic, an_unprotected_counter_loses_counts) {
    int lossy = 0;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        int value = 0;
        seeded const run(seed);
        auto const add = [&value] {
            int const seen = value;
            tulle::schedule_point();
            value = seen + 1;
        };
        auto other = tulle::spawn(add);
        add();
        other.join();
        lossy += value != 2;
    }
    EXPECT_GT(lossy, 10);
    EXPECT_LT(lossy, 90);
}

// --- virtual time --------------------------------------------------------------------------------

TEST(deterministic, sleepers_wake_in_the_order_of_their_times) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
        observed const o = observe(seed, [](std::string& order) {
            std::vector<tulle::thread<void>> threads;
            for (char letter : {'c', 'a', 'b'}) {
                threads.push_back(tulle::spawn([&order, letter] {
                    tulle::this_thread::sleep_for(std::chrono::hours(letter - 'a' + 1));
                    order += letter;
                }));
            }
            for (auto& t : threads) t.join();
        });
        EXPECT_EQ(o.order, "abc");
    }
}

TEST(deterministic, time_outs_pass_at_once_when_nothing_else_happens) {
    seeded const run(7);
    std::uint64_t const before = the_run().now();
    tulle::latch latch(1);
    tulle::signal signal(1);
    tulle::barrier barrier(2);
    tulle::mutex lock;
    tulle::condition_variable condition;
    EXPECT_FALSE(latch.wait_for(1h));
    EXPECT_FALSE(signal.wait_for(1h));
    EXPECT_FALSE(barrier.arrive_and_wait_for(1h));
    {
        std::unique_lock held(lock);
        EXPECT_EQ(condition.wait_for(held, 1h), std::cv_status::timeout);
        EXPECT_FALSE(tulle::spawn([&lock] { return lock.try_lock_for(1h); }).join());
        EXPECT_FALSE(latch.wait_until(std::chrono::system_clock::now() + 1h));
    }
    tulle::spawn([] {
        tulle::this_thread::sleep_until(std::chrono::steady_clock::now() + 1h);
    }).join();
    latch.count_down();
    EXPECT_GE(the_run().now() - before, std::uint64_t{7} * 3599 * 1'000'000'000);
}

TEST(deterministic, a_loop_that_yields_lets_time_pass) {
    seeded const run(9);
    std::atomic<bool> flag{false};
    auto sleeper = tulle::spawn([&flag] {
        tulle::this_thread::sleep_for(1ms);
        flag.store(true, std::memory_order_relaxed); // relaxed: one OS thread
    });
    while (!flag.load(std::memory_order_relaxed)) tulle::this_thread::yield();
    while (!sleeper.try_join()) {} // a scheduling point, too
    sleeper.join();
}

// --- life ----------------------------------------------------------------------------------------

long fib(int n) {
    if (n < 2) return n;
    auto left = tulle::fork([n] { return fib(n - 1); });
    long const right = fib(n - 2);
    return left.join() + right;
}

TEST(deterministic, trees_of_forks_come_out_right) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        seeded const run(seed);
        EXPECT_EQ(fib(12), 144);
    }
}

// The clock, which chooses chunks otherwise, has no say.
void loop_program(std::string& order) {
    tulle::parallel_for(0, 12, [&order](int i) {
        order += static_cast<char>('a' + i);
        tulle::this_thread::yield();
    });
}
TEST(deterministic, a_loop_runs_each_iteration_once_in_an_order_that_the_seed_decides) {
    std::set<std::string> orders;
    for (std::uint64_t seed = 1; seed <= 100; ++seed) {
        observed const first = observe(seed, &loop_program);
        EXPECT_EQ(observe(seed, &loop_program), first) << seed;
        orders.insert(first.order);
        std::string sorted = first.order;
        std::sort(sorted.begin(), sorted.end());
        EXPECT_EQ(sorted, "abcdefghijkl");
    }
    EXPECT_GE(orders.size(), 50U);
}

TEST(deterministic, exceptions_arrive_at_the_join) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        seeded const run(seed);
        auto const fail = [] {
            tulle::schedule_point();
            throw std::runtime_error("expected");
        };
        EXPECT_THROW(tulle::spawn(fail).join(), std::runtime_error);
        auto child = tulle::fork(fail);
        auto other = tulle::fork([] { tulle::schedule_point(); });
        other.join();
        EXPECT_THROW(child.join(), std::runtime_error);
    }
}

TEST(deterministic, children_first_stacks_and_detached_threads) {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        seeded const run(seed);
        tulle::latch ended(4);
        tulle::spawn_detached([&] { ended.count_down(); });
        tulle::spawn_detached({.stack_size = 65536}, [&] { ended.count_down(); });
        tulle::spawn_detached({.child_first = true}, [&] { ended.count_down(); });
        tulle::spawn_detached({.shepherd = 0}, [&] { ended.count_down(); });
        ended.wait();
    }
}

TEST(deterministic, the_usual_mode_comes_back) {
    tulle::mutex lock;
    for (std::uint64_t const seed : {0U, 4U, 0U, 5U, 0U}) {
        seeded const run(seed, 2);
        EXPECT_EQ(tulle::worker_count(), seed == 0 ? 2 : 1);
        tulle::fork([&] { std::lock_guard const held(lock); }).join();
        EXPECT_EQ(tulle::sched::this_fiber().records->is_asymmetric(),
                  seed == 0 && tulle::os::membarrier_available());
        EXPECT_EQ(tulle::sched::this_run() != nullptr, seed != 0);
        auto thread = tulle::spawn([&] {
            std::lock_guard const held(lock);
            return fib(10);
        });
        EXPECT_EQ(thread.join(), 55);
    }
    EXPECT_EQ(tulle::sched::this_run(), nullptr);
}

TEST(deterministic, finalize_refuses_while_a_thread_waits) {
    tulle::set_option("seed", "6");
    tulle::initialize();
    tulle::latch latch(1);
    tulle::spawn_detached([&latch] { latch.wait(); });
    EXPECT_THROW(tulle::finalize(), std::system_error);
    latch.count_down();
    tulle::finalize();
    tulle::set_option("seed", "off");
}

TEST(deterministic, a_foreign_thread_may_take_part_and_is_reported_once) {
    ::testing::internal::CaptureStderr();
    {
        seeded const run(8);
        tulle::latch latch(2);
        auto const help = [&latch] { tulle::spawn([&latch] { latch.count_down(); }).join(); };
        std::thread one(help);
        std::thread two(help);
        latch.wait(); // no deadlock: they are there
        one.join();
        two.join();
    }
    std::string const said = ::testing::internal::GetCapturedStderr();
    std::string const warning =
        "tulle: warning: TULLE_SEED=8: an OS thread of the program's own uses the library";
    std::size_t const place = said.find(warning);
    EXPECT_NE(place, std::string::npos) << said;
    EXPECT_EQ(said.find(warning, place + 1), std::string::npos) << said;
}

// Whoever looks for a deadlock must not take the end of the OS thread for the end of all hope: it
// has made work before.
TEST(deterministic, a_foreign_thread_that_wakes_one_and_ends_leaves_no_deadlock) {
    ::testing::internal::CaptureStderr(); // the warning of such a run
    seeded const run(8);
    for (int k = 0; k < 2000; ++k) {
        tulle::latch latch(1);
        std::thread other([&latch] { latch.count_down(); });
        latch.wait();
        other.join();
    }
    static_cast<void>(::testing::internal::GetCapturedStderr());
}

// Such a run repeats nothing, but it works.
TEST(deterministic, may_be_started_by_an_os_thread_that_is_no_worker) {
    ::testing::internal::CaptureStderr();
    {
        seeded const run(8, 1, false);
        tulle::latch latch(1);
        auto thread = tulle::spawn([&latch] {
            latch.wait();
            tulle::this_thread::sleep_for(1h);
            return fib(8);
        });
        latch.count_down();
        EXPECT_EQ(thread.join(), 21);
    }
    EXPECT_NE(::testing::internal::GetCapturedStderr().find(
                  "an OS thread of the program's own uses the library"),
              std::string::npos);
}

TEST(deterministic, a_caller_that_has_used_the_library_before_starts_the_same_run) {
    observed const before = observe(9, &two_writers);
    {
        seeded const run(8, 1, false);
        ::testing::internal::CaptureStderr();
        tulle::spawn([] {}).join(); // the caller is a guest, and keeps its identity
        static_cast<void>(::testing::internal::GetCapturedStderr());
    }
    EXPECT_EQ(observe(9, &two_writers), before);
}

using deterministic_death = ::testing::Test;

TEST(deterministic_death, a_deadlock_ends_the_run) {
    TULLE_SKIP_IF_EMULATED("its own threads count as the program's, and could end the wait");
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    auto const wait_for_ever = [] {
        tulle::set_option("seed", "11");
        tulle::initialize();
        tulle::latch never(1);
        auto thread = tulle::spawn([&never] { never.wait(); });
        thread.join();
    };
    EXPECT_DEATH(wait_for_ever(),
                 "tulle: deadlock: 2 threads wait, .*; TULLE_SEED=11 repeats this run");
}

TEST(deterministic_death, a_deadlock_ends_the_run_without_a_report) {
    TULLE_SKIP_IF_EMULATED("its own threads count as the program's, and could end the wait");
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    auto const wait_for_ever = [] {
        tulle::set_option("seed", "11");
        tulle::set_option("deadlock", "off");
        tulle::initialize();
        tulle::latch(1).wait();
    };
    EXPECT_DEATH(
        wait_for_ever(),
        "tulle: deadlock: every thread waits, none for a time, .*; TULLE_SEED=11 repeats this run");
}

TEST(deterministic_death, two_mutexes_in_two_orders) {
    TULLE_SKIP_IF_EMULATED("its own threads count as the program's, and could end the wait");
    ::testing::FLAGS_gtest_death_test_style = "threadsafe";
    auto const cross = [] {
        for (std::uint64_t seed = 1; seed <= 200; ++seed) {
            seeded const run(seed);
            tulle::mutex a;
            tulle::mutex b;
            auto one = tulle::spawn([&] { std::lock_guard const first(a), second(b); });
            auto two = tulle::spawn([&] { std::lock_guard const first(b), second(a); });
            one.join();
            two.join();
        }
    };
    EXPECT_DEATH(cross(), "tulle: deadlock: ");
}

} // namespace
